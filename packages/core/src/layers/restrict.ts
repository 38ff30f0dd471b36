import { checkFileSystem } from '../check-file-system.js';
import { describe } from '../engine/arguments.js';
import type { Guard } from '../engine/guard.js';
import { internalsOf } from '../engine/internals.js';
import { FsError } from '../errors.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { restrictByMethods } from './restrict/generic-restrict.js';
import { restrictInternals } from './restrict/restrict-internals.js';
import { overOverlay, type Refusals } from './strangers.js';

export type { Access, AccessRequest, Guard, StateCall } from '../engine/guard.js';

/**
 * The same filesystem under a guard, which is asked about every path: before an operation does anything, for each hop of
 * a link, at each use of an open file, a stream, a watcher or a transaction, and again by whatever stands above this one.
 * What it throws is what the caller gets. Several guards one above the other allow what all of them allow.
 *
 * - What is not visible is not listed, walked, found, counted, watched or told by an error: a path into it is refused alike
 *   whatever is there; `exists`, `isFile` and `isDirectory` are false. An error at a limit does not say what is in use.
 * - `rm`, `rename` and `cp` of a directory ask about every name beneath it, and do nothing where one is refused; `rename`
 *   and `link` ask about both names, `link` for `write` on the file.
 * - A snapshot holds what may be read. `restoreSnapshot` and `rollback` change only what may be written, leave what is not
 *   visible as it is, and fail with nothing changed where they would need more; that they make the state what it was does
 *   not close open files. Checkpoints are those made through this view, where anything is not visible.
 * - `fork` carries the guard. `stats` costs a walk where anything is not visible.
 * - Operations and cursors that a caller gives to `run` and `iterate` see an overlay of what may be seen, and change
 *   nothing (ENOTSUP): use `transaction`. `compare` is ENOTSUP for them.
 *
 * Over a filesystem that is none of the engine's (`mount`, `observe`, one of a caller's own) the paths are walked here, and
 * what was found is as sure as that filesystem makes it: somebody may change a link in between. An open file is asked about
 * by the path at which it was opened; `rollback`, `restoreSnapshot` and `diff` are ENOTSUP there. Put `restrict` beneath
 * `observe`, not above.
 *
 * `close` ends the layer; the filesystem beneath stays open.
 *
 * @throws TypeError where the guard is none
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { restrict } from '@scratchfs/core/layers';
 *
 * const fs = createFileSystem({ files: { '/src/a.ts': 'let x = 1;', '/secret/key': '…' } });
 * const isSource = (path: string): boolean => path === '/' || path === '/src' || path.startsWith('/src/');
 * const view = restrict(fs, {
 *   check({ path, access, given }) {
 *     if (!isSource(path) || access === 'write' || access === 'remove') throw new Error(`You may not ${access} ${given}`);
 *   },
 *   isVisible: isSource,
 * });
 * console.log(view.readdirSync('/')); // → [ 'src' ]
 * console.log(view.existsSync('/secret/key')); // → false
 * try {
 *   view.writeFileSync('/src/a.ts', '');
 * } catch (error) {
 *   console.log((error as Error).message); // → You may not write /src/a.ts
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

/** The layer over any filesystem, with errors of its own for the code of strangers. */
export function restrictAny(fileSystem: FileSystem, guard: Guard, refusals: Refusals): FileSystem {
  const inside = internalsOf(fileSystem);
  if (inside === undefined) return restrictByMethods(fileSystem, guard, refusals);
  return restrictInternals(inside, guard, { forStrangers: (self) => overOverlay(self, refusals) });
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
