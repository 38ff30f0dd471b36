import type { Descriptors } from './descriptors.js';
import type { Door, Eventual } from './door.js';
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
  prepare(facade: Facade, ...given: readonly unknown[]): P;
  run(facade: Facade, prepared: P): Eventual<R>;
  /** Of a call that moves bytes: names of what was counted and of what was given, which callbacks and promises answer too. */
  readonly moves?: Moves<P>;
  /** What the caller hears of a failure, where that is not simply what the filesystem said. */
  readonly fail: ((error: unknown, prepared: P) => unknown) | undefined;
}

export interface Moves<P> {
  readonly count: 'bytesRead' | 'bytesWritten';
  readonly subject: 'buffer' | 'buffers';
  readonly of: (prepared: P) => unknown;
}

export function operation<P, R>(
  arity: number,
  prepare: Operation<P, R>['prepare'],
  run: Operation<P, R>['run'],
  fail?: Operation<P, R>['fail'],
): Operation<P, R> {
  return { arity, prepare, run, fail };
}
