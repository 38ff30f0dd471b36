import { AsyncFileSystem } from '../async-file-system.js';
import { checkFileSystem } from '../check-file-system.js';
import type { Context } from '../engine/context.js';
import type { SyncExecutor } from '../engine/executor.js';
import type { Access, Guard } from '../engine/guard.js';
import { internalsOf, type StrangerCode } from '../engine/internals.js';
import { FsError } from '../errors.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { MemoryFileSystem } from '../sync-file-system.js';
import { intercept } from './intercept.js';
import { readOnlyError } from './read-only-error.js';
import { ReadonlyExecutor, ReadonlySyncExecutor } from './readonly-executor.js';
import { RefuseWrites } from './refuse-writes.js';
import { overOverlay } from './strangers.js';

/**
 * The same filesystem, to be looked at: whatever would change it is EROFS, in every form, also through handles, streams,
 * transactions and the operations given to `run`. Reads see it as it is, with what its owner changes meanwhile.
 *
 * As on a disk that is mounted read-only: `mkdir` with `recursive` of a directory that exists, `rm` with `force` of a
 * path that does not, and a transaction that only reads are no writes; `access` for writing (2) is EROFS. Where the last
 * name is missing or in the way, EROFS is answered before ENOENT or EEXIST.
 *
 * `checkpoint`, `rollback` and `drop` are refused too: what is beneath holds nothing for a reader and forgets nothing by
 * one. `fork` gives a point in time to look at, read-only as well. `close` ends the layer; the filesystem beneath stays
 * open.
 *
 * @throws FsError EROFS
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { readonly } from '@scratchfs/core/layers';
 *
 * const fs = createFileSystem({ files: { '/notes.txt': 'hello' } });
 * const view = readonly(fs);
 * console.log(view.readTextSync('/notes.txt')); // → hello
 * try {
 *   view.writeFileSync('/notes.txt', 'bye');
 * } catch (error) {
 *   console.log((error as { code: string }).code); // → EROFS
 * }
 * ```
 */
export function readonly(fileSystem: SyncFileSystem): SyncFileSystem;
export function readonly(fileSystem: FileSystem): FileSystem;
export function readonly(fileSystem: FileSystem): FileSystem {
  checkFileSystem(fileSystem);
  const inside = internalsOf(fileSystem);
  if (inside === undefined) return intercept(fileSystem, new RefuseWrites(), { forStrangers });
  const { executor } = inside;
  const context: Context = { ...inside.context, guard: new ReadonlyGuard(inside.context.guard) };
  const check = (): void => inside.enter();
  if (executor.kind === 'sync') {
    const sealed = new ReadonlySyncExecutor(executor as SyncExecutor, check);
    return new MemoryFileSystem(sealed, context, { forStrangers });
  }
  return new AsyncFileSystem(new ReadonlyExecutor(executor, check), context, { forStrangers });
}

function forStrangers(self: FileSystem): StrangerCode {
  return overOverlay(self, { change: () => readOnlyError('run'), compare: () => new FsError('ENOTSUP', COMPARE) });
}

const COMPARE = { syscall: 'diff', hint: 'A cursor of your own sees a read-only filesystem at one time: use diff' };

/** Refuses writes, and asks the guard of the filesystem beneath for the rest. */
class ReadonlyGuard implements Guard {
  readonly #beneath: Guard | undefined;

  constructor(beneath: Guard | undefined) {
    this.#beneath = beneath;
  }

  check(path: string, access: Access, syscall: string, given: string): void {
    this.#beneath?.check(path, access, syscall, given);
    if (access === 'write' || access === 'remove') throw readOnlyError(syscall, given);
  }

  checkTree(path: string, access: Access, syscall: string, given: string): void {
    this.#beneath?.checkTree(path, access, syscall, given);
    if (access === 'write' || access === 'remove') throw readOnlyError(syscall, given);
  }

  isVisible(path: string): boolean {
    return this.#beneath?.isVisible(path) ?? true;
  }
}
