import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyChanges, loadDirectory } from '@scratchfs/host';
import type { SyncFileSystem } from 'scratchfs';
import { diff } from 'scratchfs/diff';
import { bytes, count } from '../figures.js';
import { type Report, timed } from '../report.js';
import type { Attempt } from './attempts.js';

/** Loads a plain folder into memory, and writes the agent's changes back into it. */
export async function folder(origin: SyncFileSystem, { fs, changed }: Attempt, report: Report): Promise<void> {
  report.section('Back to a folder', 'A folder that is no repository gets the sources, without the agent’s own plan.');
  const place = await mkdtemp(join(tmpdir(), 'scratchfs-demo-'));
  try {
    for (const path of changed) {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), origin.readFileSync(path));
      chmodSync(join(place, path), origin.statSync(path).mode & 0o777);
    }
    const holds = (path: string, content: Uint8Array) => readFileSync(join(place, path)).equals(content);

    const [loaded, loadMs] = await timed(() => loadDirectory(place));
    report.action('load', count(loaded.files, 'file'), bytes(loaded.bytes), loadMs);
    const copy = loaded.fileSystem;
    const start = copy.checkpointSync();
    for (const path of changed) copy.writeFileSync(path, fs.readFileSync(path));
    const changes = await diff(copy, start, undefined, { contents: true });

    const edited = changed[0] as string;
    const edit = Buffer.concat([origin.readFileSync(edited), Buffer.from('// The user goes on.\n')]);
    writeFileSync(join(place, edited), edit);
    const [refused, refusedMs] = await timed(() => applyChanges(changes, place));
    report.action('apply', 'while the user edits a file', refused.success ? 'done' : 'conflict', refusedMs);
    report.claim(
      'the edited file is a conflict, and nothing is written',
      !refused.success &&
        refused.conflicts.map(({ path }) => path).join() === edited &&
        changed.every((path) => holds(path, path === edited ? edit : origin.readFileSync(path))),
    );

    writeFileSync(join(place, edited), origin.readFileSync(edited));
    const [done, applyMs] = await timed(() => applyChanges(changes, place));
    report.action('apply', count(done.applied.length, 'file'), 'all or nothing', applyMs);
    report.claim(
      'the folder holds what the agent wrote, byte for byte',
      done.success && changed.every((path) => holds(path, fs.readFileSync(path))),
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
