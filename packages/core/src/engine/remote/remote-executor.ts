import type { Backend, BackendCall, Batch, Check, Version } from '../../backend.js';
import { FsError, isFsError, isStorageError, StorageError } from '../../errors.js';
import type { Capabilities, Checkpoint } from '../../file-system.js';
import type { Limits } from '../../limits.js';
import { SharedStore } from '../../tree/tree.js';
import { checkInteger, checkOptions } from '../arguments.js';
import { ChangeFeed } from '../change-feed.js';
import { checkpointIsReadOnly } from '../checkpoint-guard.js';
import type { Context } from '../context.js';
import type { Cursor } from '../cursor.js';
import { randomId, systemRandom } from '../defaults.js';
import type { Executor } from '../executor.js';
import type { StateCall } from '../guard.js';
import { OpenFiles } from '../open-files.js';
import { systemTimer, type Timer, unlessAborted } from '../scheduling/deadline.js';
import { collectItems, runInSlices, type Steps } from '../scheduling/time-slice.js';
import { type Need, NotLoaded } from '../source.js';
import type { View } from '../view.js';
import type { Attempted } from './attempted.js';
import { BackendClient } from './backend-client.js';
import { coarsePreconditions, dedupe } from './coarse-preconditions.js';
import { limitErrorFor } from './limit-error-for.js';
import type { Use } from './node-cache.js';
import { NodeLoader } from './node-loader.js';
import { type Mark, OptimisticTransaction } from './optimistic-transaction.js';
import { MAX_LINEAR_CHECKS, preconditionsOf, preconditionsOfFew } from './preconditions.js';
import { cannotFork, RemoteCheckpoints } from './remote-checkpoints.js';
import { beginWalk, bothSides, exactStepsOf, restOf, stepsOf, widen } from './remote-cursors.js';
import { RemoteQuota } from './remote-quota.js';
import { RemoteTransaction } from './remote-transaction.js';

export interface RemoteOptions {
  /** Milliseconds after which a request without a response fails. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries of a request after temporary failures. Default 3. */
  readonly retries?: number | undefined;
  /** Returns epoch milliseconds. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
  /** Returns a whole number from 0 to `below` - 1, for ids and pauses. Default: the platform's random numbers. */
  readonly random?: ((below: number) => number) | undefined;
  /** Timers for deadlines and pauses. Default: the system's timers. */
  readonly timer?: Timer | undefined;
}

interface Changed<R> {
  readonly value: R;
  /** Version of everything that the operation wrote; undefined if it wrote nothing. */
  readonly version: Version | undefined;
}

/** Result of an accepted commit. */
interface Settled {
  /** Version of everything written; undefined if nothing was. */
  readonly version: Version | undefined;
}

/** Outcome of one run of an operation: its value or error, or the data to load before it can run again. */
type Tried<R> = Attempted<R> | NotLoaded | Promise<Attempted<R> | NotLoaded>;

interface AttemptOptions {
  readonly asked?: (need: Need) => Need;
  readonly kept?: OptimisticTransaction | undefined;
  readonly mayBeOld?: boolean;
}

/** Maximum number of runs of one operation against concurrent writers. */
const MAX_ATTEMPTS = 64;
/** Maximum number of runs of one transaction, which takes longer, against concurrent writers. */
const MAX_TRANSACTIONS = 16;
/** Number of writes from which on a batch is applied to the cache in slices. */
const MANY_WRITES = 256;
/** Maximum number of loads per run. If data is still missing after them, the storage does not return what is asked. */
const MAX_LOADS = 10_000;

/**
 * Runs operations over a remote backend. An operation runs on a sparse tree. If it reads something that is not loaded,
 * the missing data is loaded and the operation runs again. Then its writes are sent as one batch, with everything that
 * it relied on as preconditions. On a conflict it starts again. An operation that only read needs no confirmation if
 * everything it used came from one load after its start.
 */
