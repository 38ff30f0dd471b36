import { captureContent, checkOptions, checkSignal } from './engine/arguments.js';
import type { Context } from './engine/context.js';
import type { Cursor } from './engine/cursor.js';
import type { Executor } from './engine/executor.js';
import type { Operation } from './engine/operation.js';
import * as copying from './engine/operations/copy.js';
import * as handling from './engine/operations/handle.js';
import * as metadata from './engine/operations/metadata.js';
import * as naming from './engine/operations/names.js';
import * as reading from './engine/operations/read.js';
import * as writing from './engine/operations/write.js';
import type { View } from './engine/view.js';
import { WalkCursor } from './engine/walk.js';
import type { EntryInfo, FileEntry, Stats } from './entry.js';
import { FsError } from './errors.js';
import type { FileHandle } from './file-handle.js';
import type {
  CallOptions,
  Checkpoint,
  Content,
  CpOptions,
  EditOptions,
  FileSystem,
  MkdirOptions,
  OpenFlag,
  OpenOptions,
  ReaddirOptions,
  ReadFileOptions,
  ReadStreamOptions,
  RmOptions,
  WalkOptions,
  WatchEvent,
  WatchOptions,
  WriteFileOptions,
  WriteStreamOptions,
} from './file-system.js';
import { OpenHandle } from './handle.js';
import type { FileSystemStats } from './limits.js';
import { checkText, MAX_NAME_BYTES, utf8Length } from './paths.js';
import { readStream, writeStream } from './streams.js';
import { watchChanges } from './watch.js';

/** The promise methods, over any storage. Rules are in the operations; nothing here but the way to them. */
export class AsyncFileSystem implements FileSystem {
  readonly #onClose: (() => Promise<void>) | undefined;
  readonly #inTransaction: boolean;
  protected closed = false;
  readonly #ending = new AbortController();

  constructor(
    readonly executor: Executor,
    readonly context: Context,
    options: { onClose?: (() => Promise<void>) | undefined; inTransaction?: boolean } = {},
  ) {
    this.#onClose = options.onClose;
    this.#inTransaction = options.inTransaction ?? false;
  }

  /** Why nothing can be done any more. */
  get ended(): string | undefined {
    if (!this.closed) return undefined;
    return this.#inTransaction ? 'The transaction has ended' : 'The filesystem is closed';
  }

  get kind(): 'sync' | 'async' {
    return this.executor.kind;
  }
  get capabilities() {
    return this.executor.capabilities;
  }
  get limits() {
    return this.context.limits;
  }

