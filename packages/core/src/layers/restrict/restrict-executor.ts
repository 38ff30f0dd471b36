import { checkpointIsReadOnly } from '../../engine/checkpoint-guard.js';
import type { Context } from '../../engine/context.js';
import type { Cursor } from '../../engine/cursor.js';
import type { Executor, SyncExecutor } from '../../engine/executor.js';
import type { Guard, StateCall } from '../../engine/guard.js';
import type { View } from '../../engine/view.js';
import { noCheckpoint } from '../../engine/wanted-checkpoint.js';
import type { Checkpoint } from '../../file-system.js';
import type { GuardChain } from './guard-chain.js';
import { restrictedCapabilities } from './restricted-capabilities.js';

type Which = Checkpoint | string | undefined;
type Start<T> = (view: View) => Cursor<T>;
type Beside<R> = (view: View, kept: View) => R;
type StartTwo<T> = (a: View, b: View) => Cursor<T>;

/** The guards that a {@link RestrictExecutor} applies. */
export interface Restriction {
  /** The guard that this executor asks about operations on the state as a whole; lower executors ask their own. */
  readonly guard: Guard;
  /** Every guard of the context, those of lower layers included. */
  readonly all: GuardChain;
  /** The context with all guards. */
  readonly context: Context;
}

/**
 * Runs operations whose context asks the guards, and restricts operations on the state as a whole. The synchronous
 * methods work only if the lower executor is synchronous.
 */
export class RestrictExecutor {
  readonly #inner: SyncExecutor;
  readonly #restriction: Restriction;
  /** Throws if the lower filesystem has ended. */
  readonly #enter: () => void;
  /** Ids of the checkpoints made through the restricted filesystem. */
  readonly #own = new Set<string>();

  private constructor(inner: Executor, restriction: Restriction, enter: () => void) {
    this.#inner = inner as SyncExecutor;
    this.#restriction = restriction;
    this.#enter = enter;
  }

  static over(inner: Executor, restriction: Restriction, enter: () => void = () => {}): SyncExecutor {
    return new RestrictExecutor(inner, restriction, enter) as RestrictExecutor & { readonly kind: 'sync' };
  }

