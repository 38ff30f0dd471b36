import type { Metadata, NodeId, Totals } from '../../backend.js';
import { FsError, isFsError, StorageError } from '../../errors.js';
import type { Capabilities, Checkpoint } from '../../file-system.js';
import type { Limits } from '../../limits.js';
import { SharedStore, Tree, type TreeState } from '../../tree/tree.js';
import { ALL_CAPABILITIES, CHECKPOINT_CAPABILITIES } from '../capabilities.js';
import { ChangeFeed } from '../change-feed.js';
import type { Change } from '../changes.js';
import { checkpointIsReadOnly } from '../checkpoint-guard.js';
import type { Context } from '../context.js';
import type { Cursor } from '../cursor.js';
import { errorOfLimit, exceededLimit, type Limited } from '../exceeded-limit.js';
import type { SyncExecutor } from '../executor.js';
import { afterLoading } from '../function-files.js';
import type { StateCall } from '../guard.js';
import type { OpenFiles } from '../open-files.js';
import { LocalQuota } from '../quota.js';
import { isCallingOutside } from '../reentrancy.js';
import { unlessAborted } from '../scheduling/deadline.js';
import { FifoLock } from '../scheduling/fifo-lock.js';
import { collectItems, inSlices } from '../scheduling/time-slice.js';
import type { ViewSource } from '../view/view-state.js';
import { View } from '../view.js';
import { liveContents } from './live-contents.js';
import { MemoryCheckpoints } from './memory-checkpoints.js';
import { TransactionRecord } from './transaction-record.js';
import { TransactionView } from './transaction-view.js';

const MAX_ATTEMPTS = 16;

/** Runs work again until everything that it misses is loaded. */
type Again = (work: (source: ViewSource) => boolean, signal: AbortSignal | undefined) => Promise<boolean>;

/** Runs operations directly on a tree in memory. */
export class MemoryExecutor implements SyncExecutor {
  readonly kind = 'sync';
  readonly capabilities: Capabilities;
  /** Functions that return states kept outside this executor. A compaction keeps the contents of these states. */
  readonly keepers: (() => Iterable<TreeState>)[] = [];
  readonly newId: () => NodeId;
  readonly quota: LocalQuota;
  readonly #checkpoints = new MemoryCheckpoints();
  /** `busy` while a synchronous transaction runs. */
  #status: 'open' | 'busy' | 'closed' = 'open';
  /** Transactions that lost a race take turns. */
  readonly #lock = new FifoLock();
  /**
   * One view per filesystem on this tree, used again each time that `enter` begins an operation. An operation that
   * foreign code calls in the middle of another one gets a view of its own.
   */
  readonly #views = new WeakMap<Context, View>();

  constructor(
    readonly tree: Tree,
    /** Source of the nodes that an incomplete tree does not have yet. */
    readonly source?: ViewSource,
    /** Set in an asynchronous transaction. */
    readonly record?: TransactionRecord,
    readonly feed = new ChangeFeed(),
    limits?: Limits,
    /**
     * Set for the state of a checkpoint, which does not change, and for its forks: throws if the checkpoint is no
     * longer held, or the storage is closed.
     */
    readonly checkHeld?: () => void,
  ) {
    this.newId = tree.shared.newId;
    this.capabilities = checkHeld === undefined ? ALL_CAPABILITIES : CHECKPOINT_CAPABILITIES;
    this.quota = new LocalQuota(limits, () => {
      this.#checkOpen();
      this.checkFree();
    });
  }

  static create(rootMeta: Metadata): MemoryExecutor {
    return new MemoryExecutor(Tree.empty(new SharedStore(), rootMeta));
  }