  async exists(path: string, options?: CallOptions): Promise<boolean> {
    return this.call('exists', options, (view) => reading.exists(view, path));
  }
  async isFile(path: string, options?: CallOptions): Promise<boolean> {
    return this.call('isFile', options, (view) => reading.isFile(view, path));
  }
  async isDirectory(path: string, options?: CallOptions): Promise<boolean> {
    return this.call('isDirectory', options, (view) => reading.isDirectory(view, path));
  }
  async getEntry(path: string, options?: CallOptions): Promise<FileEntry> {
    return this.call('getEntry', options, (view) => reading.getEntry(view, path));
  }
  async stat(path: string, options?: CallOptions): Promise<Stats> {
    return this.call('stat', options, (view) => reading.stat(view, path));
  }
  async lstat(path: string, options?: CallOptions): Promise<Stats> {
    return this.call('lstat', options, (view) => reading.lstat(view, path));
  }
  async access(path: string, mode?: number, options?: CallOptions): Promise<void> {
    return this.call('access', options, (view) => reading.access(view, path, mode));
  }
  async realpath(path: string, options?: CallOptions): Promise<string> {
    return this.call('realpath', options, (view) => reading.realpath(view, path));
  }
  async mkdir(path: string, options?: MkdirOptions): Promise<string | undefined> {
    return this.do(options, (view) => naming.mkdir(view, path, options));
  }
  async mkdtemp(prefix: string, options?: CallOptions): Promise<string> {
    return this.call('mkdtemp', options, (view) => naming.mkdtemp(view, prefix));
  }
  readdir(path: string, options: ReaddirOptions & { readonly withContent: true }): Promise<FileEntry[]>;
  readdir(path: string, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<EntryInfo[]>;
  readdir(path: string, options?: ReaddirOptions): Promise<string[]>;
  async readdir(path: string, options?: ReaddirOptions): Promise<string[] | EntryInfo[] | FileEntry[]> {
    return this.do(options, (view) => reading.readdir(view, path, options));
  }
  walk(path = '/', options?: WalkOptions): AsyncIterableIterator<EntryInfo> {
    return this.iterate((view) => new WalkCursor(view, path, options), options);
  }

  readFile(path: string, options: ReadFileOptions & { readonly encoding: 'utf8' | 'utf-8' }): Promise<string>;
  readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer>>;
  async readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer> | string> {
    return this.do(options, (view) => reading.readFile(view, path, options));
  }
  async readText(path: string, options?: CallOptions): Promise<string> {
    return this.call('readText', options, (view) => reading.readText(view, path));
  }
  async readLines(path: string, options?: CallOptions): Promise<string[]> {
    return this.call('readLines', options, (view) => reading.readLines(view, path));
  }
  async writeFile(path: string, data: Content, options?: WriteFileOptions): Promise<void> {
    const content = this.capture(data);
    return this.do(options, (view) => writing.writeFile(view, path, content, options));
  }
  async writeLines(path: string, lines: Iterable<string>, options?: WriteFileOptions): Promise<void> {
    const text = writing.joinLines(lines);
    return this.do(options, (view) => writing.writeFile(view, path, text, options));
  }
  async appendFile(path: string, data: Content, options?: WriteFileOptions): Promise<void> {
    const content = this.capture(data);
    return this.do(options, (view) => writing.appendFile(view, path, content, options));
  }
  async editFile(path: string, search: string, replacement: string, options?: EditOptions): Promise<number> {
    return this.do(options, (view) => writing.editFile(view, path, search, replacement, options));
  }
  async truncate(path: string, length?: number, options?: CallOptions): Promise<void> {
    return this.call('truncate', options, (view) => writing.truncate(view, path, length));
  }
  createReadStream(path: string, options?: ReadStreamOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    return readStream(this, path, options);
  }
  createWriteStream(path: string, options?: WriteStreamOptions): WritableStream<Content> {
    return writeStream(this, path, options);
  }
  async open(path: string, flags: OpenFlag = 'r', options?: OpenOptions): Promise<FileHandle> {
    const given = checkOptions(options, ['mode'], 'open');
    const opened = await this.do(given, (view) => handling.open(view, path, flags, given.mode));
    return new OpenHandle(this, path, opened);
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    return this.do(options, (view) => naming.rm(view, path, options));
  }
  async unlink(path: string, options?: CallOptions): Promise<void> {
    return this.call('unlink', options, (view) => naming.unlink(view, path));
  }
  async rmdir(path: string, options?: CallOptions): Promise<void> {
    return this.call('rmdir', options, (view) => naming.rmdir(view, path));
  }
  async cp(source: string, destination: string, options?: CpOptions): Promise<void> {
    return this.do(options, (view) => copying.cp(view, source, destination, options));
  }
  async copyFile(
    source: string,
    destination: string,
    options?: CallOptions & { readonly exclusive?: boolean | undefined },
  ): Promise<void> {
    return this.do(options, (view) => copying.copyFile(view, source, destination, options));
  }
  async rename(from: string, to: string, options?: CallOptions): Promise<void> {
    return this.call('rename', options, (view) => naming.rename(view, from, to));
  }
  async symlink(target: string, path: string, options?: CallOptions): Promise<void> {
    return this.call('symlink', options, (view) => naming.symlink(view, target, path));
  }
  async readlink(path: string, options?: CallOptions): Promise<string> {
    return this.call('readlink', options, (view) => reading.readlink(view, path));
  }
  async link(existing: string, path: string, options?: CallOptions): Promise<void> {
    return this.call('link', options, (view) => naming.link(view, existing, path));
  }
  async chmod(path: string, mode: number, options?: CallOptions): Promise<void> {
    return this.call('chmod', options, (view) => metadata.chmod(view, path, mode));
  }
  async chown(path: string, uid: number, gid: number, options?: CallOptions): Promise<void> {
    return this.call('chown', options, (view) => metadata.chown(view, path, uid, gid));
  }
  async lchown(path: string, uid: number, gid: number, options?: CallOptions): Promise<void> {
    return this.call('lchown', options, (view) => metadata.lchown(view, path, uid, gid));
  }
  async utimes(path: string, atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void> {
    return this.call('utimes', options, (view) => metadata.utimes(view, path, atime, mtime));
  }
  async lutimes(path: string, atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void> {
    return this.call('lutimes', options, (view) => metadata.lutimes(view, path, atime, mtime));
  }
  watch(path: string, options?: WatchOptions): AsyncIterableIterator<WatchEvent> {
    this.enter();
    return watchChanges(this.executor, this.context, path, options, this.#ending.signal);
  }

  async stats(options?: CallOptions): Promise<FileSystemStats> {
    return this.call('stats', options, reading.stats);
  }
  async checkpoint(name?: string, options?: CallOptions): Promise<Checkpoint> {
    this.enter('checkpoint');
    checkOptions(options, [], 'checkpoint');
    return this.executor.checkpoint(this.context, checkCheckpointName(name), options?.signal);
  }
  async checkpoints(options?: CallOptions): Promise<Checkpoint[]> {
    this.enter();
    checkOptions(options, [], 'checkpoints');
    return this.executor.checkpoints(options?.signal);
  }
  async rollback(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void> {
    this.enter('rollback');
    checkOptions(options, [], 'rollback');
    return this.executor.rollback(this.context, checkpoint, options?.signal);
  }
  async drop(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void> {
    this.enter('drop');
    checkOptions(options, [], 'drop');
    return this.executor.drop(checkpoint, options?.signal);
  }
  async fork(options?: CallOptions): Promise<FileSystem> {
    this.enter();
    checkOptions(options, [], 'fork');
    const executor = await this.executor.fork(options?.signal);
    return new AsyncFileSystem(executor, { ...this.context }, { onClose: () => executor.close() });
  }
  async transaction<T>(work: (fileSystem: FileSystem) => Promise<T>, options?: CallOptions): Promise<T> {
    this.enter('transaction');
    checkOptions(options, [], 'transaction');
    return this.executor.transaction(this.context, (executor) => this.inTransaction(executor, work), options?.signal);
  }

  async run<A extends readonly unknown[], R>(operation: Operation<A, R>, args: A, options?: CallOptions): Promise<R> {
    return this.call('run', options, (view) => operation(view, ...args));
  }
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T> {
    this.enter();
    const items = this.executor.iterate(this.context, start, checkSignal(options?.signal));
    return this.#inTransaction ? this.#whileOpen(items) : items;
  }

  /** What was begun inside a transaction ends with it. */
  async *#whileOpen<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    for await (const item of items) {
      this.enter();
      yield item;
    }
  }

  async compare<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    options?: CallOptions,
  ): Promise<T[]> {
    this.enter('diff');
    return this.executor.compare(this.context, a, b, start, options?.signal);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.#ending.abort();
    await this.#onClose?.();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs an operation that takes no options of its own. */
  protected call<R>(method: string, options: CallOptions | undefined, operation: (view: View) => R): Promise<R> {
    return this.do(checkOptions(options, [], method), operation);
  }

  /** Runs an operation that looks at its options itself. */
  protected do<R>(options: CallOptions | undefined, operation: (view: View) => R): Promise<R> {
    this.enter();
    return this.executor.run(this.context, operation, checkSignal(options?.signal));
  }

  /** @throws FsError EBADF when closed, EINVAL for what has no meaning inside a transaction */
  enter(forbiddenInTransaction?: string): void {
    if (this.closed) throw new FsError('EBADF', { hint: this.ended });
    if (this.#inTransaction && forbiddenInTransaction !== undefined) {
      throw new FsError('EINVAL', {
        syscall: forbiddenInTransaction,
        hint: `${forbiddenInTransaction} has no meaning inside a transaction`,
      });
    }
  }

  protected branch(executor: Executor): AsyncFileSystem {
    return new AsyncFileSystem(executor, this.context, { inTransaction: true });
  }

  protected async inTransaction<T>(executor: Executor, work: (fileSystem: FileSystem) => Promise<T>): Promise<T> {
    const branch = this.branch(executor);
    try {
      return await work(branch);
    } finally {
      await branch.close();
    }
  }

  /** Where the operation runs later, or twice, content must be what it is now. In memory it is copied at once anyway. */
  protected capture(data: Content): Content {
    return this.executor.kind === 'sync' ? data : captureContent(data);
  }
}

export function checkCheckpointName(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  checkText(name, 'name of a checkpoint', 'checkpoint');
  if (name === '' || utf8Length(name) > MAX_NAME_BYTES) {
    throw new FsError('EINVAL', {
      syscall: 'checkpoint',
      path: name,
      hint: `The name of a checkpoint has 1 to ${MAX_NAME_BYTES} bytes`,
    });
  }
  return name;
}
