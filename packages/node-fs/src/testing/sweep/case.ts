import type { Pool, Value } from './values.js';

export type Form = 'sync' | 'callback' | 'promise' | 'handle' | 'promisified';

/** A function of `node:fs`, with the values to try for each argument. */
export interface Call {
  /** Without `Sync`. */
  readonly name: string;
  /** One pool of values per argument; the first value of each is an ordinary one. */
  readonly places: readonly Pool[];
  /** Forms in which to call it. Default: all. */
  readonly forms?: readonly Form[];
  /** Labels of arguments for which Node throws later, from a callback of its own, where no caller can catch it. */
  readonly uncatchable?: RegExp;
  /** True if the call moves or opens something that no listing shows. */
  readonly touches?: boolean;
  /** Name of the FileHandle method; the first argument is then the handle. */
  readonly method?: string;
}

/** A function with the arguments of one call. */
export interface Case {
  readonly call: Call;
  readonly given: readonly Value[];
}

/** Everything a test can observe of one call. */
export interface Outcome {
  readonly result: unknown;
  /** The arguments after the call. */
  readonly given: unknown;
  readonly tree: unknown;
  /** The error's code, or its class name if it has none. */
  readonly code: string | undefined;
}
