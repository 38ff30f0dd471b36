import { AsyncFileSystem } from '../async-file-system.js';
import { checkFileSystem } from '../check-file-system.js';
import { describe } from '../engine/arguments.js';
import type { Guard } from '../engine/guard.js';
import { type Internals, internalsOf } from '../engine/internals.js';
import { FsError } from '../errors.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { MemoryFileSystem } from '../sync-file-system.js';
import { Guards } from './restrict/guards.js';
import { RestrictExecutor } from './restrict/restrict-executor.js';
import { overOverlay, type Refusals } from './strangers.js';

export type { Access, AccessRequest, Guard, StateCall } from '../engine/guard.js';

export function restrict(fileSystem: SyncFileSystem, guard: Guard): SyncFileSystem;
export function restrict(fileSystem: FileSystem, guard: Guard): FileSystem;
export function restrict(fileSystem: FileSystem, guard: Guard): FileSystem {
  checkFileSystem(fileSystem);
  checkGuard(guard);
  const inside = internalsOf(fileSystem);
  if (inside === undefined) throw new TypeError('Only a filesystem of the engine can be restricted yet');
  return restrictEngine(inside, guard, REFUSALS);
}

/** The layer over a filesystem of the engine. */
export function restrictEngine(inside: Internals, guard: Guard, refusals: Refusals): FileSystem {
  const { executor } = inside;
  const all = inside.context.guard instanceof Guards ? inside.context.guard.and(guard) : new Guards([guard]);
  const context = { ...inside.context, guard: all };
  const restricted = RestrictExecutor.over(executor, { guard, all, context }, () => inside.enter());
  const options = { forStrangers: (self: FileSystem) => overOverlay(self, refusals) };
  if (executor.kind === 'sync') return new MemoryFileSystem(restricted, context, options);
  return new AsyncFileSystem(restricted, context, options);
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
