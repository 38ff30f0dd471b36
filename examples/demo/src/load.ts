import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SyncFileSystem } from 'scratchfs';
import type { SourceFile, SourceTree } from './source-tree.js';

const AT_ONCE = 32;

type Loaded = readonly [file: SourceFile, content: Uint8Array | string];

/** Puts a source tree into a filesystem and answers a hash of what the disk said, in the order of the files. */
export async function load(
  tree: SourceTree,
  fs: SyncFileSystem,
  onProgress: (done: number) => void,
): Promise<{ hash: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for (let at = 0; at < tree.files.length; at += AT_ONCE) {
    const part = tree.files.slice(at, at + AT_ONCE);
    for (const [file, content] of await Promise.all(part.map((each) => read(tree.folder, each)))) {
      const path = `/${file.path}`;
      fs.mkdirSync(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
      if (typeof content === 'string') fs.symlinkSync(content, path);
      else fs.writeFileSync(path, content, { mode: file.mode });
      addTo(hash, file, content);
      size += typeof content === 'string' ? Buffer.byteLength(content) : content.length;
    }
    onProgress(Math.min(at + AT_ONCE, tree.files.length));
  }
  return { hash: hash.digest('hex'), size };
}

/** The same hash, of what the filesystem says. */
export function hashOf(tree: SourceTree, fs: SyncFileSystem): string {
  const hash = createHash('sha256');
  for (const file of tree.files) {
    const path = `/${file.path}`;
    const { mode } = fs.lstatSync(path);
    const content = file.kind === 'symlink' ? fs.readlinkSync(path) : fs.readFileSync(path);
    addTo(hash, { ...file, mode: mode & 0o777 }, content);
  }
  return hash.digest('hex');
}

async function read(folder: string, file: SourceFile): Promise<Loaded> {
  const path = join(folder, file.path);
  return [file, file.kind === 'symlink' ? await readlink(path) : await readFile(path)];
}

function addTo(hash: ReturnType<typeof createHash>, file: SourceFile, content: Uint8Array | string): void {
  const length = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
  hash.update(JSON.stringify([file.path, file.kind, file.kind === 'file' ? file.mode : 0, length]));
  hash.update(content);
}
