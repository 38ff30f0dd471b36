import { FsError } from '../errors.js';
import type { CallOptions, Checkpoint, Content, FileSystem, SyncFileSystem } from '../file-system.js';
import { type Limits, parseLimits } from '../limits.js';
import { captureArgument, captureContent, checkOptions, signalIn } from './arguments.js';
import type { Context } from './context.js';
import type { Cursor } from './cursor.js';
import type { Executor, SyncExecutor } from './executor.js';
import { afterLoading, isLoading } from './function-files.js';
import { notInTransaction } from './not-in-transaction.js';
import { fixedLimits } from './quota.js';
import type { RestoredPaths } from './restore/restore-allowed.js';
import { collectItems } from './scheduling/time-slice.js';
import type { View } from './view.js';
import type { ViewFunction } from './view-function.js';

type Which = Checkpoint | string | undefined;

export interface InternalsOptions {
  readonly onClose?: (() => Promise<void>) | undefined;
  readonly inTransaction?: boolean | undefined;
  /**
   * Allows `setLimits`. Default false, as for a layer or a transaction, which works under the limits of another
   * filesystem.
   */
  readonly setsLimits?: boolean | undefined;
  /** Creates the filesystems of transactions, forks and checkpoints. */
  readonly create?: ((executor: Executor, context: Context, options: InternalsOptions) => FileSystem) | undefined;
  /** Returns the methods that run a caller's operations and cursors, if those must not get the view itself. */
  readonly untrustedApi?: ((self: FileSystem) => UntrustedApi) | undefined;
}

/** The methods that run a caller's code. */
export type UntrustedApi = Pick<
  SyncFileSystem,
  'run' | 'iterate' | 'compare' | 'runSync' | 'iterateSync' | 'compareSync'
>;

/**
 * The methods that run this library's code over a view: operations that obey the guard. The public methods of the same
 * names are for everyone and may be more restricted.
 */
export interface TrustedApi {
  run<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A, options?: CallOptions): Promise<R>;
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T>;
  /** Returns all items of a cursor. On the engine's own filesystems they are of one point in time. */
  collect<T>(start: (view: View) => Cursor<T>, options?: CallOptions): Promise<T[]>;
  compare<T>(a: Which, b: Which, start: TrustedStart<T>, options?: CallOptions): Promise<T[]>;
  /**
   * Runs an operation on a path, with a second view that shows a checkpoint without guards. If it is absent, this
   * filesystem cannot restore a single path.
   */
  runBeside?: RunBeside;
}

type RunBeside = (
  which: Checkpoint | string,
  path: string,
  operation: BesideOperation,
  options?: CallOptions,
) => Promise<RestoredPaths>;

/** An operation that restores a path from a checkpoint. */
export type BesideOperation = (view: View, kept: View, path: string) => RestoredPaths;

/**
 * Starts a cursor over two states. `outer` translates a path of the views into a path of the filesystem that the caller
 * has, and returns undefined for a path that is hidden there with everything under it. Default: the same path.
 */
export type TrustedStart<T> = (a: View, b: View, outer?: (path: string) => string | undefined) => Cursor<T>;

/** {@link TrustedApi} with synchronous methods too. */
export interface SyncTrustedApi extends TrustedApi {
  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R;
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T>;
  compareSync<T>(a: Which, b: Which, start: TrustedStart<T>): T[];
  runBesideSync?(which: Checkpoint | string, path: string, operation: BesideOperation): RestoredPaths;
}

/**
 * The engine's side of a filesystem. No property leads to it: code that only has the filesystem cannot bypass a layer.
 */
export class Internals implements SyncTrustedApi {
  #ending: AbortController | undefined;
  #closed = false;

  constructor(
    readonly executor: Executor,
    readonly context: Context,
    readonly options: InternalsOptions,
  ) {}

