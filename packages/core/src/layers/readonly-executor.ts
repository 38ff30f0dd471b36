import type { Context } from '../engine/context.js';
import type { Cursor } from '../engine/cursor.js';
import type { Executor, SyncExecutor } from '../engine/executor.js';
import type { View } from '../engine/view.js';
import type { Checkpoint } from '../file-system.js';
import { readOnlyError, STATE_HINTS } from './read-only-error.js';

type Which = Checkpoint | string | undefined;
type Start<T> = (view: View) => Cursor<T>;
type StartTwo<T> = (a: View, b: View) => Cursor<T>;

/** Runs operations that may not change anything; `check` throws where what is beneath has ended. */
export class ReadonlyExecutor<E extends Executor = Executor> implements Executor {
  readonly #inner: E;
  readonly #check: () => void;

  constructor(inner: E, check: () => void) {
    this.#inner = inner;
    this.#check = check;
  }

  get kind() {
    return this.#inner.kind;
  }
  get hub() {
    return this.#inner.hub;
  }
  get newId() {
    return this.#inner.newId as NonNullable<Executor['newId']>;
  }
  get capabilities() {
    return { ...this.#inner.capabilities, checkpoints: false };
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    this.#check();
    return this.#inner.run(context, operation, signal);
  }
  iterate<T>(context: Context, start: Start<T>, signal?: AbortSignal): AsyncIterableIterator<T> {
    this.#check();
    return this.#inner.iterate(context, start, signal);
  }
  async collect<T>(context: Context, start: Start<T>, signal?: AbortSignal): Promise<T[]> {
    this.#check();
    return this.#inner.collect(context, start, signal);
  }
  async checkpoint(): Promise<Checkpoint> {
    return refuse('checkpoint');
  }
  async checkpoints(signal?: AbortSignal): Promise<Checkpoint[]> {
    this.#check();
    return this.#inner.checkpoints(signal);
  }
  async rollback(): Promise<void> {
    return refuse('rollback');
  }
  async drop(): Promise<void> {
    return refuse('drop');
  }
  async compare<T>(context: Context, a: Which, b: Which, start: StartTwo<T>, signal?: AbortSignal): Promise<T[]> {
    this.#check();
    return this.#inner.compare(context, a, b, start, signal);
  }
  async fork(signal?: AbortSignal): Promise<Executor> {
    this.#check();
    return new ReadonlyExecutor(await this.#inner.fork(signal), ALWAYS);
  }
  async transaction<T>(context: Context, work: (executor: Executor) => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#check();
    return this.#inner.transaction(context, (branch) => work(new ReadonlyExecutor(branch, ALWAYS)), signal);
  }
  async close(): Promise<void> {
    await this.#inner.close();
  }
}

/** The same where everything is in memory. */
export class ReadonlySyncExecutor extends ReadonlyExecutor<SyncExecutor> implements SyncExecutor {
  readonly #inner: SyncExecutor;
  readonly #check: () => void;

  constructor(inner: SyncExecutor, check: () => void) {
    super(inner, check);
    this.#inner = inner;
    this.#check = check;
  }

  override get kind() {
    return 'sync' as const;
  }

  enter(context: Context): View {
    this.#check();
    return this.#inner.enter(context);
  }
  leave(view: View): void {
    this.#inner.leave(view);
  }
  runSync<R>(context: Context, operation: (view: View) => R): R {
    this.#check();
    return this.#inner.runSync(context, operation);
  }
  iterateSync<T>(context: Context, start: Start<T>): IterableIterator<T> {
    this.#check();
    return this.#inner.iterateSync(context, start);
  }
  checkpointSync(): Checkpoint {
    return refuse('checkpoint');
  }
  checkpointsSync(): Checkpoint[] {
    this.#check();
    return this.#inner.checkpointsSync();
  }
  rollbackSync(): void {
    refuse('rollback');
  }
  dropSync(): void {
    refuse('drop');
  }
  compareSync<T>(context: Context, a: Which, b: Which, start: StartTwo<T>): T[] {
    this.#check();
    return this.#inner.compareSync(context, a, b, start);
  }
  forkSync(): SyncExecutor {
    this.#check();
    return new ReadonlySyncExecutor(this.#inner.forkSync(), ALWAYS);
  }
  override async fork(signal?: AbortSignal): Promise<SyncExecutor> {
    signal?.throwIfAborted();
    return this.forkSync();
  }
  transactionSync<T>(work: (executor: SyncExecutor) => T): T {
    this.#check();
    return this.#inner.transactionSync((branch) => work(new ReadonlySyncExecutor(branch, ALWAYS)));
  }
  override async transaction<T>(
    context: Context,
    work: (executor: SyncExecutor) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    this.#check();
    const wrap = (branch: Executor): Promise<T> => work(new ReadonlySyncExecutor(branch as SyncExecutor, ALWAYS));
    return this.#inner.transaction(context, wrap, signal);
  }
}

const ALWAYS = (): void => {};

function refuse(call: keyof typeof STATE_HINTS): never {
  throw readOnlyError(call, undefined, undefined, STATE_HINTS[call]);
}
