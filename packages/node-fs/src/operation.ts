import type { Descriptors } from './descriptors.js';
import type { Door, Eventual } from './door.js';
import type { Blame } from './errors/node-error.js';
import type { Platform } from './platform.js';

/** What all forms of one object share. */
export interface Facade {
  readonly door: Door;
  readonly platform: Platform;
  readonly descriptors: Descriptors;
  /** Bits that new files and directories do not get. */
  readonly umask: number;
}

/**
 * One function of `node:fs`, told once: its forms are made from this. `prepare` looks at the arguments and throws what
 * Node throws for bad ones; `run` does the work and knows nothing of forms.
 */
export interface Operation<P = unknown, R = unknown> {
  /** How many arguments there may be before the callback. */
  readonly arity: number;
  prepare(facade: Facade, a?: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown): P;
  run(facade: Facade, prepared: P): Eventual<R>;
  /** What an error names, where that is not what the filesystem said. */
  readonly blame?: (error: unknown, prepared: P) => Blame | undefined;
}

export function operation<P, R>(
  arity: number,
  prepare: Operation<P, R>['prepare'],
  run: Operation<P, R>['run'],
  blame?: Operation<P, R>['blame'],
): Operation<P, R> {
  return blame === undefined ? { arity, prepare, run } : { arity, prepare, run, blame };
}
