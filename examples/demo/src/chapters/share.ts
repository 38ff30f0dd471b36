import { createFileSystem, type FileSystem, type SyncFileSystem } from 'scratchfs';
import { createSnapshot, restoreSnapshot } from 'scratchfs/snapshot';
import { bytes, count } from '../figures.js';
import { hash } from '../fingerprint.js';
import { type Report, timed } from '../report.js';

/** Puts the same state into a shared storage, with two clients that have their own connections. */
export async function share(fs: SyncFileSystem, url: string, report: Report): Promise<void> {
  report.section(
    'A storage that processes share',
    'Everything moves to where --storage says; a second client, with its own connection, works on the same.',
  );
  const ours = await createFileSystem({ storage: url });
  const theirs = await createFileSystem({ storage: url });
  try {
    if ((await ours.stats()).nodeCount > 0)
      throw new Error('What --storage names is not empty. Nothing was changed there: choose another namespace');
    try {
      await work(fs, ours, theirs, report);
    } finally {
      for (const { id } of await ours.checkpoints()) await ours.drop(id);
      for (const name of await ours.readdir('/')) await ours.rm(`/${name}`, { recursive: true });
    }
  } finally {
    await theirs.close();
    await ours.close();
  }
}

async function work(fs: SyncFileSystem, ours: FileSystem, theirs: FileSystem, report: Report): Promise<void> {
  const snapshot = await createSnapshot(fs);
  const [, ms] = await timed(() => restoreSnapshot(ours, snapshot));
  const { nodeCount } = await ours.stats();
  report.action('restore', 'into the shared storage', count(nodeCount, 'entry', 'entries'), ms);
  const isSame = async (client: FileSystem): Promise<boolean> => hash(await createSnapshot(client)) === hash(snapshot);
  report.claim('the second client has the same names, contents, modes, times and links', await isSame(theirs));

  const before = await ours.checkpoint('before the other one');
  const names = await theirs.readdir('/');
  const [, removed] = await timed(async () => {
    for (const name of names) await theirs.rm(`/${name}`, { recursive: true });
  });
  report.action('rm -r', 'everything, by the second client', count(names.length, 'name'), removed);
  report.claim('the first client sees it gone', (await ours.readdir('/')).length === 0);
  const [, back] = await timed(() => ours.rollback(before));
  report.action('rollback', 'by the first client', bytes((await ours.stats()).totalSize), back);
  report.claim('and both have everything back, to the byte', (await isSame(ours)) && (await isSame(theirs)));
  report.summarize('Shared storage', count(nodeCount, 'entry', 'entries'), ms);
}
