import {
  type Backend,
  type BackendCall,
  type BackendCapabilities,
  type Batch,
  type CheckpointStore,
  type CommitResult,
  type LimitStore,
  type LoadRequest,
  type LoadResult,
  StorageError,
} from '@scratchfs/core';
import { Random } from '../random.js';
import type { Scheduler } from './scheduler.js';

/**
 * Fate of one call: `before`: it fails and was not applied; `after`: it fails although it was applied; `hang`: it is
 * not applied and fails only when its signal aborts; `lost`: like `hang`, but it is applied; `late`: it is applied only
 * after the caller has stopped waiting; `twice`: a commit arrives twice.
 */
export type Fault = 'none' | 'before' | 'after' | 'hang' | 'lost' | 'late' | 'twice';

/** One call of the backend. Calls are numbered in the order in which they start. */
export interface FaultyCall {
  readonly index: number;
  readonly method: string;
}

/** Decides the fate of each call. */
export type FaultPlan = (call: FaultyCall) => Fault;

/** Returns a plan with a single fault at one call. */
export function faultAt(index: number, fault: Fault): FaultPlan {
  return (call) => (call.index === index ? fault : 'none');
}

/** Returns random faults of all or some kinds, the same for the same seed. */
export function randomFaults(
  seed: number,
  probability: number,
  faults: readonly Fault[] = ['before', 'after', 'hang', 'lost', 'late', 'twice'],
): FaultPlan {
  const random = new Random(seed);
  return () => (random.chance(probability) ? random.pick(faults) : 'none');
}

export interface FaultyOptions {
  /** Decides when each call arrives and when each response does: late and out of order. Default: immediately. */
  readonly scheduler?: Scheduler | undefined;
  /** Called with each call, even if it has no fault: tests abort calls there. */
  readonly onCall?: ((call: FaultyCall) => void) | undefined;
}

export interface FaultyBackend extends Backend {
  /** Number of calls started. */
  readonly calls: number;
  /** Number of calls with a fault. */
  readonly faults: number;
  /** Calls that have neither completed nor failed. */
  readonly pendingCalls: number;
  /** Ends the faults: from now on every call is served. */
  heal(): void;
}

/**
 * Returns a backend that fails, hangs, repeats and delays by plan. It never sleeps: waiting calls continue by signals
 * or the scheduler.
 */
export function faultyBackend(backend: Backend, plan: FaultPlan, options: FaultyOptions = {}): FaultyBackend {
  return new Faulty(backend, plan, options);
}

class Faulty implements FaultyBackend {
  calls = 0;
  faults = 0;
  pendingCalls = 0;
  readonly capabilities: BackendCapabilities;
  readonly checkpointStore?: CheckpointStore;
  readonly limitStore?: LimitStore;
  readonly fork?: NonNullable<Backend['fork']>;
  readonly watch?: NonNullable<Backend['watch']>;

  constructor(
    private readonly backend: Backend,
    private plan: FaultPlan,
    private readonly options: FaultyOptions,
  ) {
    this.capabilities = backend.capabilities;
    const { checkpointStore } = backend;
    if (checkpointStore !== undefined) {
      const { fork } = checkpointStore;
      this.checkpointStore = {
        create: (id, name, createdAt, max, call) =>
          this.#call('checkpointStore.create', call, () => checkpointStore.create(id, name, createdAt, max)),
        list: (call) => this.#call('checkpointStore.list', call, () => checkpointStore.list()),
        restore: (id, limits, call) =>
          this.#call('checkpointStore.restore', call, () => checkpointStore.restore(id, limits)),
        drop: (id, call) => this.#call('checkpointStore.drop', call, () => checkpointStore.drop(id)),
        load: (id, requests, call) =>
          this.#call('checkpointStore.load', call, () => checkpointStore.load(id, requests)),
        ...(fork === undefined
          ? {}
          : { fork: (id, call) => this.#call('checkpointStore.fork', call, () => fork.call(checkpointStore, id)) }),
      };
    }
    const { limitStore } = backend;
    if (limitStore !== undefined) {
      this.limitStore = {
        // Never fails and is not counted, because opening a filesystem calls it.
        open: (initial) => limitStore.open(initial),
        set: (limits, call) => this.#call('limitStore.set', call, () => limitStore.set(limits)),
      };
    }
    const { fork, watch } = backend;
    if (fork !== undefined) this.fork = (call) => this.#call('fork', call, () => fork.call(backend));
    if (watch !== undefined) this.watch = (tell, fail) => watch.call(backend, tell, fail);
  }

  load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    return this.#call('load', call, () => this.backend.load(requests));
  }
  commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    return this.#call('commit', call, () => this.backend.commit(batch));
  }
  outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'> {
    return this.#call('outcome', call, () => this.backend.outcome(operationId));
  }
  close(): Promise<void> {
    return this.backend.close();
  }
  heal(): void {
    this.plan = () => 'none';
  }

  async #call<T>(method: string, call: BackendCall | undefined, apply: () => Promise<T>): Promise<T> {
    const current = { index: this.calls, method };
    this.calls += 1;
    this.options.onCall?.(current);
    const fault = this.plan(current);
    if (fault !== 'none') this.faults += 1;
    this.pendingCalls += 1;
    try {
      return await this.#serve(current, fault, call?.signal, apply);
    } finally {
      this.pendingCalls -= 1;
    }
  }

  async #serve<T>(
    { index, method }: FaultyCall,
    fault: Fault,
    signal: AbortSignal | undefined,
    apply: () => Promise<T>,
  ): Promise<T> {
    const { scheduler } = this.options;
    await scheduler?.turn(`${method} ${index} arrives`);
    if (fault === 'before') throw unavailable(method, index);
    if (fault === 'hang') return aborted(signal);
    if (fault === 'late') {
      return aborted<T>(signal).finally(() => {
        apply().catch(() => undefined);
      });
    }
    const result = await apply();
    if (fault === 'after') throw unavailable(method, index);
    if (fault === 'lost') return aborted(signal);
    const answer = fault === 'twice' && method === 'commit' ? await apply() : result;
    await scheduler?.turn(`${method} ${index} answers`);
    return answer;
  }
}

/** Waits for an abort and fails with its reason. */
function aborted<T>(signal: AbortSignal | undefined): Promise<T> {
  return new Promise((_, reject) => {
    if (signal?.aborted === true) reject(signal.reason);
    else signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function unavailable(method: string, index: number): StorageError {
  return new StorageError('unavailable', `Injected: call ${index} (${method}) got no reply`);
}
