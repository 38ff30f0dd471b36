import type { Guard } from '../../engine/guard.js';
import type { Internals, InternalsOptions } from '../../engine/internals.js';
import type { FileSystem } from '../../file-system.js';
import { GuardChain } from './guard-chain.js';
import { guardedFileSystem } from './guarded-file-system.js';
import { RestrictExecutor } from './restrict-executor.js';

/** Returns an engine filesystem under one more guard: its operations ask it and all lower guards. */
export function restrictInternals(inside: Internals, guard: Guard, options: InternalsOptions = {}): FileSystem {
  const { executor } = inside;
  const all = new GuardChain([...(inside.context.guard?.guards ?? []), guard]);
  const context = { ...inside.context, guard: all };
  const restricted = RestrictExecutor.over(executor, { guard, all, context }, () => inside.enter());
  return guardedFileSystem(restricted, context, options);
}
