import { StorageError } from '../../errors.js';
import type { Checkpoint } from '../../file-system.js';
import { ALL_CAPABILITIES, inTransaction } from '../capabilities.js';
import { ChangeFeed } from '../change-feed.js';
import type { Context } from '../context.js';
import type { Cursor } from '../cursor.js';
import type { Executor } from '../executor.js';
import { notInTransaction } from '../not-in-transaction.js';
import { OpenFiles } from '../open-files.js';
import type { Quota } from '../quota.js';
import { collectItems } from '../scheduling/time-slice.js';
import type { View } from '../view.js';
import type { AttemptRunner } from './attempted.js';
import type { OptimisticTransaction } from './optimistic-transaction.js';
import { itemsOf } from './remote-cursors.js';

/**
 * Combines many operations over a remote storage: they share one optimistic transaction, and their effects are
 * committed at its end.
 */
export class RemoteTransaction implements Executor {
  readonly kind = 'async';
  readonly capabilities = inTransaction(ALL_CAPABILITIES);
  readonly feed = new ChangeFeed(new OpenFiles({ remembersLinks: true, isBranch: true }));
  readonly quota: Quota;
  #last: Promise<unknown> = Promise.resolve();
  #published = 0;

  constructor(
    readonly remote: AttemptRunner,
    readonly optimistic: OptimisticTransaction,
    /** Signal of the whole transaction: it also ends operations inside it. */
    readonly signal: AbortSignal | undefined,
  ) {
    optimistic.inner = this.feed.files;
    this.quota = remote.quota;
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    return this.#inTurn(signal, async (either) => {
      this.optimistic.view.begin();
      const result = await this.remote.attempt(
        this.optimistic,
        () => operation(this.optimistic.viewFor(context)),
        either,
      );
      if (!result.ok) {
        if (this.optimistic.isLost)
          throw new StorageError('conflict', 'Another writer took the room for these changes');
        throw result.error;
      }
      const changes = this.optimistic.changes.slice(this.#published);
      this.#published = this.optimistic.changes.length;
      this.feed.publish(changes, this.optimistic.tree);
      return result.value;
    });
  }

  /** Runs operations one after another, because they share one tree. The transaction's own signal ends them too. */
  async #inTurn<R>(signal: AbortSignal | undefined, work: (signal: AbortSignal | undefined) => Promise<R>): Promise<R> {
    signal?.throwIfAborted();
    const signals = [signal, this.signal].filter((one) => one !== undefined);
    const either = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    const turn = this.#last.then(() => work(either));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async runBeside<R>(): Promise<R> {
    throw notInTransaction('rollback');
  }

  async *iterate<T>(
    context: Context,
    start: (view: View) => Cursor<T>,
    signal?: AbortSignal,
  ): AsyncIterableIterator<T> {
    yield* await this.collect(context, start, signal);
  }

  async collect<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]> {
    return this.#inTurn(signal, (either) => {
      this.optimistic.viewFor(context);
      return collectItems(itemsOf(this.optimistic, start, either));
    });
  }

  /**
   * Resolves when all operations begun inside have ended, because they belong to the transaction even if they are not
   * awaited.
   */
  async settled(): Promise<void> {
    for (let last: unknown; last !== this.#last; ) {
      last = this.#last;
      await last;
    }
  }

  async checkpoint(): Promise<Checkpoint> {
    throw notInTransaction('checkpoint');
  }
  async checkpoints(): Promise<Checkpoint[]> {
    throw notInTransaction('checkpoints');
  }
  async rollback(): Promise<void> {
    throw notInTransaction('rollback');
  }
  async drop(): Promise<void> {
    throw notInTransaction('drop');
  }
  async compare<T>(): Promise<T[]> {
    throw notInTransaction('diff');
  }
  async at(): Promise<Executor> {
    throw notInTransaction('at');
  }
  async fork(): Promise<Executor> {
    throw notInTransaction('fork');
  }
  async transaction<T>(): Promise<T> {
    throw notInTransaction('transaction');
  }
  async close(): Promise<void> {}
}
