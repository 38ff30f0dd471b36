import { deserialize, serialize } from 'node:v8';
import type { Backend, BackendCall, Batch, CommitResult, LoadRequest, LoadResult, Metadata } from '@scratchfs/core';
import { isStorageError, rootMeta, StorageError } from '@scratchfs/core';
import { memoryBackend } from '@scratchfs/memory';

/** Records in one order for all clients that share the log. */
export interface Log {
  /** Returns the record after the last one read, or undefined if there is none yet. */
  next(): Promise<Uint8Array | undefined>;
  /** Appends a durable record after the last one read. Does nothing if another client was faster. */
  append(record: Uint8Array): Promise<void>;
}

/** Content of a record: a batch that met its preconditions and limits. */
type Entry = Pick<Batch, 'operationId' | 'writes'>;

/** Maximum number of outcomes that are remembered for clients that ask later. */
const MAX_OUTCOMES = 10_000;

/**
 * A storage made of a log. Every record in the log has taken effect, and every client keeps the resulting state in
 * memory.
 */
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

  load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    return this.#inTurn(call, async () => {
      await this.#catchUp();
      return this.#state.load(requests);
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
        // Preconditions and limits are checked on a fork, which is cheap. The batch becomes visible only after it is in
        // the log.
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

  /** Applies the log's new records to the local state. An empty log gets a record that creates the root. */
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

  /** Runs one call at a time, and converts failures of the log to a `StorageError`. */
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
