import { checkFileSystem } from '../check-file-system.js';
import { describe } from '../engine/arguments.js';
import type { Guard } from '../engine/guard.js';
import { internalsOf } from '../engine/internals.js';
import { FsError } from '../errors.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { restrictByMethods } from './restrict/generic-restrict.js';
import { restrictInternals } from './restrict/restrict-internals.js';
import { overOverlay, type Refusals } from './untrusted-code.js';

export type { Access, AccessRequest, Guard, StateCall } from '../engine/guard.js';

/**
 * Returns a filesystem under a guard, which is asked about every path: before an operation does anything, for each hop
 * of a link, and at each use of an open file, a stream, a watcher or a transaction. The caller gets the guard's error.
 * Several nested guards allow what all of them allow.
 *
 * - Entries for which `isVisible` is false are not listed, walked, found, counted, watched or named in errors. A path
 *   into them is decided by `check` alone, which is asked before anything reveals whether it exists. If `check` throws,
 *   the path is refused, and `exists`, `isFile` and `isDirectory` are false; if it does not, the path can be used. A
 *   guard that hides entries must therefore refuse them in `check` too. An error at a limit does not show the usage.
 * - If anything is invisible, an error names visible paths and the caller's arguments only: other paths become the
 *   caller's, causes and hints that name something else are dropped. A `StorageError` has a fixed text, and replaces
 *   everything thrown that is neither an `FsError` nor an argument error. Errors of the guard, of a transaction's work
 *   and the reason of a signal stay as they are. To see a cause, repeat the call on the lower filesystem.
 * - `rm`, `rename` and `cp` of a directory ask about every name in it, unless `coversTree` decides for all, and do
 *   nothing if one is refused; `rename` and `link` ask about both names, `link` for `write` on the file.
 * - A snapshot contains what may be read. `restoreSnapshot` and `rollback` change only what may be written, and fail
 *   without a change if they would need more; they do not close open files. Invisible entries stay, except that
 *   `rollback` also restores those that may be written, as in a write-only directory, and `restoreSnapshot` those that
 *   the snapshot has. If anything is invisible, only checkpoints made through the restricted filesystem are listed.
 * - `fork` keeps the guard. `stats` costs a walk if anything is invisible.
 * - A caller's operations and cursors in `run` and `iterate` see an overlay of what may be read, and cannot change
 *   anything (ENOTSUP): use `transaction`. `compare` is ENOTSUP for them.
 *
 * Over a filesystem that is not the engine's (`mount`, `observe`, a custom one) paths are walked here, and the result
 * is as reliable as that filesystem: a link may change in between. An open file is checked by the path at which it was
 * opened. `restore` and `restoreSnapshot` are ENOTSUP there, `rollback` unless everything may be changed, `diff` unless
 * everything may be read. Put `restrict` under `observe`, not above it.
 *
 * `close` ends the layer; the lower filesystem stays open.
 *
 * @throws TypeError if an argument is not a filesystem or not a guard
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { restrict } from '@scratchfs/core/layers';
 *
 * const fs = createFileSystem({ files: { '/src/a.ts': 'let x = 1;', '/secret/key': '…' } });
 * const isSource = (path: string): boolean => path === '/' || path === '/src' || path.startsWith('/src/');
 * const view = restrict(fs, {
 *     check({ path, access, given }) {
 *       if (!isSource(path) || access === 'write' || access === 'remove') throw new Error(`You may not ${access} ${given}`);
 *     },
 *     isVisible: isSource,
 * });
 * console.log(view.readdirSync('/')); // → [ 'src' ]
 * console.log(view.existsSync('/secret/key')); // → false
 * try {
 *     view.writeFileSync('/src/a.ts', '');
 * } catch (error) {
 *     console.log((error as Error).message); // → You may not write /src/a.ts
 * }
 * ```
 */
export function restrict(fileSystem: SyncFileSystem, guard: Guard): SyncFileSystem;
export function restrict(fileSystem: FileSystem, guard: Guard): FileSystem;
export function restrict(fileSystem: FileSystem, guard: Guard): FileSystem {
  checkFileSystem(fileSystem);
  checkGuard(guard);
  return restrictAny(fileSystem, guard, REFUSALS);
}

/** Returns the layer over any filesystem, with the given errors for untrusted code. */
export function restrictAny(fileSystem: FileSystem, guard: Guard, refusals: Refusals): FileSystem {
  const inside = internalsOf(fileSystem);
  if (inside === undefined) return restrictByMethods(fileSystem, guard, refusals);
  return restrictInternals(inside, guard, { untrustedApi: (self) => overOverlay(self, refusals) });
}

const REFUSALS: Refusals = {
  change: () =>
    new FsError('ENOTSUP', {
      syscall: 'run',
      hint: 'An operation of your own may look at a restricted filesystem but not change it: use transaction',
    }),
  compare: () =>
    new FsError('ENOTSUP', {
      syscall: 'diff',
      hint: 'A cursor of your own sees a restricted filesystem at one time: use diff',
    }),
};

function checkGuard(guard: Guard): void {
  const given = guard as Partial<Guard> | null | undefined;
  if (typeof given?.check === 'function' && typeof given.isVisible === 'function') return;
  throw new TypeError(`The guard must be an object with check and isVisible, not ${describe(guard)}`);
}
