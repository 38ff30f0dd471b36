import { asyncStorage, type Backend, type FileSystem, type Limits, openFileSystem } from '@scratchfs/core';
import type { Dump } from '@scratchfs/testkit';
import { checkedDump } from '../harness.js';

export interface RemoteOptions {
  readonly timeoutMs?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Default: the system clock. */
  readonly clock?: (() => number) | undefined;
}

/** A connection that fails at random until told to stop. */
export interface FailingLine<P> {
  readonly place: P;
  /** Starts the failures. */
  begin(): void;
  /** Ends the failures and releases held requests. */
  end(): void;
  close(): Promise<void>;
}

/** A remote storage. A location is a plain value, so that it can be sent to other processes. */
export interface Remote<P> {
  /** Timeouts in milliseconds: of one request on a failing line, and of one operation. */
  readonly patience: { readonly request: number | undefined; readonly operation: number };
  /** Opens a backend with its own connections. */
  openBackend(place: P, options?: RemoteOptions): Backend;
  /** Returns a line to the same storage where each request fails with a probability, reproducible by seed. */
  failingLine(place: P, seed: number, probability: number): Promise<FailingLine<P>>;
}

/** Returns a filesystem with its own cache on a backend, which the caller closes. */
export function fileSystemOn(backend: Backend, { timeoutMs, limits, clock }: RemoteOptions = {}): Promise<FileSystem> {
  return openFileSystem(asyncStorage(backend, { timeoutMs }), { limits, clock });
}

/** Passes a client with its own cache and connections to `work` and closes it afterwards. */
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

/** Reads the state as a new client. @throws if the counters differ from a recount */
export function stateAt<P>(remote: Remote<P>, place: P): Promise<Dump> {
  return withClient(remote, place, checkedDump);
}
