import { type Checkpoint, createFileSystem } from 'scratchfs';
import { createSnapshot, restoreSnapshot } from 'scratchfs/snapshot';

const fs = createFileSystem({ limits: { maxTotalSize: 1_000_000, maxCheckpoints: 1 } });
let last: Checkpoint | undefined;

function element<T extends HTMLElement = HTMLButtonElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Runs an action, reports its result, and shows the filesystem's contents. */
async function act(work: () => Promise<string>): Promise<void> {
  const message = element('message');
  try {
    message.textContent = await work();
  } catch (error) {
    message.textContent = String(error);
  }
  const lines: string[] = [];
  for await (const { path, isDirectory, size } of fs.walk())
    lines.push(isDirectory ? `${path}/` : `${path}  ${size} bytes`);
  const { totalSize, fileCount } = await fs.stats();
  element('files').textContent = [...lines, '', `${fileCount} files, ${totalSize} bytes`].join('\n');
}

element('editor').addEventListener('submit', (event) => {
  event.preventDefault();
  const path = element<HTMLInputElement>('path').value;
  void act(async () => {
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (parent !== '') await fs.mkdir(parent, { recursive: true });
    await fs.writeFile(path, element<HTMLTextAreaElement>('text').value);
    return `Wrote ${await fs.realpath(path)}`;
  });
});

element('checkpoint').addEventListener('click', () => {
  void act(async () => {
    if (last !== undefined) await fs.drop(last);
    last = await fs.checkpoint();
    element('rollback').disabled = false;
    return 'Remembered';
  });
});

element('rollback').addEventListener('click', () => {
  void act(async () => {
    if (last !== undefined) await fs.rollback(last);
    return 'As it was';
  });
});

element('save').addEventListener('click', () => {
  void act(async () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([await createSnapshot(fs)]));
    link.download = 'files.snapshot';
    link.click();
    URL.revokeObjectURL(link.href);
    return 'Saved';
  });
});

element<HTMLInputElement>('open').addEventListener('change', (event) => {
  const file = (event.target as HTMLInputElement).files?.[0];
  void act(async () => {
    if (file !== undefined) await restoreSnapshot(fs, new Uint8Array(await file.arrayBuffer()));
    return 'Opened';
  });
});

void act(() => Promise.resolve('Ready'));