  get kind(): Executor['kind'] {
    return this.#inner.kind;
  }
  get feed() {
    return this.#inner.feed;
  }
  get quota() {
    return this.#inner.quota;
  }
  get newId() {
    return this.#inner.newId as NonNullable<Executor['newId']>;
  }
  get capabilities() {
    return restrictedCapabilities(this.#inner.capabilities, this.#all);
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    this.#enter();
    return this.#inner.run(context, operation, signal);
  }
  async runBeside<R>(
    context: Context,
    which: Checkpoint | string,
    operation: Beside<R>,
    signal?: AbortSignal,
    syscall = 'rollback',
  ): Promise<R> {
    this.#enter();
    if (this.#all.hides) this.#requireSeen([which], syscall, await this.#inner.checkpoints(signal));
    return this.#inner.runBeside(context, which, operation, signal, syscall);
  }
  iterate<T>(context: Context, start: Start<T>, signal?: AbortSignal): AsyncIterableIterator<T> {
    this.#enter();
    return this.#inner.iterate(context, start, signal);
  }
  async collect<T>(context: Context, start: Start<T>, signal?: AbortSignal): Promise<T[]> {
    this.#enter();
    return this.#inner.collect(context, start, signal);
  }
  async compare<T>(context: Context, a: Which, b: Which, start: StartTwo<T>, signal?: AbortSignal): Promise<T[]> {
    this.#enter();
    if (this.#all.hides) this.#requireSeen([a, b], 'diff', await this.#inner.checkpoints(signal));
    return this.#inner.compare(context, a, b, start, signal);
  }
  async checkpoint(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint> {
    this.#call('checkpoint');
    const checkpoint = await this.#inner.checkpoint(context, name, signal);
    this.#own.add(checkpoint.id);
    return checkpoint;
  }
  async checkpoints(signal?: AbortSignal): Promise<Checkpoint[]> {
    this.#enter();
    return this.#seen(await this.#inner.checkpoints(signal));
  }
  async rollback(context: Context, checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    this.#call('rollback');
    if (this.#all.isFree()) return this.#inner.rollback(context, checkpoint, signal);
    await this.runBeside(context, checkpoint, this.#back, signal);
  }
  async drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    this.#call('drop');
    if (!this.#all.isFree()) this.#requireOwn(checkpoint, await this.#inner.checkpoints(signal));
    await this.#inner.drop(checkpoint, signal);
  }
  async at(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<SyncExecutor> {
    this.#enter();
    if (this.#all.hides) this.#requireSeen([checkpoint], 'at', await this.#inner.checkpoints(signal));
    return RestrictExecutor.over(await this.#inner.at(checkpoint, signal), this.#restriction);
  }
  async fork(from: Which, signal?: AbortSignal): Promise<SyncExecutor> {
    this.#enter();
    if (this.#all.hides && from !== undefined) this.#requireSeen([from], 'fork', await this.#inner.checkpoints(signal));
    return RestrictExecutor.over(await this.#inner.fork(from, signal), this.#restriction);
  }
  async transaction<T>(
    context: Context,
    work: (executor: SyncExecutor) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    this.#enter();
    const inside = (branch: Executor): Promise<T> => work(RestrictExecutor.over(branch, this.#restriction));
    return this.#inner.transaction(context, inside, signal);
  }
  async close(): Promise<void> {
    await this.#inner.close();
  }

  enter(context: Context): View {
    this.#enter();
    return this.#inner.enter(context);
  }
  leave(view: View): void {
    this.#inner.leave(view);
  }
  runSync<R>(context: Context, operation: (view: View) => R): R {
    this.#enter();
    return this.#inner.runSync(context, operation);
  }
  runBesideSync<R>(context: Context, which: Checkpoint | string, operation: Beside<R>, syscall = 'rollback'): R {
    this.#enter();
    if (this.#all.hides) this.#requireSeen([which], syscall, this.#inner.checkpointsSync());
    return this.#inner.runBesideSync(context, which, operation, syscall);
  }
  iterateSync<T>(context: Context, start: Start<T>): IterableIterator<T> {
    this.#enter();
    return this.#inner.iterateSync(context, start);
  }
  compareSync<T>(context: Context, a: Which, b: Which, start: StartTwo<T>): T[] {
    this.#enter();
    if (this.#all.hides) this.#requireSeen([a, b], 'diff', this.#inner.checkpointsSync());
    return this.#inner.compareSync(context, a, b, start);
  }
  checkpointSync(context: Context, name: string | undefined): Checkpoint {
    this.#call('checkpoint');
    const checkpoint = this.#inner.checkpointSync(context, name);
    this.#own.add(checkpoint.id);
    return checkpoint;
  }
  checkpointsSync(): Checkpoint[] {
    this.#enter();
    return this.#seen(this.#inner.checkpointsSync());
  }
  rollbackSync(checkpoint: Checkpoint | string): void {
    this.#call('rollback');
    if (this.#all.isFree()) {
      this.#inner.rollbackSync(checkpoint);
      return;
    }
    this.runBesideSync(this.#restriction.context, checkpoint, this.#back);
  }
  dropSync(checkpoint: Checkpoint | string): void {
    this.#call('drop');
    if (!this.#all.isFree()) this.#requireOwn(checkpoint, this.#inner.checkpointsSync());
    this.#inner.dropSync(checkpoint);
  }
  atSync(checkpoint: Checkpoint | string): SyncExecutor {
    this.#enter();
    if (this.#all.hides) this.#requireSeen([checkpoint], 'at', this.#inner.checkpointsSync());
    return RestrictExecutor.over(this.#inner.atSync(checkpoint), this.#restriction);
  }
  forkSync(from?: Checkpoint | string): SyncExecutor {
    this.#enter();
    if (this.#all.hides && from !== undefined) this.#requireSeen([from], 'fork', this.#inner.checkpointsSync());
    return RestrictExecutor.over(this.#inner.forkSync(from), this.#restriction);
  }
  transactionSync<T>(work: (executor: SyncExecutor) => T): T {
    this.#enter();
    return this.#inner.transactionSync((branch) => work(RestrictExecutor.over(branch, this.#restriction)));
  }

  get #all(): GuardChain {
    return this.#restriction.all;
  }

  #call(call: StateCall): void {
    this.#enter();
    try {
      this.#restriction.guard.checkState?.(call);
    } catch (error) {
      throw this.#all.keep(error);
    }
    if (!this.#inner.capabilities.writes) throw checkpointIsReadOnly(call);
  }

  readonly #back = (view: View, kept: View): void => this.#all.restore(view, kept, 'rollback', false);

  /** If anything is hidden, leaves out checkpoints that were not made here, because their names could reveal it. */
  #seen(checkpoints: Checkpoint[]): Checkpoint[] {
    return this.#all.hides ? checkpoints.filter(({ id }) => this.#own.has(id)) : checkpoints;
  }

  #requireSeen(asked: readonly Which[], syscall: string, checkpoints: Checkpoint[]): void {
    for (const which of asked) {
      if (which === undefined) continue;
      const wanted = typeof which === 'string' ? which : which?.id;
      const known = checkpoints.find(({ id, name }) => id === wanted || (which === wanted && name === wanted));
      if (known === undefined || !this.#own.has(known.id)) throw noCheckpoint(syscall, String(wanted));
    }
  }

  #requireOwn(checkpoint: Checkpoint | string, checkpoints: Checkpoint[]): void {
    this.#requireSeen([checkpoint], 'drop', checkpoints);
  }
}
