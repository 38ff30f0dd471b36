import { FsError } from '../errors.js';
import type { CallOptions, Checkpoint, FileSystem, SyncFileSystem } from '../file-system.js';
import { checkOptions, signalIn } from './arguments.js';
import type { Context } from './context.js';
import type { Cursor } from './cursor.js';
import type { Executor, SyncExecutor } from './executor.js';
import { notInTransaction } from './not-in-transaction.js';
import { collectItems } from './scheduling/time-slice.js';
import type { View } from './view.js';
import type { ViewFunction } from './view-function.js';

type Which = Checkpoint | string | undefined;

export interface InternalsOptions {
  readonly onClose?: (() => Promise<void>) | undefined;
  readonly inTransaction?: boolean | undefined;
  /** Makes the filesystem of a transaction. */
  readonly branch?: ((executor: Executor, context: Context, options: InternalsOptions) => FileSystem) | undefined;
  /** What runs the operations and cursors that a caller brings, where they must not have the view itself. */
  readonly forStrangers?: ((self: FileSystem) => StrangerCode) | undefined;
}

/** The methods that run what a caller brings. */
export type StrangerCode = Pick<
  SyncFileSystem,
  'run' | 'iterate' | 'compare' | 'runSync' | 'iterateSync' | 'compareSync'
>;

/**
 * The methods that run code over a view, for code of this library: operations that obey the guard. What a filesystem
 * offers under the same names is for everybody, and may give strangers less.
 */
export interface OwnCode {
  run<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A, options?: CallOptions): Promise<R>;
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T>;
  /** All items of a cursor, of one point in time on every storage. */
  collect<T>(start: (view: View) => Cursor<T>, options?: CallOptions): Promise<T[]>;
  compare<T>(a: Which, b: Which, start: (a: View, b: View) => Cursor<T>, options?: CallOptions): Promise<T[]>;
}

/** The same where the storage is synchronous. */
export interface SyncOwnCode extends OwnCode {
  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R;
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T>;
  compareSync<T>(a: Which, b: Which, start: (a: View, b: View) => Cursor<T>): T[];
}

/** What stands behind a filesystem of the engine. No property leads to it: who has only the filesystem cannot get round a layer. */
export class Internals implements SyncOwnCode {
  /** Ends with the filesystem. */
  readonly ending = new AbortController();
  #closed = false;

  constructor(
    readonly executor: Executor,
    readonly context: Context,
    readonly options: InternalsOptions,
  ) {}