  /** A signal that aborts when the filesystem ends. Read it before that, or it never aborts. */
  get ending(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  /** Returns why nothing can be done any more, or undefined. */
  get ended(): string | undefined {
    if (!this.#closed) return undefined;
    return this.options.inTransaction === true ? 'The transaction has ended' : 'The filesystem is closed';
  }

  /** @throws FsError EBADF when closed, EINVAL for methods without meaning inside a transaction */
  enter(forbiddenInTransaction?: string): void {
    if (this.#closed) throw new FsError('EBADF', { hint: this.ended });
    if (this.options.inTransaction === true && forbiddenInTransaction !== undefined)
      throw notInTransaction(forbiddenInTransaction);
  }

  /**
   * Checks a caller's new limits. @throws FsError EPERM if this filesystem cannot set limits; TypeError or RangeError
   * for limits that are not valid
   */
  newLimits(limits: Limits): Limits {
    if (this.options.setsLimits !== true) throw fixedLimits();
    return parseLimits(limits);
  }

  /** Ends the filesystem. Returns false if it had already ended. */
  end(): boolean {
    if (this.#closed) return false;
    this.#closed = true;
    this.#ending?.abort();
    return true;
  }

  /**
   * Runs a method's operation, which must leave no changes if it throws. In memory it gets the caller's own options and
   * content, and copies of them if it has to wait for the content of a file.
   */
  do<R, O, D extends Content | undefined>(
    options: O,
    operation: (view: View, options: O, content: D) => R,
    content?: D,
  ): R | Promise<R> {
    const signal = signalIn(options);
    if (this.executor.kind === 'async') {
      this.enter();
      return this.executor.run(this.context, (view) => operation(view, options, content as D), signal);
    }
    signal?.throwIfAborted();
    try {
      return this.change(operation, options, content);
    } catch (error) {
      if (!isLoading(error)) throw error;
      const given = captureArgument(options);
      const copy = content === undefined ? content : (captureContent(content) as D);
      return afterLoading(error, () => this.change(operation, given, copy), signal);
    }
  }

  /** Returns the view for an operation in memory. An operation that may write must run in `change`. */
  view(): View {
    if (this.#closed) this.enter();
    return (this.executor as SyncExecutor).enter(this.context);
  }

  change<R, O, D>(operation: (view: View, options: O, content: D) => R, options?: O, content?: D): R {
    const view = this.view();
    const result = operation(view, options as O, content as D);
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
  async runBeside(
    which: Checkpoint | string,
    path: string,
    operation: BesideOperation,
    options?: CallOptions,
  ): Promise<RestoredPaths> {
    this.enter('restore');
    const beside = (view: View, kept: View): RestoredPaths => operation(view, kept, path);
    return this.executor.runBeside(this.context, which, beside, signalIn(options), 'restore');
  }
  runBesideSync(which: Checkpoint | string, path: string, operation: BesideOperation): RestoredPaths {
    this.enter('restore');
    const beside = (view: View, kept: View): RestoredPaths => operation(view, kept, path);
    return (this.executor as SyncExecutor).runBesideSync(this.context, which, beside, 'restore');
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

  /** Makes an iteration that began inside a transaction throw once the transaction has ended. */
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

let readInternals: (fileSystem: object) => Internals | undefined;

/**
 * The base of the engine's filesystems. It keeps the internals in a private field, so that no property leads to them.
 * In a weak map they would survive the collection of young garbage, and a fork would take twice as long.
 */
export class WithInternals {
  readonly #internals: Internals;

  constructor(internals: Internals) {
    this.#internals = internals;
  }

  // Not a static method: code that has a filesystem can reach its constructor.
  static {
    readInternals = (fileSystem) => (#internals in fileSystem ? fileSystem.#internals : undefined);
  }
}

/** Registered by layers. They take precedence over internals, which some layers have too: no guard is bypassed. */
const TRUSTED_APIS = new WeakMap<object, TrustedApi>();

/** Returns the internals of a filesystem; undefined if the engine did not create it. */
export function internalsOf(fileSystem: FileSystem): Internals | undefined {
  return readInternals(Object(fileSystem));
}

/** Registers the trusted API of a layer, which forwards this library's code to the lower filesystem. */
export function keepTrustedApi(fileSystem: FileSystem, code: TrustedApi): void {
  TRUSTED_APIS.set(fileSystem, code);
}

/** Returns the API that runs this library's code over a filesystem: for a foreign one, its public methods. */
export function trustedApi(fileSystem: SyncFileSystem): SyncTrustedApi;
export function trustedApi(fileSystem: FileSystem): TrustedApi;
export function trustedApi(fileSystem: FileSystem): TrustedApi {
  return TRUSTED_APIS.get(fileSystem) ?? internalsOf(fileSystem) ?? publicMethods(fileSystem as SyncFileSystem);
}

/**
 * {@link trustedApi} for a function of the synchronous form, such as `grepSync`.
 * @throws TypeError if the filesystem has only promises
 */
export function trustedSyncApi(fileSystem: SyncFileSystem, name: string): SyncTrustedApi {
  if ((fileSystem as FileSystem | undefined)?.kind === 'sync') return trustedApi(fileSystem);
  throw needsSync(name);
}

/** Returns the error of a filesystem that restores no single path. */
export function cannotRestore(): FsError {
  const hint = 'This filesystem restores no single path: restore it in the filesystem under its layers';
  return new FsError('ENOTSUP', { syscall: 'restore', hint });
}

/** Returns the error for a synchronous function that got an asynchronous filesystem. */
export function needsSync(name: string): TypeError {
  return new TypeError(`${name} needs a synchronous filesystem: on an asynchronous one, use ${name.slice(0, -4)}`);
}

/** Returns an API that runs this library's code through public methods. */
export function publicMethods(fileSystem: SyncFileSystem): SyncTrustedApi {
  return new PublicMethods(fileSystem);
}

class PublicMethods implements SyncTrustedApi {
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