export class RemoteExecutor implements Executor {
  readonly kind = 'async';
  readonly feed: ChangeFeed;
  readonly capabilities: Capabilities;
  readonly quota: RemoteQuota;
  readonly #backend: Backend;
  readonly #options: RemoteOptions;
  readonly #client: BackendClient;
  readonly #checkpoints: RemoteCheckpoints;
  readonly #shared: SharedStore;
  readonly #current: NodeLoader;

  /** @param limits known limits, for a fork or the state of a checkpoint */
  constructor(backend: Backend, options: RemoteOptions = {}, limits?: Limits) {
    const given = checkOptions(options, ['timeoutMs', 'retries', 'clock', 'random', 'timer'], 'asyncStorage');
    const random = given.random ?? systemRandom;
    this.#backend = backend;
    this.#options = options;
    const { checkpoints, forks, sharedWatch, transactions = true, writes = true } = backend.capabilities;
    this.capabilities = Object.freeze({
      checkpoints,
      rollback: checkpoints,
      at: checkpoints,
      diff: checkpoints,
      restore: transactions && writes,
      transactions,
      forks,
      sharedWatch,
      writes,
    });
    this.feed = new ChangeFeed(
      new OpenFiles({ remembersLinks: true }),
      sharedWatch ? backend.watch?.bind(backend) : undefined,
    );
    this.#client = new BackendClient(backend, {
      timer: given.timer ?? systemTimer,
      timeoutMs: given.timeoutMs === undefined ? 30_000 : checkInteger(given.timeoutMs, 'timeoutMs', 1),
      retries: given.retries === undefined ? 3 : checkInteger(given.retries, 'retries'),
      random,
    });
    this.quota = new RemoteQuota(backend.limitStore, this.#client, limits);
    this.#checkpoints = new RemoteCheckpoints(backend, this.#client, this.quota);
    this.#shared = new SharedStore(() => randomId(random));
    this.#current = new NodeLoader(this.#shared, this.feed.files, (requests, { signal, mayBeOld }) =>
      this.#client.retrying(signal, (call) =>
        backend.load(requests, mayBeOld === true ? { signal: call.signal, mayBeOld } : call),
      ),
    );
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    return (await this.#change(context, operation, signal)).value;
  }

  /**
   * Runs an operation, and returns its result with the version of everything that it wrote; undefined if it wrote
   * nothing.
   */
  change<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<Changed<R>> {
    return this.#change(context, operation, signal);
  }

  /** {@link change} for a long operation, in slices. */
  changeInSlices<R>(context: Context, operation: (view: View) => Steps<R>, signal?: AbortSignal): Promise<Changed<R>> {
    return this.#change(context, (view) => runInSlices(operation(view), signal), signal);
  }

  async #change<R>(
    context: Context,
    operation: (view: View) => R | Promise<R>,
    signal: AbortSignal | undefined,
    kept?: OptimisticTransaction,
  ): Promise<Changed<R>> {
    signal?.throwIfAborted();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const transaction = new OptimisticTransaction(this.#current, context, 'single');
      // A backend with pinned reads returns old states consistently, so lookups of write targets may be old.
      const mayBeOld = attempt === 0 && this.#backend.pinRead !== undefined && !this.#backend.hasCostlyPins;
      const begun = this.attempt(transaction, () => operation(transaction.view), signal, { kept, mayBeOld });
      const result = begun instanceof Promise ? await begun : begun;
      if (!result.ok && transaction.hasOld) {
        // The failure must have been true in some state since the start. Preconditions confirm the entries that were
        // found, but not all that were missing.
        this.#current.cache.clear();
        continue;
      }
      const settled = await this.#settle(transaction, attempt, signal);
      if (settled !== undefined) {
        if (result.ok) return { value: result.value, version: settled.version };
        throw result.error;
      }
      await this.#client.pause(attempt, signal);
    }
    throw gaveUp(MAX_ATTEMPTS);
  }

  async runBeside<R>(
    context: Context,
    which: Checkpoint | string,
    operation: (view: View, kept: View) => R,
    signal?: AbortSignal,
    syscall = 'rollback',
  ): Promise<R> {
    signal?.throwIfAborted();
    const kept = await this.#kept(which, { ...context, guard: undefined }, syscall, signal);
    await kept.open(signal);
    return (await this.#change(context, (view) => operation(view, kept.view), signal, kept)).value;
  }

  /**
   * Runs code over a transaction's view until no data is missing. `asked` changes the load requests, `kept` is another
   * state that the code reads, and with `mayBeOld` write targets may be looked up in an older state. A failed run
   * leaves only its preconditions.
   */
  attempt<R>(
    transaction: OptimisticTransaction,
    work: () => R | Promise<R>,
    signal?: AbortSignal,
    options: AttemptOptions = {},
  ): Attempted<R> | Promise<Attempted<R>> {
    const tried = tryOnce(transaction, work);
    // Usually everything is cached, so no promise is needed.
    return tried instanceof NotLoaded || tried instanceof Promise
      ? this.#tryOn(transaction, work, tried, signal, options)
      : tried;
  }

  async #tryOn<R>(
    transaction: OptimisticTransaction,
    work: () => R | Promise<R>,
    begun: Tried<R>,
    signal: AbortSignal | undefined,
    { asked = (need) => need, kept, mayBeOld = false }: AttemptOptions,
  ): Promise<Attempted<R>> {
    // Raises the size limits of the caches if loaded data is evicted before the work ends.
    const uses: Use[] = [];
    let next = begun;
    try {
      for (let loads = 0; loads < MAX_LOADS; loads++) {
        const tried = await next;
        if (!(tried instanceof NotLoaded)) return tried;
        if (uses.length === 0)
          for (const one of [transaction, kept]) if (one !== undefined) uses.push(one.loader.cache.use());
        for (const use of uses) use.goOn();
        if (kept !== undefined && tried.source === kept) {
          await kept.loader.load(tried.needs, signal);
          kept.checkProgress(tried.needs);
          if (transaction.use === 'single') transaction.restart();
        } else if (transaction.use === 'single') {
          await transaction.loadToRestart(tried.needs.map(asked), mayBeOld, signal);
        } else {
          await transaction.loader.load(transaction.withListings(tried.needs), signal);
          transaction.checkProgress(tried.needs);
        }
        next = tryOnce(transaction, work);
      }
    } finally {
      for (const use of uses) use.end();
    }
    throw new StorageError('corrupt', 'The storage keeps returning other nodes than were requested');
  }

  /**
   * Commits what a transaction wrote, or confirms what it read. Returns undefined if a precondition or a limit no
   * longer holds, so that the operation must run again.
   */
  async #settle(
    transaction: OptimisticTransaction,
    attempt: number,
    signal?: AbortSignal,
    branch?: OpenFiles,
  ): Promise<Settled | undefined> {
    const { checks, writes } = transaction.recorder;
    const { limits } = transaction;
    if (writes.length === 0) {
      if (transaction.hasMetLimit && (await this.quota.areOthers(limits, signal))) return undefined;
      if (transaction.isFromOneState) return { version: undefined };
    }
    const { cache } = transaction.loader;
    const batchOf = (checks: readonly Check[]): Batch => ({
      operationId: this.#client.newOperationId(),
      checks,
      writes,
      limits,
      changes: transaction.changes,
      ...(this.#isJournaled(transaction.context) && { journaled: true }),
    });
    let needed: readonly Check[];
    if (checks.length <= MAX_LINEAR_CHECKS) needed = preconditionsOfFew(checks);
    else {
      const once = await runInSlices(dedupe(checks), signal);
      const coarser = writes.length > 0 ? undefined : await runInSlices(coarsePreconditions(once, cache), signal);
      if (coarser !== undefined && (await this.#client.commit(batchOf(coarser), signal)).kind === 'ok')
        return { version: undefined };
      needed = await runInSlices(preconditionsOf(once), signal);
    }
    const batch = batchOf(needed);
    const result = await this.#client.commit(batch, signal);
    if (result.kind === 'other-limits') {
      this.quota.learn(result.limits);
      return undefined;
    }
    if (result.kind === 'limit') {
      if (await this.quota.areOthers(limits, signal)) return undefined;
      if (attempt > 1) throw limitErrorFor(result, writes);
      // The usage that the work has seen was old: a conflict of the first run leaves it in the cache. The work runs again
      // on the current usage, to fail where it exceeds the limit.
      cache.clear();
      return undefined;
    }
    if (result.kind === 'conflict') {
      // A backend may report only some of the failed preconditions, so the second conflict clears the whole cache.
      const failed = attempt === 0 ? result.checks.flatMap((at) => batch.checks[at] ?? []) : [];
      if (failed.length > 0) cache.forget(failed);
      else cache.clear();
      return undefined;
    }
    // Published before anything else is awaited, so that changes are reported in the order in which their commits
    // returned.
    if (transaction.changes.length > 0) this.feed.publish(transaction.changes, transaction.tree);
    if (branch !== undefined) this.feed.files.takeChanged(branch);
    if (writes.length > 0) {
      if (transaction.use === 'still') this.#current.cache.clear();
      else if (writes.length < MANY_WRITES) cache.apply(writes, result.version, checks);
      else await runInSlices(cache.applySteps(writes, result.version, checks), undefined);
    }
    return { version: writes.length > 0 ? result.version : undefined };
  }

  /**
   * Iterates a cursor. The walk starts with an empty cache, so that everything it shows is at least as new as its
   * start. The path to its first directory is confirmed like an operation's; the first directory's data is from the
   * same point in time.
   */
  async *iterate<T>(
    context: Context,
    start: (view: View) => Cursor<T>,
    signal?: AbortSignal,
  ): AsyncIterableIterator<T> {
    signal?.throwIfAborted();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const transaction = new OptimisticTransaction(this.#current.fresh(), context, 'single');
      const begun = await this.attempt(transaction, () => beginWalk(transaction, start), signal, { asked: widen });
      if ((await this.#settle(transaction, attempt, signal)) !== undefined) {
        if (!begun.ok) throw begun.error;
        yield* restOf(transaction, begun.value, signal);
        return;
      }
      await this.#client.pause(attempt, signal);
    }
    throw gaveUp(MAX_ATTEMPTS);
  }

  async collect<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]> {
    return this.#confirmed(
      (hasLost) => this.#open(context, this.#current, hasLost, signal),
      (transaction) => stepsOf(transaction, start, signal),
      signal,
    );
  }

  /**
   * {@link collect} for a cursor that reads nearly everything: it starts with an empty cache, and only what the cursor
   * requests is loaded.
   */
  async collectAnew<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]> {
    return this.#confirmed(
      (hasLost) => this.#open(context, this.#current.fresh(), hasLost, signal),
      (transaction) => exactStepsOf(transaction, start, signal),
      signal,
    );
  }

  /** Reads a walk to its end, again if another writer interfered, so that all items are from one point in time. */
  async #confirmed<T>(
    open: (hasLost: boolean) => Promise<OptimisticTransaction>,
    walk: (transaction: OptimisticTransaction) => AsyncIterable<T>,
    signal: AbortSignal | undefined,
  ): Promise<T[]> {
    signal?.throwIfAborted();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const transaction = await open(attempt > 0);
      try {
        const items = collectItems(walk(transaction));
        // An error may come from outdated data, so what led to it is confirmed too.
        await items.catch((error: unknown) => {
          if (isStorageError(error)) throw error;
        });
        if ((await this.#settle(transaction, attempt, signal)) !== undefined) return await items;
      } catch (error) {
        if (!isStorageError(error, 'conflict')) throw error;
        transaction.loader.cache.clear();
      } finally {
        transaction.release();
      }
      await this.#client.pause(attempt, signal);
    }
    throw gaveUp(MAX_ATTEMPTS);
  }

  async compare<T>(
    context: Context,
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    signal?: AbortSignal,
  ): Promise<T[]> {
    signal?.throwIfAborted();
    const [before, after] = await Promise.all(
      [a, b].map((which) => (which === undefined ? undefined : this.#kept(which, context, 'diff', signal))),
    );
    const walk = (current: OptimisticTransaction): AsyncIterable<T> =>
      bothSides(before ?? current, after ?? current, start, signal);
    const isKept = before !== undefined && after !== undefined;
    const open = async (hasLost: boolean): Promise<OptimisticTransaction> =>
      isKept ? new OptimisticTransaction(this.#current, context) : this.#open(context, this.#current, hasLost, signal);
    return this.#confirmed(open, walk, signal);
  }

  /**
   * Opens an optimistic transaction for work that loads several times: from a pinned read if the backend has pinned
   * reads, so that concurrent writers do not invalidate it; otherwise from the current state. A costly pin is taken
   * only after the work has lost a race. The caller releases the transaction.
   */
  async #open(
    context: Context,
    loader: NodeLoader,
    hasLost: boolean,
    signal: AbortSignal | undefined,
  ): Promise<OptimisticTransaction> {
    const { pinRead, hasCostlyPins } = this.#backend;
    if (pinRead === undefined || (hasCostlyPins === true && !hasLost))
      return new OptimisticTransaction(loader, context);
    const now = await this.#client.retrying(signal, (call) => pinRead.call(this.#backend, call));
    const still = new NodeLoader(this.#shared, this.feed.files, async (requests, { signal }) => {
      try {
        return await this.#client.retrying(signal, (call) => now.load(requests, call));
      } catch (error) {
        transaction.isLost ||= isStorageError(error, 'conflict');
        throw error;
      }
    });
    const transaction = new OptimisticTransaction(still, context, 'still', () => now.release?.());
    return transaction;
  }

  /** Returns a transaction that reads a checkpoint. A checkpoint never changes, so its data needs no confirmation. */
  async #kept(
    which: Checkpoint | string,
    context: Context,
    syscall: string,
    signal: AbortSignal | undefined,
  ): Promise<OptimisticTransaction> {
    const loader = new NodeLoader(
      this.#shared,
      new OpenFiles(),
      await this.#checkpoints.loaderOf(which, syscall, signal),
    );
    return new OptimisticTransaction(loader, context);
  }

  async checkpoint(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint> {
    this.#enterStates('checkpoint');
    return this.#checkpoints.create(context, name, signal);
  }

  async checkpoints(signal?: AbortSignal): Promise<Checkpoint[]> {
    return this.#checkpoints.list(signal);
  }

  async rollback(_context: Context, checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    this.#enterStates('rollback');
    await this.#checkpoints.restore(checkpoint, signal);
    this.#current.cache.clear();
    this.feed.reset();
  }

  async drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    this.#enterStates('drop');
    await this.#checkpoints.drop(checkpoint, signal);
  }

  #enterStates(call: StateCall): void {
    if (!this.capabilities.writes) throw checkpointIsReadOnly(call);
  }

  async at(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<RemoteExecutor> {
    const backend = await this.#checkpoints.backendOf(checkpoint, 'at', signal);
    const executor = new RemoteExecutor(backend, this.#options, this.quota.limits);
    // Reports a checkpoint that does not exist.
    await executor.#current.loadRoot(signal);
    return executor;
  }

  async fork(from: Checkpoint | string | undefined, signal?: AbortSignal): Promise<RemoteExecutor> {
    const forks: Promise<Backend>[] = [];
    const begin = await this.#forkOf(from, signal);
    // A fork may have no stored limits of its own, so it starts with what its parent has stored.
    const limits = await this.quota.latest(signal);
    const begun = (call: BackendCall): Promise<Backend> => {
      const one = begin(call);
      forks.push(one);
      return one;
    };
    try {
      return new RemoteExecutor(await this.#client.once(signal, begun), this.#options, limits);
    } catch (error) {
      // A fork that arrives after the call has failed is closed.
      for (const one of forks) void one.then((backend) => backend.close()).catch(() => {});
      throw error;
    }
  }

  /** Returns the backend's method that forks the current state, or that of a checkpoint. */
  async #forkOf(
    from: Checkpoint | string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<(call: BackendCall) => Promise<Backend>> {
    if (from !== undefined) return this.#checkpoints.forkOf(from, signal);
    const { fork } = this.#backend;
    if (fork === undefined) throw cannotFork('restore a snapshot into another one');
    return (call) => fork.call(this.#backend, call);
  }

  async transaction<T>(context: Context, work: (executor: Executor) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.capabilities.transactions && !this.#isJournaled(context))
      throw new FsError('ENOTSUP', {
        syscall: 'transaction',
        hint: 'This storage has no transactions; use an overlay',
      });
    // A costly pin is taken after a lost race if the work wrote nothing, or its state could not be read completely.
    let isPinned = false;
    for (let attempt = 0; attempt < MAX_TRANSACTIONS; attempt++) {
      signal?.throwIfAborted();
      const optimistic = await this.#open(context, this.#current, isPinned, signal);
      const branch = new RemoteTransaction(this, optimistic, signal);
      try {
        const begun = optimistic
          .open(signal)
          .then(() => work(branch))
          .finally(() => branch.settled());
        const outcome = await unlessAborted(signal, begun).then(
          (value) => ({ ok: true as const, value }),
          (error: unknown) => ({ ok: false as const, error }),
        );
        if (!outcome.ok) {
          // The failure may come from reading two states. If its preconditions fail, the work runs again.
          optimistic.recorder.writes.length = 0;
          optimistic.changes.length = 0;
        }
        signal?.throwIfAborted();
        const files = outcome.ok ? branch.feed.files : undefined;
        if (optimistic.isLost) optimistic.loader.cache.clear();
        else if ((await this.#settle(optimistic, attempt, signal, files)) !== undefined) {
          if (outcome.ok) return outcome.value;
          throw outcome.error;
        }
      } finally {
        optimistic.release();
      }
      isPinned = optimistic.isLost || optimistic.recorder.writes.length === 0;
      await this.#client.pause(attempt, signal);
    }
    throw gaveUp(MAX_TRANSACTIONS);
  }

  #isJournaled({ inSteps = false }: Context): boolean {
    return inSteps && this.#backend.capabilities.journaled === true;
  }

  async destroy(signal?: AbortSignal): Promise<void> {
    const { destroy } = this.#backend;
    if (destroy === undefined) throw new StorageError('unsupported', 'This storage cannot delete its filesystem');
    await this.#client.repeated(signal, (call) => destroy.call(this.#backend, call));
  }

  async close(): Promise<void> {
    await this.#backend.close();
  }
}

function tryOnce<R>(transaction: OptimisticTransaction, work: () => R | Promise<R>): Tried<R> {
  const mark = transaction.mark();
  try {
    const value = work();
    if (!(value instanceof Promise)) return { ok: true, value };
    return value.then(
      (value) => ({ ok: true, value }),
      (error: unknown) => failed(transaction, mark, error),
    );
  } catch (error) {
    return failed(transaction, mark, error);
  }
}

function failed(
  transaction: OptimisticTransaction,
  mark: Mark,
  error: unknown,
): { readonly ok: false; readonly error: unknown } | NotLoaded {
  if (isFsError(error) && error.limit !== undefined) transaction.meetLimit();
  transaction.undo(mark, error instanceof NotLoaded);
  return error instanceof NotLoaded ? error : { ok: false, error };
}

function gaveUp(attempts: number): StorageError {
  return new StorageError('conflict', `The operation lost ${attempts} races against other writers and was given up`);
}
