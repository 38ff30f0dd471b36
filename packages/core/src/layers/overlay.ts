import { AsyncFileSystem } from '../async-file-system.js';
import { checkFileSystem } from '../check-file-system.js';
import { checkOptions } from '../engine/arguments.js';
import { type ContextOptions, makeContext } from '../engine/context.js';
import { internalsOf } from '../engine/internals.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { type Limits, parseLimits } from '../limits.js';
import { MemoryFileSystem } from '../memory-file-system.js';
import { SharedStore, Tree } from '../tree/tree.js';
import { SyncLowerSource } from './lower-source.js';
import { OverlayExecutor, overlayState } from './overlay-executor.js';

export interface OverlayOptions extends ContextOptions {
  /**
   * Limits of the visible state, the lower filesystem included. They cannot be changed. Default: the limits that the
   * lower filesystem has at this call.
   */
  readonly limits?: Limits | undefined;
}

/**
 * Returns a filesystem over another one, which it never changes. To see a host directory live, with what other programs
 * change in it, use `openWorkspace(dir, { store: 'memory:' })` of `@scratchfs/workspace`. Whatever is written, moved or
 * removed stays in memory, everything else is read from the lower filesystem on demand. Deletions are real, and every
 * operation except `setLimits` works, including checkpoints, forks, transactions and hard links.
 *
 * If the lower filesystem is synchronous and can fork, it is seen in its state at this call. Otherwise every part is
 * seen as it was first read: names and metadata are read once, contents when they are needed; a file that was changed
 * below in between fails with ESTALE when it is read, until it is written or removed here.
 *
 * `stats` is O(1): it adds to the lower filesystem's totals, which are read once: by this call, or if the filesystem is
 * asynchronous by the first operation. A filesystem without totals, such as a host directory, is walked once for them.
 * The first `rm`, `rename` or `cp` of a whole lower directory lists everything in it, without contents. Names and
 * metadata that were read stay in memory. `close` ends the layer; the lower filesystem stays open.
 *
 * @throws TypeError, RangeError for options of a wrong kind
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { overlay, readonly } from '@scratchfs/core/layers';
 *
 * const project = createFileSystem({ files: { '/a.txt': 'one', '/b.txt': 'two' } });
 * const attempt = overlay(readonly(project));
 * attempt.writeFileSync('/a.txt', 'changed');
 * attempt.rmSync('/b.txt');
 * console.log(JSON.stringify(attempt)); // → {"/a.txt":"changed"}
 * console.log(JSON.stringify(project)); // → {"/a.txt":"one","/b.txt":"two"}
 * ```
 */
export function overlay(lower: SyncFileSystem, options?: OverlayOptions): SyncFileSystem;
export function overlay(lower: FileSystem, options?: OverlayOptions): FileSystem;
export function overlay(lower: FileSystem, options: OverlayOptions = {}): FileSystem {
  checkFileSystem(lower, 'lower');
  checkOptions(options, ['limits', 'clock', 'random'], 'overlay', false);
  const beneath = internalsOf(lower)?.context;
  const limits = parseLimits(options.limits ?? lower.limits);
  const own = {
    clock: options.clock ?? beneath?.clock,
    random: options.random ?? beneath?.random,
  };
  if (lower.kind === 'sync') {
    const executor = overSync(lower as SyncFileSystem, limits);
    return new MemoryFileSystem(executor, makeContext(own, executor));
  }
  const executor = OverlayExecutor.over(lower, limits);
  return new AsyncFileSystem(executor, makeContext(own, executor));
}

function overSync(lower: SyncFileSystem, limits: Limits): MemoryExecutor {
  const fixed = lower.capabilities.forks ? lower.forkSync() : lower;
  const tree = new Tree(new SharedStore(), overlayState(fixed.lstatSync('/'), fixed.statsSync()));
  return new MemoryExecutor(tree, new SyncLowerSource(fixed), undefined, undefined, limits);
}