  enter(context: Context): View {
    this.#checkOpen();
    if (isCallingOutside()) {
      // A guard may read the state during a synchronous transaction; `leave` refuses its changes.
      if (this.#status === 'busy') return this.viewOf(context);
      return this.#view(context, this.feed.isNeeded ? [] : undefined);
    }
    let view = this.#views.get(context);
    if (view === undefined) {
      view = this.#view(context, undefined);
      this.#views.set(context, view);
    }
    view.begin();
    this.tree.trimLocations();
    view.changes = this.feed.isNeeded ? [] : undefined;
    return view;
  }

  leave(view: View): void {
    this.checkFree();
    const { changes } = view;
    if (changes !== undefined && changes.length > 0) {
      view.changes = undefined;
      this.feed.publish(changes, this.tree);
    }
    this.compactIfDue();
  }

  /** Frees the memory of small contents that were replaced, if that is worth the work. Must be called after changes. */
  compactIfDue(): void {
    if (this.tree.shared.contents.shouldCompact()) this.#compact();
  }

  /**
   * Runs an operation that may call the filesystem again, so it gets a view of its own. If it throws, its changes are
   * undone. `source` has the missing parts of an incomplete tree; default: that of the executor.
   */
  runSync<R>(context: Context, operation: (view: View) => R, source?: ViewSource): R {
    this.#checkOpen();
    this.checkFree();
    const changes: Change[] | undefined = this.feed.isNeeded ? [] : undefined;
    const view = this.#view(context, changes, source);
    const { stamp } = this.tree;
    const result = view.atomic(() => {
      const done = operation(view);
      // The guard refuses changes by this library's operations, but a caller's operation may change the view directly.
      if (this.checkHeld !== undefined && this.tree.stamp !== stamp) throw checkpointIsReadOnly('run');
      return done;
    });
    this.leave(view);
    return result;
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    try {
      return this.runSync(context, operation);
    } catch (error) {
      return afterLoading(error, () => this.runSync(context, operation), signal);
    }
  }

  runBesideSync<R>(
    context: Context,
    which: Checkpoint | string,
    operation: (view: View, kept: View) => R,
    syscall = 'rollback',
    source?: ViewSource,
  ): R {
    const kept = this.viewOf({ ...context, guard: undefined }, which, source, syscall);
    return this.runSync(context, (view) => operation(view, kept), source);
  }

  async runBeside<R>(
    context: Context,
    which: Checkpoint | string,
    operation: (view: View, kept: View) => R,
    signal?: AbortSignal,
    syscall?: string,
  ): Promise<R> {
    signal?.throwIfAborted();
    return this.runBesideSync(context, which, operation, syscall);
  }

  *iterateSync<T>(context: Context, start: (view: View) => Cursor<T>): IterableIterator<T> {
    const cursor = start(this.viewOf(context));
    for (let item = cursor.next(); item !== undefined; item = cursor.next()) yield item;
  }

  async *iterate<T>(
    context: Context,
    start: (view: View) => Cursor<T>,
    signal?: AbortSignal,
  ): AsyncIterableIterator<T> {
    signal?.throwIfAborted();
    yield* inSlices(start(this.viewOf(context)), signal);
  }

  async collect<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]> {
    return collectItems(this.iterate(context, start, signal));
  }

  checkpointSync(context: Context, name: string | undefined): Checkpoint {
    this.#enterStates('checkpoint');
    return this.#checkpoints.create(context, name, () => this.tree.freeze());
  }

  checkpointsSync(): Checkpoint[] {
    this.#checkOpen();
    return this.#checkpoints.list();
  }

  rollbackSync(checkpoint: Checkpoint | string): void {
    this.#enterStates('rollback');
    const limit = this.restore(this.#checkpoints.get(checkpoint, 'rollback').state, this.quota.limits);
    if (limit !== undefined) throw errorOfLimit(limit, 'rollback', '/');
  }

  /**
   * Replaces the current state, or returns the limit that this would exceed.
   * @throws FsError EBUSY during a synchronous transaction
   */
  restore(state: TreeState, limits: Limits): Limited | undefined {
    this.checkFree();
    const limit = exceededLimit(this.tree.totals(), new Tree(this.tree.shared, state).totals(), limits);
    if (limit !== undefined) return limit;
    this.tree.reset(state);
    this.feed.reset();
    return undefined;
  }

  dropSync(checkpoint: Checkpoint | string): void {
    this.#enterStates('drop');
    this.#checkpoints.drop(checkpoint);
  }

  #enterStates(call: StateCall): void {
    this.#checkOpen();
    if (this.checkHeld !== undefined) throw checkpointIsReadOnly(call);
  }

  compareSync<T>(
    context: Context,
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
  ): T[] {
    const cursor = start(this.viewOf(context, a), this.viewOf(context, b));
    const items: T[] = [];
    for (let item = cursor.next(); item !== undefined; item = cursor.next()) items.push(item);
    return items;
  }

  async compare<T>(
    context: Context,
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    signal?: AbortSignal,
  ): Promise<T[]> {
    signal?.throwIfAborted();
    return collectItems(inSlices(start(this.viewOf(context, a), this.viewOf(context, b)), signal));
  }

