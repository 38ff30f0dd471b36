import { asyncStorage, type Backend, type FileSystem, type Limits, openFileSystem } from '@scratchfs/core';
import { RedisBackend } from '@scratchfs/redis';
import type { Dump } from '@scratchfs/testkit';
import { dumpWithCheckpoints } from '../faults/harness.js';

/** Where a filesystem is: a plain value, so that other processes can be told. */
export interface RedisLocation {
  /** Of a server, or of a master of a cluster. */
  readonly url: string;
  readonly namespace: string;
}

export interface ClientOptions {
  readonly timeoutMs?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Default: the system's. */
  readonly clock?: (() => number) | undefined;
}

/** The seam of the adapter, with connections of its own. */
export function openBackend({ url, namespace }: RedisLocation, timeoutMs?: number): Backend {
  return new RedisBackend(url, { namespace, timeoutMs });
}

/** A filesystem with a cache and connections of its own. */
export interface Client {
  readonly fs: FileSystem;
  close(): Promise<void>;
}

export async function connect(place: RedisLocation, { timeoutMs, limits, clock }: ClientOptions = {}): Promise<Client> {
  const storage = asyncStorage(new RedisBackend(place.url, { namespace: place.namespace, timeoutMs }), { timeoutMs });
  return { fs: await openFileSystem(storage, { limits, clock }), close: () => storage.close() };
}

/** Lends a client, and ends it. */
export async function withClient<T>(
  place: RedisLocation,
  work: (fs: FileSystem) => Promise<T>,
  options: ClientOptions = {},
): Promise<T> {
  const client = await connect(place, options);
  try {
    return await work(client.fs);
  } finally {
    await client.close();
  }
}

/** The state, checkpoints included, as a client sees it that has never seen anything before. @throws where the counters are not a recount */
export function stateAt(place: RedisLocation): Promise<Dump> {
  return withClient(place, dumpWithCheckpoints);
}

let namespaces = 0;

/** A namespace that no other test has, in this process or another. */
export function freshNamespace(): string {
  namespaces += 1;
  return `test-${process.pid}-${namespaces}-${Math.trunc(performance.timeOrigin % 1e9).toString(36)}`;
}

export function withPort(place: RedisLocation, port: number): RedisLocation {
  const url = new URL(place.url);
  url.port = String(port);
  return { ...place, url: url.href };
}
