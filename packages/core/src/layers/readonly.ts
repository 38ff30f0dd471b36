import { checkFileSystem } from '../check-file-system.js';
import type { AccessRequest, Guard, StateCall } from '../engine/guard.js';
import { readOnlyError, STATE_HINTS } from '../engine/read-only-error.js';
import { FsError } from '../errors.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { restrictAny } from './restrict.js';
import type { Refusals } from './untrusted-code.js';

/**
 * Returns a read-only view of a filesystem: every change of its entries fails with EROFS, in every form, also through
 * streams, transactions and the operations given to `run`; files can only be opened for reading. Reads see the current
 * state, including concurrent changes by its owner.
 *
 * As on a disk that is mounted read-only: `mkdir` with `recursive` of an existing directory, `rm` with `force` of a
 * missing path, and a transaction that only reads are not writes; `access` of an existing path for writing (2) is
 * EROFS. If the name to be changed is missing or in the way, EROFS comes before ENOENT or EEXIST, except from `mkdir`
 * with `recursive`.
 *
 * `checkpoint`, `rollback` and `drop` are refused too: a reader must not make the lower filesystem keep or drop
 * anything. `fork` returns a point in time, read-only as well. `close` ends the layer; the lower filesystem stays open.
 *
 * @throws TypeError if the value is not a filesystem
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { readonly } from '@scratchfs/core/layers';
 *
 * const fs = createFileSystem({ files: { '/notes.txt': 'hello' } });
 * const view = readonly(fs);
 * console.log(view.readTextSync('/notes.txt')); // → hello
 * try {
 *     view.writeFileSync('/notes.txt', 'bye');
 * } catch (error) {
 *     console.log((error as { code: string }).code); // → EROFS
 * }
 * ```
 */
export function readonly(fileSystem: SyncFileSystem): SyncFileSystem;
export function readonly(fileSystem: FileSystem): FileSystem;
export function readonly(fileSystem: FileSystem): FileSystem {
  checkFileSystem(fileSystem);
  return restrictAny(fileSystem, REFUSE_WRITES, REFUSALS);
}

const REFUSE_WRITES: Guard = Object.freeze({
  check({ access, syscall, given }: AccessRequest): void {
    if (access === 'write' || access === 'remove') throw readOnlyError(syscall, given);
  },
  isVisible: () => true,
  coversTree: () => true,
  checkState(call: StateCall): void {
    throw readOnlyError(call, undefined, undefined, STATE_HINTS[call]);
  },
});

const REFUSALS: Refusals = {
  change: () => readOnlyError('run'),
  compare: () => {
    const hint = 'A cursor of your own sees a read-only filesystem at one time: use diff';
    return new FsError('ENOTSUP', { syscall: 'diff', hint });
  },
};
