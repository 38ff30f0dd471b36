import type {
  Backend,
  BackendCall,
  BackendCapabilities,
  Batch,
  CommitResult,
  LimitStore,
  LoadRequest,
  LoadResult,
  PinnedRead,
} from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import { RedisCheckpointStore } from './checkpoint-store.js';
import { CommitQueue } from './commit/commit-queue.js';
import { runIdempotent } from './commit/idempotent-command.js';
import { isAborted, throwIfAborted } from './connection/abort.js';
import type { ClientSession } from './connection/client-session.js';
import type { RedisClient } from './connection/connection.js';
import { withMayHaveHappened } from './connection/errors.js';
import { MAIN_STATE } from './connection/keys.js';
import { renewLease } from './connection/renew-lease.js';
import { type Durability, readDurability } from './connection/server-info.js';
import { runStateCommand } from './connection/state-commands.js';
import { RedisLimitStore } from './limit-store.js';
import { LoadQueue } from './load/load-queue.js';
import { PinnedState } from './load/pinned-state.js';
import { StateLease } from './load/state-lease.js';
import type { RedisStorageOptions, Settings } from './options.js';
import { SharedResources } from './shared-resources.js';

/** Time for which a fork outlives a process that ends without closing it. An open fork is renewed. */
const FORK_LEASE_MS = 3_600_000;

/** A backend for one state in Redis: the filesystem's own, or a fork's. */
class StateBackend implements Backend {
  readonly capabilities: BackendCapabilities;
  readonly hasCostlyPins = true;
  readonly checkpointStore: RedisCheckpointStore;
  /** Undefined for a fork, like `watch`: no other client uses a fork. */
  readonly limitStore?: LimitStore;
  readonly watch?: NonNullable<Backend['watch']>;
  readonly #shared: SharedResources;
  readonly #field: string;
  readonly #commitQueue: CommitQueue;
  readonly #loadQueue: LoadQueue;
  readonly #stopRenewal: (() => void) | undefined;
  #forks = 0;
  #closed = false;

  constructor(shared: SharedResources, field: string) {
    this.#shared = shared;
    this.#field = field;
    shared.retain();
    const { session, sequences, sweeper, changeFeed } = shared;
    this.capabilities = { checkpoints: true, forks: true, sharedWatch: field === MAIN_STATE };
    const onGarbage = (queuedObjects: number): void => sweeper.notice(queuedObjects);
    this.#commitQueue = new CommitQueue(session, sequences, field, onGarbage, (entry) => changeFeed.delivered(entry));
    this.#loadQueue = new LoadQueue(session, field);
    const onDropped = (): void => sweeper.notice(1);
    const forkOf = (state: string, call: BackendCall | undefined): Promise<Backend> => this.#forkOf(state, call);
    this.checkpointStore = new RedisCheckpointStore(session, sequences, field, onDropped, changeFeed, forkOf);
    if (field === MAIN_STATE) {
      this.watch = (listener, onFailure) => changeFeed.listen(listener, onFailure);
      this.limitStore = new RedisLimitStore(session, sequences);
      return;
    }
    this.#stopRenewal = renewLease(session, field, FORK_LEASE_MS);
  }

  get settings(): Settings {
    return this.#shared.settings;
  }

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    this.#checkCall(call);
    // If the change feed is starting, the read waits for it: listeners must not miss changes to the state that it
    // returns.
    const { ready } = this.#shared.changeFeed;
    if (ready !== undefined) await ready;
    return requests.length === 0 ? [] : this.#loadQueue.load(requests);
  }

  /**
   * Keeps the current state readable under a lease. Costs a request now, one for its release, and in between one for
   * each renewal of the lease.
   */
  async pinRead(call?: BackendCall): Promise<PinnedRead> {
    this.#checkCall(call);
    const { session, changeFeed } = this.#shared;
    if (changeFeed.ready !== undefined) await changeFeed.ready;
    const lease = await StateLease.take(session, this.#field);
    // The call has already failed, so its caller cannot release this pin.
    if (isAborted(call)) lease.release();
    return new PinnedState(session, lease);
  }

  commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    try {
      this.#checkCall(call);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#commitQueue.commit(batch, call, this.#shared.changeFeed.ready);
  }

  async outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'> {
    this.#checkCall(call);
    return this.#commitQueue.outcome(operationId);
  }

  async fork(call?: BackendCall): Promise<Backend> {
    return this.#forkOf(this.#field, call);
  }

  /** Forks the state in a field of the head: that of this backend, or of a checkpoint. */
  async #forkOf(state: string, call: BackendCall | undefined): Promise<Backend> {
    this.#checkCall(call);
    const { session, sequences } = this.#shared;
    this.#forks += 1;
    const field = `b:${session.client}:${this.#forks}${this.#field === MAIN_STATE ? '' : this.#field.slice(1)}`;
    await runIdempotent(session, sequences, state, 'lend', [field, FORK_LEASE_MS], call);
    return new StateBackend(this.#shared, field);
  }

  /** Reports which acknowledged writes the server's settings may lose. @throws StorageError */
  async durability(): Promise<Durability> {
    this.#checkCall(undefined);
    const { connection, session } = this.#shared;
    return readDurability(connection, session.keys.head).catch((error: unknown) => {
      throw withMayHaveHappened(error, false);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopRenewal?.();
    if (this.#field !== MAIN_STATE)
      await runStateCommand(this.#shared.session, MAIN_STATE, 'giveBack', [this.#field]).catch(() => {});
    await this.#shared.release();
  }

  #checkCall(call: BackendCall | undefined): void {
    throwIfAborted(call);
    if (this.#closed) throw new StorageError('closed', 'The storage is closed');
  }
}

/** A filesystem in Redis as a `Backend`. Applications use `RedisStorage`. */
export class RedisBackend extends StateBackend {
  readonly #session: ClientSession;

  /** @throws TypeError, RangeError for invalid options or an invalid URL */
  constructor(target: RedisClient | string, options?: RedisStorageOptions) {
    const shared = new SharedResources(target, options);
    super(shared, MAIN_STATE);
    this.#session = shared.session;
  }

  /** Deletes all keys of the filesystem, those of its clients' results included, in one atomic step. */
  async destroy(call?: BackendCall): Promise<void> {
    throwIfAborted(call);
    await this.#session.destroy();
  }
}
