import { checkInteger, checkOptions, signalIn } from '../engine/arguments.js';
import { ownCode } from '../engine/internals.js';
import { runInSlices, runSteps } from '../engine/scheduling/time-slice.js';
import type { View } from '../engine/view.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import { Batches } from './batches.js';
import { encodeSteps, SnapshotEncoder } from './encode.js';
import { SnapshotCursor } from './snapshot-cursor.js';

/**
 * The entire state of a filesystem as bytes: names, contents, modes, owners, times, links. It shows one point in time,
 * whatever is written meanwhile, and the same state gives the same bytes on every storage. Checkpoints, limits and open
 * handles are not in it. Holes of sparse files are in it as zeros. Over a far storage, which does not tell what is a hole,
 * contents are loaded whole.
 *
 * @throws FsError EFBIG for more holes than `maxHoles`, before any room is taken for them, and where the platform has no
 *   array as large; ENAMETOOLONG where the state has a path longer or deeper than can be given to a filesystem (a renamed
 *   directory can bring that about)
 * @throws RangeError for a `maxHoles` that is no integer of 0 or more
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
      : encodeSteps(await ownCode(fileSystem).collect((view) => new SnapshotCursor(view, maxHoles), call));
  return runInSlices(steps, signalIn(options));
}

/** How a snapshot is made. */
export interface SnapshotOptions {
  /** Bytes of holes in sparse files, which take room in a snapshot as they do not in memory. Default 64 MiB. */
  readonly maxHoles?: number | undefined;
}

const DEFAULT_MAX_HOLE_BYTES = 64 * 2 ** 20;

function holesOf(options: (SnapshotOptions & CallOptions) | undefined): number {
  const { maxHoles } = checkOptions(options, ['maxHoles'], 'createSnapshot');
  return maxHoles === undefined ? DEFAULT_MAX_HOLE_BYTES : checkInteger(maxHoles, 'maxHoles');
}

/** In memory a walk shows one point in time, and entries need not be kept. */
async function encoderOf(fileSystem: FileSystem, maxHoles: number, call: CallOptions): Promise<SnapshotEncoder> {
  const encoder = new SnapshotEncoder();
  const start = (view: View) => new Batches(new SnapshotCursor(view, maxHoles));
  for await (const entries of ownCode(fileSystem).iterate(start, call)) {
    for (const entry of entries) encoder.add(entry);
  }
  return encoder;
}

/** {@link createSnapshot} in one go, where the storage is synchronous. */
export function createSnapshotSync(fileSystem: SyncFileSystem, options?: SnapshotOptions): Uint8Array<ArrayBuffer> {
  const maxHoles = holesOf(options);
  const encoder = new SnapshotEncoder();
  const start = (view: View) => new Batches(new SnapshotCursor(view, maxHoles));
  for (const entries of ownCode(fileSystem).iterateSync(start)) for (const entry of entries) encoder.add(entry);
  return runSteps(encoder.finish());
}
