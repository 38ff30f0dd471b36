import type { Descriptors } from './descriptors.js';
import type { Eventual, FsDriver } from './fs-driver.js';
import type { Platform } from './platform.js';

/** State shared by all functions of one façade, the object that `createNodeFs` returns. */
export interface Facade {
  readonly driver: FsDriver;
  readonly platform: Platform;
  readonly descriptors: Descriptors;
  /** Permission bits removed from new files and directories. */
  readonly umask: number;
}

/**
 * One function of `node:fs`, defined once; its forms are derived from it. `prepare` checks the arguments and throws as
 * Node does; `run` does the work, independent of the form.
 */
export interface NodeFunction<P = unknown, R = unknown> {
  /** Maximal number of arguments before the callback. */
  readonly arity: number;
  prepare(facade: Facade, ...given: readonly unknown[]): P;
  run(facade: Facade, prepared: P): Eventual<R>;
  /** For reads and writes, whose callbacks and promises pass the buffer too: property names of count and buffer. */
  readonly moves?: Moves<P>;
  /** Converts an error for the caller. Undefined: `nodeError` does. */
  readonly fail: ((error: unknown, prepared: P) => unknown) | undefined;
}

export interface Moves<P> {
  readonly count: 'bytesRead' | 'bytesWritten';
  readonly subject: 'buffer' | 'buffers';
  readonly of: (prepared: P) => unknown;
}

export function nodeFunction<P, R>(
  arity: number,
  prepare: NodeFunction<P, R>['prepare'],
  run: NodeFunction<P, R>['run'],
  fail?: NodeFunction<P, R>['fail'],
): NodeFunction<P, R> {
  return { arity, prepare, run, fail };
}
