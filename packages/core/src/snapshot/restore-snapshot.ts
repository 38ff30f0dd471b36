import { checkBoolean, checkOptions, copyBytes, describe } from '../engine/arguments.js';
import { trustedApi, trustedSyncApi } from '../engine/internals.js';
import { learnLimits } from '../engine/learn-limits.js';
import { stats } from '../engine/operations/read.js';
import { nextTurn, runInSlices, runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import { limitError } from '../engine/view/limit-error.js';
import { View } from '../engine/view.js';
import { FsError } from '../errors.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import type { Limits } from '../limits.js';
import { Tree } from '../tree/tree.js';
import { decodeSteps, type Snapshot } from './decode.js';
import { copySteps } from './own-bytes.js';
import { type BuilderOptions, TreeBuilder } from './tree-builder.js';

export interface RestoreOptions extends CallOptions {
  /**
   * Let the files be views of the snapshot's bytes instead of copies: nothing is copied, the bytes are kept as long as
   * any of the files, and they must not be changed any more. Under guards the files are copies even so. Default false.
   */
  readonly adopt?: boolean | undefined;
}

/**
 * Restores a filesystem to exactly the state of a snapshot: entries that are not in it are removed; modes, owners,
 * times and links come back. The whole snapshot is checked first, then everything changes in one step, for all readers.
 * On failure nothing changes. Open handles become EBADF. Checkpoints stay. Under guards, entries that may not be read
 * stay if the snapshot lacks them, and handles of files that stay remain open.
 *
 * Without `adopt`, bytes of at most 16 MiB may be changed right after the call. Larger ones are copied in pieces, so as
 * not to block the event loop: a change before that is done can make the call fail with `corrupt`, because the
 * checksums of the copy are wrong.
 *
 * @throws StorageError `corrupt` for bytes that are not a snapshot or were damaged, `version` for one of a newer
 * release
 * @throws FsError ENOSPC, EFBIG if it exceeds the limits of the filesystem
 * @throws FsError ENOTSUP if the filesystem does not declare `capabilities.restore`
 * @throws TypeError if `bytes` is not a Uint8Array; with `adopt` also if its buffer is shared or resizable
 */
export async function restoreSnapshot(
  fileSystem: FileSystem,
  bytes: Uint8Array,
  options?: RestoreOptions,
): Promise<void> {
  const { signal, ...given } = checkOptions(options, ['adopt'], 'restoreSnapshot');
  const adopt = checkBoolean(given.adopt, 'adopt');
  signal?.throwIfAborted();
  const own = adopt ? adopted(adoptable(bytes)) : copySteps(checkBytes(bytes));
  // A copy made at the call may have taken long, so other tasks get a turn first.
  if (bytes.byteLength > SLICE_BYTES) await nextTurn();
  const target = await trustedApi(fileSystem).run(lookAt, [], { signal });
  checkAbility(fileSystem);
  const recordWrites = fileSystem.kind === 'async';
  const builder = await runInSlices(
    buildSteps(own, await learnLimits(fileSystem, signal), {
      ...target,
      adopt: adopt && !target.isGuarded,
      recordWrites,
    }),
    signal,
  );
  await trustedApi(fileSystem).run(replaceState, [builder], { signal });
}

/** Like {@link restoreSnapshot}, without pauses, for synchronous storages. */
export function restoreSnapshotSync(
  fileSystem: SyncFileSystem,
  bytes: Uint8Array,
  options?: Omit<RestoreOptions, 'signal'>,
): void {
  const adopt = checkBoolean(checkOptions(options, ['adopt'], 'restoreSnapshotSync').adopt, 'adopt');
  const own = adopt ? adoptable(bytes) : plain(checkBytes(bytes));
  const target = trustedSyncApi(fileSystem, 'restoreSnapshotSync').runSync(lookAt, []);
  checkAbility(fileSystem);
  const steps = buildSteps(adopted(own), fileSystem.limits, {
    ...target,
    adopt: adopt && !target.isGuarded,
    recordWrites: false,
  });
  trustedApi(fileSystem).runSync(replaceState, [runSteps(steps)]);
}

type RestoreTarget = Pick<BuilderOptions, 'shared' | 'newId' | 'rootId'> & {
  readonly usedSize: number;
  readonly usedNodes: number;
  /** True under a guard. Then bytes that the caller can change later must not become files. */
  readonly isGuarded: boolean;
};

/** Returns the properties of the filesystem that the tree builder needs. */
function lookAt(view: View): RestoreTarget {
  const { tree, context } = view;
  context.guard?.checkState('restore');
  const { totalSize: usedSize, nodeCount: usedNodes } = stats(view);
  const isGuarded = context.guard !== undefined;
  return { shared: tree.shared, newId: context.newId, rootId: tree.root.id, usedSize, usedNodes, isGuarded };
}

/** Must be called after the guards were asked, whose errors say more. */
function checkAbility({ capabilities }: FileSystem): void {
  if (capabilities.restore || !capabilities.writes) return;
  const hint =
    'This filesystem cannot replace its whole state: restore into the filesystem under its layers, or into a mounted one';
  throw new FsError('ENOTSUP', { syscall: 'restore', hint });
}

function* buildSteps(
  own: Steps<Uint8Array<ArrayBuffer>>,
  limits: Limits,
  options: BuilderOptions & RestoreTarget,
): Steps<TreeBuilder> {
  const snapshot = yield* decodeSteps(yield* own);
  checkLimits(snapshot, limits, options);
  const builder = new TreeBuilder(snapshot, options);
  const entries = snapshot.entries();
  while (builder.addSome(entries, SLICE_BYTES)) yield;
  return builder;
}

/** Work between two yields, in bytes of content. Every entry counts as a number of bytes too. */
const SLICE_BYTES = 2 ** 20;

function checkLimits(snapshot: Snapshot, limits: Limits, { usedSize, usedNodes }: RestoreTarget): void {
  const { maxNodeCount, maxTotalSize, maxFileSize } = limits;
  const nodes = snapshot.count - 1;
  if (maxNodeCount !== undefined && nodes > maxNodeCount) {
    throw limitError('ENOSPC', 'maxNodeCount', usedNodes, nodes, maxNodeCount, 'restore', '/');
  }
  if (maxTotalSize !== undefined && snapshot.size > maxTotalSize) {
    throw limitError('ENOSPC', 'maxTotalSize', usedSize, snapshot.size, maxTotalSize, 'restore', '/');
  }
  if (maxFileSize !== undefined && snapshot.largest > maxFileSize) {
    throw limitError('EFBIG', 'maxFileSize', 0, snapshot.largest, maxFileSize, 'restore', '/');
  }
}

/** Replaces the state by the built one in one step; under guards, as far as they allow. */
function replaceState(view: View, builder: TreeBuilder): void {
  const state = builder.finish();
  const { guard } = view.context;
  if (guard !== undefined) {
    const tree = new Tree(view.tree.shared, state);
    guard.restore(view, new View(tree, { ...view.context, guard: undefined }), 'restore', true);
    return;
  }
  view.become(state);
  const writes = view.recorder?.writes;
  if (writes === undefined) return;
  writes.push({ kind: 'clear', meta: state.root.meta });
  for (const write of builder.writes) writes.push(write);
}

/** Returns bytes that need no copy. */
// biome-ignore lint/correctness/useYield: there is nothing to wait for
function* adopted(bytes: Uint8Array<ArrayBuffer>): Steps<Uint8Array<ArrayBuffer>> {
  return bytes;
}

function checkBytes(bytes: unknown): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  throw new TypeError(`A snapshot must be a Uint8Array, not ${describe(bytes)}`);
}

function adoptable(bytes: unknown): Uint8Array<ArrayBuffer> {
  const checked = checkBytes(bytes);
  if (isPlain(checked)) return checked;
  throw new TypeError('Only bytes in an ArrayBuffer that is neither shared nor resizable can be adopted');
}

function plain(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return isPlain(bytes) ? bytes : copyBytes(bytes);
}

function isPlain(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && (buffer as { resizable?: boolean }).resizable !== true;
}
