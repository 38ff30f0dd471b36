import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isStorageError, type SyncFileSystem } from 'scratchfs';
import { createSnapshot, restoreSnapshot } from 'scratchfs/snapshot';
import { bytes, count } from '../figures.js';
import { fingerprint, hash } from '../fingerprint.js';
import { type Report, timed } from '../report.js';
import type { Restored } from '../restore.js';

/** Node arguments that run the sources directly. */
const ARGUMENTS = [
  '--conditions=@scratchfs/source',
  '--import',
  pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
];
const RESTORE = fileURLToPath(new URL('../restore.ts', import.meta.url));

/** Saves everything as bytes in a file, and restores it in another process. */
export async function save(fs: SyncFileSystem, report: Report): Promise<void> {
  report.section(
    'A snapshot for another process',
    'Everything as bytes in one file; a second Node process makes it a filesystem again.',
  );
  const folder = await mkdtemp(join(tmpdir(), 'scratchfs-demo-'));
  try {
    const file = join(folder, 'state.snapshot');
    const [snapshot, ms] = await timed(() => createSnapshot(fs));
    await writeFile(file, snapshot);
    report.action('snapshot', 'state.snapshot', bytes(snapshot.length), ms);
    const again = await createSnapshot(fs);

    const child = promisify(execFile)(process.execPath, [...ARGUMENTS, RESTORE, file]);
    const [{ stdout }, totalMs] = await timed(() => child);
    const restored = JSON.parse(stdout) as Restored;
    report.action(
      'restore',
      'another Node process',
      count(restored.stats.nodeCount, 'entry', 'entries'),
      restored.restoreMs,
    );
    const mine = fingerprint(fs);
    report.remark(`here   ${mine}`);
    report.remark(`there  ${restored.fingerprint}`);
    report.claim(
      'the other process has the same names, contents, modes, times and links',
      restored.fingerprint === mine && JSON.stringify(restored.stats) === JSON.stringify(fs.statsSync()),
    );
    report.claim(
      'the same state gives the same bytes: here again, and in the other process',
      Buffer.compare(snapshot, again) === 0 && restored.snapshotHash === hash(snapshot),
    );

    const damaged = snapshot.slice();
    const middle = damaged.length >> 1;
    damaged[middle] = (damaged[middle] as number) ^ 1;
    const refusal = await restoreSnapshot(fs, damaged).catch((error: unknown) => error);
    report.claim(
      'with one bit flipped it is refused, and nothing changes',
      isStorageError(refusal, 'corrupt') && fingerprint(fs) === mine,
    );
    report.summarize('Snapshot', bytes(snapshot.length), ms);
    report.summarize('Restore', 'in another process', restored.restoreMs);
    report.summarize('Other process', 'start, restore, hash, end', totalMs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
