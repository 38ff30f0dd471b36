import { asyncStorage, type Backend, type FileSystem, type Limits, openFileSystem } from '@scratchfs/core';
import { RedisBackend } from '@scratchfs/redis';
import type { Dump } from '@scratchfs/testkit';
import { dumpWithCheckpoints } from '../faults/harness.js';

/** Location of a filesystem, as a plain value that can be sent to other processes. */
export interface RedisLocation {
  /** URL of a server, or of one master of a cluster. */
  readonly url: string;
  readonly namespace: string;
}

export interface ClientOptions {
  readonly timeoutMs?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Default: the system's. */
  readonly clock?: (() => number) | undefined;
}

/** Opens the backend alone, without a filesystem over it, on connections of its own. */
export function openBackend({ url, namespace }: RedisLocation, timeoutMs?: number): Backend {
  return new RedisBackend(url, { namespace, timeoutMs });
}

/** A filesystem with its own cache and connections. */
export interface Client {
  readonly fs: FileSystem;
  close(): Promise<void>;
}

export async function connect(place: RedisLocation, { timeoutMs, limits, clock }: ClientOptions = {}): Promise<Client> {
  const storage = asyncStorage(new RedisBackend(place.url, { namespace: place.namespace, timeoutMs }), { timeoutMs });
  try {
    return { fs: await openFileSystem(storage, { limits, clock }), close: () => storage.close() };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Runs work with a client, then closes the client. */
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

/** Returns the state, checkpoints included, as a new client sees it. @throws if the counters differ from a recount */
export function stateAt(place: RedisLocation): Promise<Dump> {
  return withClient(place, dumpWithCheckpoints);
}

let namespaces = 0;

/** Returns a namespace that no other test uses, in this process or another. */
export function freshNamespace(): string {
  namespaces += 1;
  return `test-${process.pid}-${namespaces}-${Math.trunc(performance.timeOrigin % 1e9).toString(36)}`;
}

export function withPort(place: RedisLocation, port: number): RedisLocation {
  const url = new URL(place.url);
  url.port = String(port);
  return { ...place, url: url.href };
}
