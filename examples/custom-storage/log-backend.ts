import { deserialize, serialize } from 'node:v8';
import type { Backend, BackendCall, Batch, CommitResult, LoadRequest, LoadResult, Metadata } from '@scratchfs/core';
import { isStorageError, rootMeta, StorageError } from '@scratchfs/core';
import { memoryBackend } from '@scratchfs/memory';

/** Records in one order for all who share it. */
export interface Log {
  /** The record after the last one that was read; undefined where there is none yet. */
  next(): Promise<Uint8Array | undefined>;
  /** Adds a record, for good, after the last one that was read; where somebody else was faster it does nothing. */
  append(record: Uint8Array): Promise<void>;
}

/** What a record holds: a batch that met its checks and limits. */
type Entry = Pick<Batch, 'operationId' | 'writes'>;

/** Outcomes remembered for clients that ask later. */
const MAX_OUTCOMES = 10_000;

/** A storage made of a log. What is in the log has happened, and everybody keeps in memory the state that follows from it. */
export class LogBackend implements Backend {
  readonly capabilities = { checkpoints: false, forks: false, sharedWatch: false };
  readonly #log: Log;
  readonly #root: Metadata;
  readonly #state = memoryBackend();
  readonly #outcomes = new Map<string, CommitResult | 'absent'>();
  #lastCall: Promise<unknown> = Promise.resolve();
  #isEmpty = true;
  #isClosed = false;

  constructor(log: Log, clock: () => number = Date.now) {
    this.#log = log;
    this.#root = rootMeta(clock());
  }

  load(wants: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    return this.#inTurn(call, async () => {
      await this.#catchUp();
      return this.#state.load(wants);
    });
  }

  commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    const { operationId, writes } = batch;
    const record = serialize({ operationId, writes } satisfies Entry);
    return this.#inTurn(call, async () => {
      for (;;) {
        await this.#catchUp();
        const known = this.#outcomes.get(operationId);
        if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it arrived');
        if (known !== undefined) return known;
        // Checks and limits are judged on a copy, which costs nothing; nobody sees a batch before the log has it.
        const draft = await this.#state.fork();
        const result = await draft.commit(batch);
        if (result.kind !== 'ok') return this.#settle(operationId, result);
        if (writes.length === 0) return result;
        await this.#log.append(record);
      }
    });
  }

  outcome(operationId: string): Promise<CommitResult | 'absent'> {
    return this.#inTurn(undefined, async () => {
      await this.#catchUp();
      return this.#outcomes.get(operationId) ?? this.#settle(operationId, 'absent');
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Applies what the log has and this copy has not; an empty log begins with the root. */
  async #catchUp(): Promise<void> {
    for (;;) {
      const record = await this.#log.next();
      if (record !== undefined) {
        const { operationId, writes } = deserialize(record) as Entry;
        this.#settle(operationId, await this.#state.commit({ operationId, writes, checks: [], limits: {} }));
        this.#isEmpty = false;
      } else if (this.#isEmpty) {
        const root: Entry = { operationId: 'root', writes: [{ kind: 'clear', meta: this.#root }] };
        await this.#log.append(serialize(root));
      } else return;
    }
  }

  #settle<R extends CommitResult | 'absent'>(operationId: string, result: R): R {
    this.#outcomes.set(operationId, result);
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > MAX_OUTCOMES && oldest !== undefined) this.#outcomes.delete(oldest);
    return result;
  }

  /** One call at a time, and every failure as what the engine expects. */
  #inTurn<R>(call: BackendCall | undefined, work: () => Promise<R>): Promise<R> {
    const turn = this.#lastCall.then(async () => {
      call?.signal?.throwIfAborted();
      if (this.#isClosed) throw new StorageError('closed', 'The storage is closed');
      return work().catch((cause) => {
        if (isStorageError(cause)) throw cause;
        throw new StorageError('unavailable', 'The log cannot be reached', { cause });
      });
    });
    this.#lastCall = turn.catch(() => undefined);
    return turn;
  }
}