  /** Why nothing can be done any more. */
  get ended(): string | undefined {
    if (!this.#closed) return undefined;
    return this.options.inTransaction === true ? 'The transaction has ended' : 'The filesystem is closed';
  }

  /** @throws FsError EBADF when closed, EINVAL for what has no meaning inside a transaction */
  enter(forbiddenInTransaction?: string): void {
    if (this.#closed) throw new FsError('EBADF', { hint: this.ended });
    if (this.options.inTransaction === true && forbiddenInTransaction !== undefined)
      throw notInTransaction(forbiddenInTransaction);
  }

  /** Says whether it was open. */
  end(): boolean {
    if (this.#closed) return false;
    this.#closed = true;
    this.ending.abort();
    return true;
  }

  /** Runs a method's operation, which checks everything before it writes. */
  do<R>(options: CallOptions | undefined, operation: (view: View) => R): R | Promise<R> {
    const signal = signalIn(options);
    if (this.executor.kind === 'async') {
      this.enter();
      return this.executor.run(this.context, operation, signal);
    }
    signal?.throwIfAborted();
    return this.change(operation);
  }

  /** The same in memory: the view for what only reads. */
  view(): View {
    if (this.#closed) this.enter();
    return (this.executor as SyncExecutor).enter(this.context);
  }

  change<R>(operation: (view: View) => R): R {
    const view = this.view();
    const result = operation(view);
    (this.executor as SyncExecutor).leave(view);
    return result;
  }

  async run<A extends readonly unknown[], R>(
    operation: ViewFunction<A, R>,
    args: A,
    options?: CallOptions,
  ): Promise<R> {
    this.enter();
    const { signal } = checkOptions(options, [], 'run');
    return this.executor.run(this.context, (view) => operation(view, ...args), signal);
  }
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T> {
    this.enter();
    const items = this.executor.iterate(this.context, start, signalIn(options));
    return this.options.inTransaction === true ? this.#whileOpen(items) : items;
  }
  async collect<T>(start: (view: View) => Cursor<T>, options?: CallOptions): Promise<T[]> {
    this.enter();
    return this.executor.collect(this.context, start, signalIn(options));
  }
  async compare<T>(a: Which, b: Which, start: (a: View, b: View) => Cursor<T>, options?: CallOptions): Promise<T[]> {
    this.enter('diff');
    return this.executor.compare(this.context, a, b, start, signalIn(options));
  }
  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R {
    this.enter();
    return (this.executor as SyncExecutor).runSync(this.context, (view) => operation(view, ...args));
  }
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T> {
    this.enter();
    const items = (this.executor as SyncExecutor).iterateSync(this.context, start);
    return this.options.inTransaction === true ? this.#whileOpenSync(items) : items;
  }
  compareSync<T>(a: Which, b: Which, start: (a: View, b: View) => Cursor<T>): T[] {
    this.enter('diff');
    return (this.executor as SyncExecutor).compareSync(this.context, a, b, start);
  }

  /** What was begun inside a transaction ends with it. */
  async *#whileOpen<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    for await (const item of items) {
      this.enter();
      yield item;
    }
  }

  *#whileOpenSync<T>(items: Iterable<T>): Generator<T, void, undefined> {
    for (const item of items) {
      this.enter();
      yield item;
    }
  }
}

const INTERNALS = new WeakMap<object, Internals>();
const OWN_CODE = new WeakMap<object, OwnCode>();

export function keepInternals(fileSystem: FileSystem, internals: Internals): Internals {
  INTERNALS.set(fileSystem, internals);
  OWN_CODE.set(fileSystem, internals);
  return internals;
}

/** Undefined for a filesystem that is not one of the engine. */
export function internalsOf(fileSystem: FileSystem): Internals | undefined {
  return INTERNALS.get(fileSystem);
}

/** For a layer that hands the code of this library on to what is beneath. */
export function keepOwnCode(fileSystem: FileSystem, code: OwnCode): void {
  OWN_CODE.set(fileSystem, code);
}

/** How code of this library runs over a filesystem; over one that is nobody's of ours, as a stranger's does. */
export function ownCode(fileSystem: SyncFileSystem): SyncOwnCode;
export function ownCode(fileSystem: FileSystem): OwnCode;
export function ownCode(fileSystem: FileSystem): OwnCode {
  return OWN_CODE.get(fileSystem) ?? new ForeignCode(fileSystem as SyncFileSystem);
}

class ForeignCode implements SyncOwnCode {
  constructor(readonly fileSystem: SyncFileSystem) {}

  run<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A, options?: CallOptions): Promise<R> {
    return this.fileSystem.run(operation, args, options);
  }
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T> {
    return this.fileSystem.iterate(start, options);
  }
  async collect<T>(start: (view: View) => Cursor<T>, options?: CallOptions): Promise<T[]> {
    return collectItems(this.iterate(start, options));
  }
  compare<T>(a: Which, b: Which, start: (a: View, b: View) => Cursor<T>, options?: CallOptions): Promise<T[]> {
    return this.fileSystem.compare(a, b, start, options);
  }
  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R {
    return this.fileSystem.runSync(operation, args);
  }
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T> {
    return this.fileSystem.iterateSync(start);
  }
  compareSync<T>(a: Which, b: Which, start: (a: View, b: View) => Cursor<T>): T[] {
    return this.fileSystem.compareSync(a, b, start);
  }
}
