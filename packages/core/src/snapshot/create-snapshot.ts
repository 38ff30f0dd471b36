import { checkOptions } from '../engine/arguments.js';
import { ownCode } from '../engine/internals.js';
import { runInSlices, runSteps } from '../engine/steps.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import { Batches } from './batches.js';
import { encodeSteps, SnapshotEncoder } from './encode.js';
import { SnapshotCursor } from './snapshot-cursor.js';

/**
 * The entire state of a filesystem as bytes: names, contents, modes, owners, times, links. It shows one point in time,
 * whatever is written meanwhile, and the same state gives the same bytes on every storage. Checkpoints, limits and open
 * handles are not in it. Holes of sparse files are written out as zeros.
 *
 * @throws FsError EFBIG where the platform has no array as large; ENAMETOOLONG where the state has a path longer or
 *   deeper than can be given to a filesystem (a renamed directory can bring that about)
 */
export async function createSnapshot(fileSystem: FileSystem, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
  checkOptions(options, [], 'createSnapshot');
  const steps =
    fileSystem.kind === 'sync'
      ? (await encoderOf(fileSystem, options)).finish()
      : encodeSteps(await ownCode(fileSystem).collect((view) => new SnapshotCursor(view), options));
  return runInSlices(steps, options?.signal);
}

/** In memory a walk shows one point in time, and entries need not be kept. */
async function encoderOf(fileSystem: FileSystem, options: CallOptions | undefined): Promise<SnapshotEncoder> {
  const encoder = new SnapshotEncoder();
  for await (const entries of ownCode(fileSystem).iterate((view) => new Batches(new SnapshotCursor(view)), options)) {
    for (const entry of entries) encoder.add(entry);
  }
  return encoder;
}

/** {@link createSnapshot} in one go, where the storage is synchronous. */
export function createSnapshotSync(fileSystem: SyncFileSystem): Uint8Array<ArrayBuffer> {
  const encoder = new SnapshotEncoder();
  for (const entry of ownCode(fileSystem).iterateSync((view) => new SnapshotCursor(view))) encoder.add(entry);
  return runSteps(encoder.finish());
}
