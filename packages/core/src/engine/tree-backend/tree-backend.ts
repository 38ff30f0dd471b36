import type {
  Backend,
  BackendCapabilities,
  Batch,
  CheckpointStore,
  CommitResult,
  LimitStore,
  LoadRequest,
  LoadResult,
} from '../../backend.js';
import { StorageError } from '../../errors.js';
import type { MemoryExecutor } from '../memory/memory-executor.js';
import { otherLimits } from '../other-limits.js';
import { runSteps } from '../scheduling/time-slice.js';
import { TreeCheckpoints } from './tree-checkpoints.js';
import { TreeReader, type Versions } from './tree-reader.js';
import { TreeWriter } from './tree-writer.js';

/** Maximum number of outcomes that are remembered for clients that ask later. */
const MAX_OUTCOMES = 10_000;

/**
 * The backend over a tree in memory: the asynchronous form of a memory storage, and the reference implementation.
 * Everything within one call happens in one turn of the event loop, hence atomically.
 */
export class TreeBackend implements Backend {
  readonly capabilities: BackendCapabilities = { checkpoints: true, forks: true, sharedWatch: false };
  readonly checkpointStore: CheckpointStore;
  readonly limitStore: LimitStore;
  readonly #executor: MemoryExecutor;
  /** Forks share them, so that equal nodes have equal versions. */
  readonly #versions: Versions;
  readonly #reader: TreeReader;
  readonly #writer: TreeWriter;
  readonly #outcomes = new Map<string, CommitResult | 'absent'>();
  #closed = false;

  constructor(executor: MemoryExecutor, versions: Versions = new WeakMap()) {
    this.#executor = executor;
    this.#versions = versions;
    this.#reader = new TreeReader(executor.tree, this.#versions);
    this.#writer = new TreeWriter(executor.tree, this.#reader, this.#versions);
    this.checkpointStore = new TreeCheckpoints(
      executor,
      this.#versions,
      (call) => this.#enter(call?.signal),
      (state) => new TreeBackend(executor.forkOf(state), this.#versions),
    );
    this.limitStore = {
      open: async (initial, call) => {
        this.#enter(call?.signal);
        return executor.quota.claim(initial);
      },
      set: async (limits, call) => {
        this.#enter(call?.signal);
        executor.quota.set(limits);
      },
    };
  }

  async load(
    requests: readonly LoadRequest[],
    call?: { readonly signal?: AbortSignal | undefined },
  ): Promise<readonly LoadResult[]> {
    this.#enter(call?.signal);
    return requests.map((request) => this.#reader.load(request));
  }

  async commit(batch: Batch, call?: { readonly signal?: AbortSignal | undefined }): Promise<CommitResult> {
    this.#enter(call?.signal);
    const known = this.#outcomes.get(batch.operationId);
    if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it arrived');
    if (known !== undefined) return known;
    if (batch.writes.length > 0) this.#executor.checkFree();
    const other = otherLimits(this.#executor.quota.limits, batch);
    if (other !== undefined) return other;
    const result = runSteps(this.#writer.commit(batch));
    this.#executor.compactIfDue();
    this.#remember(batch.operationId, result);
    return result;
  }

  async outcome(operationId: string): Promise<CommitResult | 'absent' | 'unknown'> {
    this.#enter();
    const known = this.#outcomes.get(operationId);
    if (known === undefined) this.#remember(operationId, 'absent');
    return known ?? 'absent';
  }

  async fork(): Promise<Backend> {
    this.#enter();
    return new TreeBackend(this.#executor.forkSync(), this.#versions);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #enter(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StorageError('closed', 'The storage is closed');
  }

  #remember(operationId: string, result: CommitResult | 'absent'): void {
    this.#outcomes.set(operationId, result);
    if (this.#outcomes.size > MAX_OUTCOMES) this.#outcomes.delete(this.#outcomes.keys().next().value as string);
  }
}
