import { ExecutorAsyncStorage, RemoteExecutor } from '@scratchfs/core';
import type { RedisClient } from './connection/connection.js';
import type { Durability } from './connection/server-info.js';
import type { RedisStorageOptions } from './options.js';
import { RedisBackend } from './redis-backend.js';

/** Of one operation, however many requests it needs. */
const LONGEST_MS = 3_600_000;

/**
 * A filesystem in Redis that many processes share. Give it a client of ioredis, version 5 or 6, for one server or a
 * cluster: it is left alone, connections of our own are made like it. Or a URL:
 * `redis://[user:password@]host:port/db?namespace=…`. Connecting begins with the first call.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class RedisStorage extends ExecutorAsyncStorage {
  readonly #backend: RedisBackend;

  constructor(client: RedisClient | string, options: RedisStorageOptions = {}) {
    const backend = new RedisBackend(client, options);
    const { engine } = backend.settings;
    // Every request has a deadline of its own: a large commit consists of many.
    super(new RemoteExecutor(backend, { ...engine, timeoutMs: LONGEST_MS }), engine.clock);
    this.#backend = backend;
  }

  /** Which acknowledged writes the server's settings may lose. @throws StorageError */
  durability(): Promise<Durability> {
    return this.#backend.durability();
  }

  get namespace(): string {
    return this.#backend.settings.namespace;
  }
}