  async checkpoint(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint> {
    signal?.throwIfAborted();
    return this.checkpointSync(context, name);
  }

  async checkpoints(signal?: AbortSignal): Promise<Checkpoint[]> {
    signal?.throwIfAborted();
    return this.checkpointsSync();
  }

  async rollback(_context: Context, checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.rollbackSync(checkpoint);
  }

  async drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.dropSync(checkpoint);
  }

  atSync(checkpoint: Checkpoint | string): MemoryExecutor {
    this.#checkOpen();
    const { state, checkpoint: held } = this.#checkpoints.get(checkpoint, 'at');
    return this.#from(state, () => {
      if (this.#status === 'closed') this.#checkOpen();
      this.#checkpoints.get(held, 'at');
    });
  }

  async at(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<MemoryExecutor> {
    signal?.throwIfAborted();
    return this.atSync(checkpoint);
  }

  forkSync(from?: Checkpoint | string): MemoryExecutor {
    this.#checkOpen();
    const state = from === undefined ? this.tree.freeze() : this.#checkpoints.get(from, 'fork').state;
    // A fork of a checkpoint's read-only filesystem is read-only too.
    return this.#from(state, this.checkHeld);
  }

  async fork(from: Checkpoint | string | undefined, signal?: AbortSignal): Promise<MemoryExecutor> {
    signal?.throwIfAborted();
    return this.forkSync(from);
  }

  /** Returns an executor of an independent tree that starts with `state`, a state of this executor's tree. */
  forkOf(state: TreeState): MemoryExecutor {
    return this.#from(state);
  }

  #from(state: TreeState, checkHeld?: () => void): MemoryExecutor {
    const tree = new Tree(this.tree.shared, state);
    return new MemoryExecutor(tree, this.source, undefined, undefined, this.quota.limits, checkHeld);
  }

  transactionSync<T>(work: (executor: SyncExecutor) => T): T {
    this.#checkOpen();
    this.checkFree();
    const { executor, changes } = this.#branch(this.tree.fork());
    this.#status = 'busy';
    let result: T;
    try {
      result = work(executor);
    } finally {
      // `work` may have closed the storage.
      if (this.#status === 'busy') this.#status = 'open';
    }
    this.#accept(executor, changes);
    return result;
  }

  /** Must be called before a direct change of the tree. @throws FsError EBUSY during a synchronous transaction */
  checkFree(): void {
    if (this.#status === 'busy') throw busy();
  }

  async transaction<T>(
    context: Context,
    work: (executor: SyncExecutor) => Promise<T>,
    signal?: AbortSignal,
    again?: Again,
  ): Promise<T> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const run = (): Promise<{ readonly result: T } | undefined> => this.#attempt(context, work, signal, again);
      const done = await (attempt === 1 ? run() : this.#lock.take(run, signal));
      if (done !== undefined) return done.result;
    }
    throw new StorageError(
      'conflict',
      `The transaction lost ${MAX_ATTEMPTS} races against other writers and was given up`,
    );
  }

  /**
   * Runs a transaction once. Returns undefined if it has to run again: something that it relied on, or a limit, was
   * changed concurrently, or its changes no longer fit.
   */
  async #attempt<T>(
    context: Context,
    work: (executor: SyncExecutor) => Promise<T>,
    signal: AbortSignal | undefined,
    again: Again | undefined,
  ): Promise<{ readonly result: T } | undefined> {
    signal?.throwIfAborted();
    this.#checkOpen();
    const { stamp } = this.tree;
    const { limits } = context.quota;
    const base = this.tree.freeze();
    const record = new TransactionRecord(base);
    const { executor, changes } = this.#branch(new Tree(this.tree.shared, base), record);
    const result = await unlessAborted(signal, work(executor));
    signal?.throwIfAborted();
    // A transaction that only read saw one state and need not run again.
    if (changes.length === 0) return { result };
    this.#checkOpen();
    if (context.quota.limits !== limits) return undefined;
    if (this.tree.stamp === stamp) {
      // Files that the transaction removed, but that are open outside, still take space.
      if (!this.#hasRoom(context, executor, changes)) return undefined;
      this.#accept(executor, changes);
      return { result };
    }
    const merge = (source?: ViewSource): boolean => this.#merge(context, record, executor.feed.files, source);
    return (again === undefined ? merge() : await again(merge, signal)) ? { result } : undefined;
  }

  #hasRoom(context: Context, branch: MemoryExecutor, changes: readonly Change[]): boolean {
    if (context.quota.limits.maxTotalSize === undefined || !this.feed.files.hasAny) return true;
    const after = this.#usedAfter(branch.tree, changes, branch.feed.files);
    return exceededLimit(usedIn(this.tree, this.feed.files), after, context.quota.limits) === undefined;
  }

  /** Returns the usage that the tree and the open files would have after the changes of a branch are published. */
  #usedAfter(tree: Tree, changes: readonly Change[], branch: OpenFiles): Totals {
    const files = this.feed.files.copy();
    files.follow(changes, tree);
    files.takeChanged(branch);
    return usedIn(tree, files);
  }

  /**
   * Applies a transaction to the current state. Returns false if that is impossible or something that it relied on has
   * changed.
   */
  #merge(context: Context, record: TransactionRecord, branch: OpenFiles, source: ViewSource | undefined): boolean {
    this.#checkOpen();
    if (!record.holds(this.tree)) return false;
    const view = this.#view({ ...context, guard: undefined }, this.feed.isNeeded ? [] : undefined, source);
    try {
      view.atomic(() => {
        const before = usedIn(this.tree, this.feed.files);
        this.tree.shared.contents.repeat(() => record.apply(view));
        const after = this.#usedAfter(this.tree, view.changes ?? [], branch);
        if (exceededLimit(before, after, context.quota.limits) !== undefined) throw new FsError('ENOSPC');
      });
    } catch (error) {
      // The transaction runs again, and throws the error if it still applies.
      if (isFsError(error)) return false;
      throw error;
    }
    this.leave(view);
    this.feed.files.takeChanged(branch);
    return true;
  }

  async close(): Promise<void> {
    this.#status = 'closed';
    this.feed.reset();
  }

  /**
   * @throws StorageError `closed`; FsError EBUSY during a synchronous transaction, except when called by foreign code
   * such as a guard; FsError ENOENT if the state's checkpoint was dropped
   */
  #checkOpen(): void {
    this.checkHeld?.();
    if (this.#status === 'open') return;
    if (this.#status === 'closed') throw new StorageError('closed', 'The storage is closed');
    if (!isCallingOutside()) throw busy();
  }

  #branch(tree: Tree, record?: TransactionRecord): { executor: MemoryExecutor; changes: Change[] } {
    // Files that are open outside are open inside too, because those without a name still take space.
    const executor = new MemoryExecutor(tree, this.source, record, new ChangeFeed(this.feed.files.copy()));
    const changes: Change[] = [];
    executor.feed.listen((more) => {
      changes.push(...more);
    });
    return { executor, changes };
  }

  #view(context: Context, changes: Change[] | undefined, source?: ViewSource): View {
    return this.#viewAt(this.tree, context, source, changes, this.feed.files);
  }

  #viewAt(tree: Tree, context: Context, source = this.source, changes?: Change[], files?: OpenFiles): View {
    const { record } = this;
    if (record === undefined) return new View(tree, context, changes, source, undefined, files);
    return new TransactionView(record, tree, context, changes, source, files);
  }

  #accept(branch: MemoryExecutor, changes: Change[]): void {
    if (changes.length === 0) return;
    if (this.checkHeld !== undefined) throw checkpointIsReadOnly('transaction');
    this.tree.reset(branch.tree.freeze());
    this.feed.publish(changes, this.tree);
    this.feed.files.takeChanged(branch.feed.files);
  }

  /** Returns a view for reading a state: that of a checkpoint, or the current one. */
  viewOf(context: Context, which?: Checkpoint | string, source?: ViewSource, syscall = 'diff'): View {
    this.#checkOpen();
    const state = which === undefined ? this.tree.freeze() : this.#checkpoints.get(which, syscall).state;
    return this.#viewAt(new Tree(this.tree.shared, state), context, source);
  }

  #compact(): void {
    const states = this.#checkpoints.states();
    for (const kept of this.keepers) states.push(...kept());
    states.push({ root: this.tree.root, inodes: this.tree.inodes, linkedSize: this.tree.linkedSize });
    this.tree.shared.contents.compact(liveContents(states));
  }
}

/** Returns the usage of a tree and of open files without a name. */
function usedIn(tree: Tree, files: OpenFiles): Totals {
  const totals = tree.totals();
  return { ...totals, size: totals.size + files.detached.size };
}

function busy(): FsError {
  const hint = 'A synchronous transaction is running: use the filesystem that its work was given';
  return new FsError('EBUSY', { hint });
}
