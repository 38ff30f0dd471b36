import { BackendStorage } from '@scratchfs/core';
import type { RedisClient } from './connection/connection.js';
import type { Durability } from './connection/server-info.js';
import type { RedisStorageOptions } from './options.js';
import { RedisBackend } from './redis-backend.js';

/** Time limit of a whole operation, which may need many requests. */
const OPERATION_TIMEOUT_MS = 3_600_000;

/**
 * A filesystem in Redis that many processes share. Takes an ioredis client (version 5 or 6) for one server or a
 * cluster, or a URL: `redis://[user:password@]host:port/db?namespace=…`. The client itself is not used: the storage
 * opens connections of its own with the client's address and credentials. Storages of one client share a connection. A
 * storage connects with the first call.
 * @throws TypeError, RangeError for invalid options or an invalid URL
 */
export class RedisStorage extends BackendStorage {
  readonly #backend: RedisBackend;

  constructor(client: RedisClient | string, options: RedisStorageOptions = {}) {
    const backend = new RedisBackend(client, options);
    const { engine } = backend.settings;
    // Each request has its own timeout. A large commit consists of many requests.
    super(backend, { ...engine, timeoutMs: OPERATION_TIMEOUT_MS });
    this.#backend = backend;
  }

  /** Reports which acknowledged writes the server's settings may lose. @throws StorageError */
  durability(): Promise<Durability> {
    return this.#backend.durability();
  }

  get namespace(): string {
    return this.#backend.settings.namespace;
  }
}
