import { readFile } from 'node:fs/promises';
import { createFileSystem, type FileSystemStats } from 'scratchfs';
import { createSnapshotSync, restoreSnapshotSync } from 'scratchfs/snapshot';
import { fingerprint, hash } from './fingerprint.js';

/** The JSON that this program prints, as the other process. */
export interface Restored {
  readonly fingerprint: string;
  readonly stats: FileSystemStats;
  readonly snapshotHash: string;
  readonly restoreMs: number;
}

const snapshot = await readFile(process.argv[2] as string);
const fs = createFileSystem();
const started = performance.now();
restoreSnapshotSync(fs, snapshot);
const restoreMs = performance.now() - started;
const restored: Restored = {
  fingerprint: fingerprint(fs),
  stats: fs.statsSync(),
  snapshotHash: hash(createSnapshotSync(fs)),
  restoreMs,
};
console.log(JSON.stringify(restored));
