import type { Backend, BackendCall, BackendCapabilities, Batch, CommitResult, Facts, Want } from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import { Checkpoints } from './checkpoint-store.js';
import { Commits } from './commit/commit-queue.js';
import { ask, once } from './commit/idempotent-command.js';
import { throwIfAborted } from './connection/abort.js';
import type { RedisClient } from './connection/connection.js';
import { askDurability, type Durability } from './connection/server-info.js';
import { Loads } from './load/load-queue.js';
import type { RedisStorageOptions, Settings } from './options.js';
import { MAIN, Shared } from './shared-resources.js';

/** How long a fork outlives a process that ends without closing it; while it is open it is kept. */
const FORK_MS = 3_600_000;

/** One state in Redis, the filesystem's own or a fork's, at the seam beneath the engine. */
class StateBackend implements Backend {
  readonly capabilities: BackendCapabilities;
  readonly references: Checkpoints;
  /** A fork is changed by this client alone. */
  readonly watch?: NonNullable<Backend['watch']>;
  readonly #shared: Shared;
  readonly #field: string;
  readonly #commits: Commits;
  readonly #loads: Loads;
  readonly #renewal: NodeJS.Timeout | undefined;
  #forks = 0;
  #closed = false;

  constructor(shared: Shared, field: string) {
    this.#shared = shared;
    this.#field = field;
    shared.retain();
    const { session, sequences, sweeper, watching } = shared;
    this.capabilities = { checkpoints: true, forks: true, sharedWatch: field === MAIN };
    const onGarbage = (waiting: number): void => sweeper.notice(waiting);
    this.#commits = new Commits(session, sequences, field, onGarbage, (entry) => watching.told(entry));
    this.#loads = new Loads(session, field);
    this.references = new Checkpoints(session, sequences, field, () => sweeper.notice(1), watching);
    if (field === MAIN) {
      this.watch = (tell) => watching.listen(tell);
      return;
    }
    const renew = (): void => void ask(session, field, 'renew', [FORK_MS]).catch(() => {});
    this.#renewal = setInterval(renew, FORK_MS / 6);
    this.#renewal.unref();
  }

  get settings(): Settings {
    return this.#shared.settings;
  }

  async load(wants: readonly Want[], call?: BackendCall): Promise<readonly Facts[]> {
    this.#enter(call);
    // What is read after a call of `watch` must not be older than what it tells of.
    const { beginning } = this.#shared.watching;
    if (beginning !== undefined) await beginning;
    return wants.length === 0 ? [] : this.#loads.load(wants);
  }

  commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    try {
      this.#enter(call);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#commits.commit(batch, call, this.#shared.watching.beginning);
  }

  async outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'> {
    this.#enter(call);
    return this.#commits.outcome(operationId);
  }

  async fork(call?: BackendCall): Promise<Backend> {
    this.#enter(call);
    const { session, sequences } = this.#shared;
    this.#forks += 1;
    const field = `b:${session.client}:${this.#forks}${this.#field === MAIN ? '' : this.#field.slice(1)}`;
    await once(session, sequences, this.#field, 'lend', [field, FORK_MS], call);
    return new StateBackend(this.#shared, field);
  }

  /** What the server's settings may cost. @throws StorageError */
  async durability(): Promise<Durability> {
    this.#enter(undefined);
    return askDurability(this.#shared.connection, this.#shared.session.keys.head);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#renewal);
    if (this.#field !== MAIN) await ask(this.#shared.session, MAIN, 'giveBack', [this.#field]).catch(() => {});
    await this.#shared.release();
  }

  #enter(call: BackendCall | undefined): void {
    throwIfAborted(call);
    if (this.#closed) throw new StorageError('closed', 'The storage is closed');
  }
}

/** A filesystem in Redis at the seam beneath the engine. `RedisStorage` is what one uses. */
export class RedisBackend extends StateBackend {
  /** @throws TypeError, RangeError for options or a URL of a wrong kind */
  constructor(target: RedisClient | string, options?: RedisStorageOptions) {
    super(new Shared(target, options), MAIN);
  }
}
