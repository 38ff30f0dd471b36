import { asyncStorage, type Backend, type FileSystem, type Limits, openFileSystem } from '@scratchfs/core';
import type { Dump } from '@scratchfs/testkit';
import { checkedDump } from '../harness.js';

export interface RemoteOptions {
  readonly timeoutMs?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Default: the system's. */
  readonly clock?: (() => number) | undefined;
}

/** A connection that fails at random until it is told not to. */
export interface FailingLine<P> {
  readonly place: P;
  /** From now on it fails. */
  begin(): void;
  /** From now on it works again; what was held is let go. */
  end(): void;
  close(): Promise<void>;
}

/** A storage far away. A place is a plain value, so that other processes can be told. */
export interface Remote<P> {
  /** Milliseconds, of one request over a line that fails, and of one operation. */
  readonly patience: { readonly request: number | undefined; readonly operation: number };
  /** The seam of the adapter, with connections of its own. */
  openBackend(place: P, options?: RemoteOptions): Backend;
  /** A way to the same place that fails with a probability at each request, the same for the same seed. */
  failingLine(place: P, seed: number, probability: number): Promise<FailingLine<P>>;
}

/** A filesystem with a cache of its own on a backend, which stays the caller's. */
export function fileSystemOn(backend: Backend, { timeoutMs, limits, clock }: RemoteOptions = {}): Promise<FileSystem> {
  return openFileSystem(asyncStorage(backend, { timeoutMs }), { limits, clock });
}

/** Lends a client with a cache and connections of its own, and ends it. */
export async function withClient<P, T>(
  remote: Remote<P>,
  place: P,
  work: (fs: FileSystem) => Promise<T>,
  options: RemoteOptions = {},
): Promise<T> {
  const backend = remote.openBackend(place, options);
  try {
    return await work(await fileSystemOn(backend, options));
  } finally {
    await backend.close();
  }
}

/** The state as a client sees it that has never seen anything before. @throws where the counters are not a recount */
export function stateAt<P>(remote: Remote<P>, place: P): Promise<Dump> {
  return withClient(remote, place, checkedDump);
}
