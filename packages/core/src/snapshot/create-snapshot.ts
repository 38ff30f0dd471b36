import { checkInteger, checkOptions, signalIn } from '../engine/arguments.js';
import { trustedApi, trustedSyncApi } from '../engine/internals.js';
import { runInSlices, runSteps } from '../engine/scheduling/time-slice.js';
import type { View } from '../engine/view.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import { Batches } from './batches.js';
import { encodeSteps, SnapshotEncoder } from './encode.js';
import { SnapshotCursor } from './snapshot-cursor.js';

/**
 * Returns the entire state of a filesystem as bytes: names, contents, modes, owners, times, links. It shows one point
 * in time regardless of concurrent writes; over a `mount` or a directory of the host it is as consistent as `walk`.
 * Equal states give equal bytes on every storage. Checkpoints, limits and open handles are not included, nor, under
 * guards, what may not be read. Holes of sparse files are stored as zeros. A remote storage does not report holes, so
 * contents are loaded whole.
 *
 * @throws FsError EFBIG for more bytes of holes than `maxHoles`, before space is allocated for them, and if the
 *   platform has no array of that size; ENAMETOOLONG if a path is longer or deeper than a filesystem accepts (renaming
 *   a directory can cause that)
 * @throws TypeError for unknown options and if `maxHoles` is not a number; RangeError if it is not an integer ≥ 0
 */
export async function createSnapshot(
  fileSystem: FileSystem,
  options?: SnapshotOptions & CallOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const maxHoles = holesOf(options);
  const call = { signal: signalIn(options) };
  const steps =
    fileSystem.kind === 'sync'
      ? (await encoderOf(fileSystem, maxHoles, call)).finish()
      : encodeSteps(await trustedApi(fileSystem).collect((view) => new SnapshotCursor(view, maxHoles), call));
  return runInSlices(steps, signalIn(options));
}

/** Options of a snapshot. */
export interface SnapshotOptions {
  /** Limit of bytes of holes in sparse files, which take space in a snapshot but not in memory. Default 64 MiB. */
  readonly maxHoles?: number | undefined;
}

const DEFAULT_MAX_HOLE_BYTES = 64 * 2 ** 20;

function holesOf(options: (SnapshotOptions & CallOptions) | undefined): number {
  const { maxHoles } = checkOptions(options, ['maxHoles'], 'createSnapshot');
  return maxHoles === undefined ? DEFAULT_MAX_HOLE_BYTES : checkInteger(maxHoles, 'maxHoles');
}

/** Adds the entries during the walk. In memory a walk shows one point in time, so they need not be collected first. */
async function encoderOf(fileSystem: FileSystem, maxHoles: number, call: CallOptions): Promise<SnapshotEncoder> {
  const encoder = new SnapshotEncoder();
  const start = (view: View) => new Batches(new SnapshotCursor(view, maxHoles));
  for await (const entries of trustedApi(fileSystem).iterate(start, call)) {
    for (const entry of entries) encoder.add(entry);
  }
  return encoder;
}

/** Like {@link createSnapshot}, without pauses, for synchronous storages. */
export function createSnapshotSync(fileSystem: SyncFileSystem, options?: SnapshotOptions): Uint8Array<ArrayBuffer> {
  const maxHoles = holesOf(options);
  const encoder = new SnapshotEncoder();
  const start = (view: View) => new Batches(new SnapshotCursor(view, maxHoles));
  for (const entries of trustedSyncApi(fileSystem, 'createSnapshotSync').iterateSync(start))
    for (const entry of entries) encoder.add(entry);
  return runSteps(encoder.finish());
}
