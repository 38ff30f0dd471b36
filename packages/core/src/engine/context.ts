import type { NodeId } from '../backend.js';
import type { Limits } from '../limits.js';
import { describe } from './arguments.js';
import type { ComposedGuard } from './composed-guard.js';
import { randomId, systemClock, systemRandom } from './defaults.js';

/** The settings that a filesystem passes to its operations. */
export interface Context {
  /** Returns epoch milliseconds. */
  readonly clock: () => number;
  readonly newId: () => NodeId;
  /** Returns a whole number from 0 to `below` - 1, for ids and names that should not collide. */
  readonly random: (below: number) => number;
  /** The current limits, which another client may change. */
  readonly quota: { readonly limits: Limits };
  readonly guard: ComposedGuard | undefined;
  /** True in a transaction that other clients may see half done; see {@link IN_STEPS}. */
  readonly inSteps?: boolean;
}

/**
 * Option of `transaction` for this library's own code: the changes take effect completely or not at all, also if the
 * process is killed, but other clients may see a part of them for a moment. A backend without transactions can do this
 * if its batches are `journaled`.
 */
export const IN_STEPS: unique symbol = Symbol.for('scratchfs.inSteps');

export interface ContextOptions {
  /**
   * Quotas. They are stored with the filesystem: its first client with limits sets them, and others must be opened with
   * the same ones, with `'stored'`, or without; `{}` means the same as `'stored'`. `FileSystem.setLimits` changes them.
   * Default `'stored'`.
   */
  readonly limits?: Limits | 'stored' | undefined;
  /** Returns epoch milliseconds, -8.64e15 to 8.64e15, for new times. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
  /** Returns a whole number from 0 to `below` - 1, for `mkdtemp` and ids. Default: the platform's random numbers. */
  readonly random?: ((below: number) => number) | undefined;
}

/** Returns the context for options that a caller gave. Without `newId` the ids of new nodes are drawn at random. */
export function makeContext(
  options: Pick<ContextOptions, 'clock' | 'random'>,
  { quota, newId }: { readonly quota: Context['quota']; readonly newId?: () => NodeId },
): Context {
  const random = checkFunction(options.random, 'random') ?? systemRandom;
  return {
    clock: checkFunction(options.clock, 'clock') ?? systemClock,
    random,
    newId: newId ?? (() => randomId(random)),
    quota,
    guard: undefined,
  };
}

/** Returns the context of a fork, under limits of its own. A literal, because a spread took a tenth of `forkSync`. */
export function forkContext({ clock, newId, random, guard }: Context, quota: Context['quota']): Context {
  return { clock, newId, random, quota, guard };
}

function checkFunction<F>(value: F | undefined, name: string): F | undefined {
  if (value !== undefined && typeof value !== 'function')
    throw new TypeError(`${name} must be a function, not ${describe(value)}`);
  return value;
}
