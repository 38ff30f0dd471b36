import type { Backend, BackendCall, BackendCapabilities, Batch, CommitResult, Facts, Want } from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import { Commits } from './commits.js';
import { Connection, prefixOf, type RedisClient } from './connection.js';
import { keysOf } from './keys.js';
import { Loads } from './loads.js';
import { parseOptions, type RedisStorageOptions, type Settings } from './options.js';
import { Session } from './session.js';
import { parseUrl } from './url.js';

/** The field of the head that holds the state of the filesystem itself. */
const MAIN = 's';

/** A filesystem in Redis at the seam beneath the engine. `RedisStorage` is what one uses. */
export class RedisBackend implements Backend {
  readonly capabilities: BackendCapabilities = { checkpoints: false, forks: false, sharedWatch: false };
  readonly settings: Settings;
  readonly #session: Session;
  readonly #commits: Commits;
  readonly #loads: Loads;
  #closed = false;

  constructor(target: RedisClient | string, options: RedisStorageOptions = {}) {
    const url = typeof target === 'string' ? parseUrl(target) : undefined;
    const settings = parseOptions({ ...url?.options, ...options });
    this.settings = settings;
    const keys = keysOf(settings.keyPrefix, settings.namespace, prefixOf(target));
    const connection = new Connection(url?.server ?? target, settings.timeoutMs);
    this.#session = new Session(connection, keys, settings, async () => {});
    this.#commits = new Commits(this.#session, MAIN, () => {});
    this.#loads = new Loads(this.#session, MAIN);
  }

  async load(wants: readonly Want[], call?: BackendCall): Promise<readonly Facts[]> {
    this.#enter(call?.signal);
    return wants.length === 0 ? [] : this.#loads.load(wants);
  }

  async commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    this.#enter(call?.signal);
    return this.#commits.commit(batch, call?.signal);
  }

  async outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'> {
    this.#enter(call?.signal);
    return this.#commits.outcome(operationId);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#session.connection.close();
  }

  #enter(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StorageError('closed', 'The storage is closed');
  }
}
