import { captureArgument, captureContent, checkOptions, signalIn } from './engine/arguments.js';
import { inTransaction } from './engine/capabilities.js';
import { checkpointContext } from './engine/checkpoint-guard.js';
import type { Context } from './engine/context.js';
import type { Cursor } from './engine/cursor.js';
import type { Executor } from './engine/executor.js';
import { Internals, type InternalsOptions, keepInternals, type UntrustedApi } from './engine/internals.js';
import type { OpenFile } from './engine/open-files.js';
import { openMode } from './engine/open-how.js';
import * as copying from './engine/operations/copy.js';
import * as editing from './engine/operations/edit.js';
import * as handling from './engine/operations/handle.js';
import * as metadata from './engine/operations/metadata.js';
import * as naming from './engine/operations/names.js';
import * as reading from './engine/operations/read.js';
import * as writing from './engine/operations/write.js';
import { decoded, decodedLines, encoded, LONG_TEXT } from './engine/scheduling/long-text.js';
import { runInSlices } from './engine/scheduling/time-slice.js';
import type { View } from './engine/view.js';
import type { ViewFunction } from './engine/view-function.js';
import { WalkCursor } from './engine/walk.js';
import type { Dirent, EntryInfo, FileEntry, Stats } from './entry.js';
import { FsError } from './errors.js';
import type { FileHandle } from './file-handle.js';
import type {
  CallOptions,
  Checkpoint,
  Content,
  CpOptions,
  EditOptions,
  EntriesOptions,
  FileSystem,
  ForkOptions,
  MkdirOptions,
  OpenFlags,
  OpenOptions,
  ReaddirOptions,
  ReadFileOptions,
  ReadStreamOptions,
  RenameOptions,
  RmOptions,
  WalkOptions,
  WatchEvent,
  WatchOptions,
  WriteFileOptions,
  WriteStreamOptions,
} from './file-system.js';
import { OpenHandle } from './handle.js';
import type { FileSystemStats, Limits } from './limits.js';
import { checkText, MAX_NAME_BYTES, utf8Length } from './paths.js';
import { readStream, writeStream } from './streams.js';
import { watchChanges } from './watch.js';

/** Attempts to edit a long text in slices while other writers change it, before it is edited without pauses. */
const MAX_SLICED_EDIT_ATTEMPTS = 8;

/** The promise methods, over any storage. The rules are in the operations. */
export class AsyncFileSystem implements FileSystem {
  readonly #inside: Internals;

  constructor(executor: Executor, context: Context, options: InternalsOptions = {}) {
    this.#inside = keepInternals(this, new Internals(executor, context, options));
  }

  get kind(): 'sync' | 'async' {
    return this.#inside.executor.kind;
  }
  get capabilities() {
    const { executor, options } = this.#inside;
    return options.inTransaction === true ? inTransaction(executor.capabilities) : executor.capabilities;
  }
  get limits() {
    return this.#inside.context.quota.limits;
  }

  async exists(path: string, options?: CallOptions): Promise<boolean> {
    return this.#call('exists', options, (view) => reading.exists(view, path));
  }
  async isFile(path: string, options?: CallOptions): Promise<boolean> {
    return this.#call('isFile', options, (view) => reading.isFile(view, path));
  }
  async isDirectory(path: string, options?: CallOptions): Promise<boolean> {
    return this.#call('isDirectory', options, (view) => reading.isDirectory(view, path));
  }
  async getEntry(path: string, options?: CallOptions): Promise<FileEntry> {
    return this.#call('getEntry', options, (view) => reading.getEntry(view, path));
  }
  async stat(path: string, options?: CallOptions): Promise<Stats> {
    return this.#call('stat', options, (view) => reading.stat(view, path));
  }
  async lstat(path: string, options?: CallOptions): Promise<Stats> {
    return this.#call('lstat', options, (view) => reading.lstat(view, path));
  }
  async access(path: string, mode?: number, options?: CallOptions): Promise<void> {
    return this.#call('access', options, (view) => reading.access(view, path, mode));
  }
  async realpath(path: string, options?: CallOptions): Promise<string> {
    return this.#call('realpath', options, (view) => reading.realpath(view, path));
  }
  async mkdir(path: string, options?: MkdirOptions): Promise<string | undefined> {
    const given = this.#given(options);
    return this.#do(given, (view) => naming.mkdir(view, path, given));
  }
  async mkdtemp(prefix: string, options?: CallOptions): Promise<string> {
    return this.#call('mkdtemp', options, (view) => naming.mkdtemp(view, prefix));
  }
  readdir(path: string, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<Dirent[]>;
  readdir(path: string, options?: ReaddirOptions): Promise<string[]>;
  async readdir(path: string, options?: ReaddirOptions): Promise<string[] | Dirent[]> {
    const given = this.#given(options);
    return this.#do(given, (view) => reading.readdir(view, path, given));
  }
  entries(path: string, options: EntriesOptions & { readonly content: true }): Promise<FileEntry[]>;
  entries(path: string, options?: EntriesOptions): Promise<EntryInfo[]>;
  async entries(path: string, options?: EntriesOptions): Promise<EntryInfo[] | FileEntry[]> {
    const given = this.#given(options);
    return this.#do(given, (view) => reading.entries(view, path, given));
  }
  walk(path = '/', options?: WalkOptions): AsyncIterableIterator<EntryInfo> {
    const given = captureArgument(options);
    return this.#inside.iterate((view) => new WalkCursor(view, path, given), given);
  }

  readFile(path: string, options: ReadFileOptions & { readonly encoding: 'utf8' | 'utf-8' }): Promise<string>;
  readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer>>;
  async readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer> | string> {
    const given = captureArgument(options);
    const content = await this.#do(given, (view) => reading.readFileOrBytes(view, path, given));
    const isText = given?.encoding !== undefined && typeof content !== 'string';
    return isText ? runInSlices(decoded(content), given?.signal) : content;
  }
  async readText(path: string, options?: CallOptions): Promise<string> {
    const content = await this.#call('readText', options, (view) => reading.readTextOrBytes(view, path));
    return typeof content === 'string' ? content : runInSlices(decoded(content), signalIn(options));
  }
  async readLines(path: string, options?: CallOptions): Promise<string[]> {
    const content = await this.#call('readLines', options, (view) => reading.readTextOrBytes(view, path));
    return typeof content === 'string'
      ? reading.splitLines(content)
      : runInSlices(decodedLines(content), signalIn(options));
  }
  async writeFile(path: string, data: Content, options?: WriteFileOptions): Promise<void> {
    const given = isLongText(data) ? captureArgument(options) : this.#given(options);
    const content = isLongText(data) ? await runInSlices(encoded(data), given?.signal) : this.#capture(data);
    return this.#do(given, (view) => writing.writeFile(view, path, content, given));
  }
  async writeLines(path: string, lines: Iterable<string>, options?: WriteFileOptions): Promise<void> {
    return this.writeFile(path, writing.joinLines(lines), options);
  }
  async appendFile(path: string, data: Content, options?: WriteFileOptions): Promise<void> {
    const given = isLongText(data) ? captureArgument(options) : this.#given(options);
    const content = isLongText(data) ? await runInSlices(encoded(data), given?.signal) : this.#capture(data);
    return this.#do(given, (view) => writing.appendFile(view, path, content, given));
  }
  async editFile(path: string, search: string, replacement: string, options?: EditOptions): Promise<number> {
    const given = captureArgument(options);
    const edit = { search, replacement, options: given };
    for (let attempt = 0; attempt < MAX_SLICED_EDIT_ATTEMPTS; attempt++) {
      const before = await this.#do(given, (view) => editing.editOrRead(view, path, edit));
      if (typeof before === 'number') return before;
      const { after, count } = await runInSlices(editing.edited(before, path, edit), given?.signal);
      if (await this.#do(given, (view) => editing.putEdited(view, path, edit, before, after))) return count;
    }
    return this.#do(given, (view) => editing.editFile(view, path, edit));
  }
  async truncate(path: string, length?: number, options?: CallOptions): Promise<void> {
    return this.#call('truncate', options, (view) => writing.truncate(view, path, length));
  }
  createReadStream(path: string, options?: ReadStreamOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    return readStream(this, path, options);
  }
  createWriteStream(path: string, options?: WriteStreamOptions): WritableStream<Content> {
    return writeStream(this, path, options);
  }
  async open(path: string, flags?: OpenFlags, options?: OpenOptions): Promise<FileHandle> {
    const how = openMode(flags);
    const given = checkOptions(options, ['mode'], 'open');
    const { feed, kind } = this.#inside.executor;
    const held: OpenFile[] = [];
    try {
      const opened = this.#do(given, (view) => {
        const found = handling.open(view, path, how, given.mode);
        // From now on the handle follows the file, even before the load is confirmed.
        if (kind === 'async') held.push(feed.files.open(found.id, found.path));
        return found;
      });
      // In memory this is synchronous.
      return new OpenHandle(this.#inside, path, opened instanceof Promise ? await opened : opened, held.pop());
    } finally {
      for (const file of held) feed.files.release(file);
    }
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    const given = this.#given(options);
    return this.#do(given, (view) => naming.rm(view, path, given));
  }
  async unlink(path: string, options?: CallOptions): Promise<void> {
    return this.#call('unlink', options, (view) => naming.unlink(view, path));
  }
  async rmdir(path: string, options?: CallOptions): Promise<void> {
    return this.#call('rmdir', options, (view) => naming.rmdir(view, path));
  }
  async cp(source: string, destination: string, options?: CpOptions): Promise<void> {
    const given = this.#given(options);
    return this.#do(given, (view) => copying.cp(view, source, destination, given));
  }
  async copyFile(
    source: string,
    destination: string,
    options?: CallOptions & { readonly exclusive?: boolean | undefined },
  ): Promise<void> {
    const given = this.#given(options);
    return this.#do(given, (view) => copying.copyFile(view, source, destination, given));
  }
  async rename(from: string, to: string, options?: RenameOptions): Promise<void> {
    const given = this.#given(options);
    return this.#do(given, (view) => naming.rename(view, from, to, given));
  }
  async symlink(target: string, path: string, options?: CallOptions): Promise<void> {
    return this.#call('symlink', options, (view) => naming.symlink(view, target, path));
  }
  async readlink(path: string, options?: CallOptions): Promise<string> {
    return this.#call('readlink', options, (view) => reading.readlink(view, path));
  }
  async link(existing: string, path: string, options?: CallOptions): Promise<void> {
    return this.#call('link', options, (view) => naming.link(view, existing, path));
  }
  async chmod(path: string, mode: number, options?: CallOptions): Promise<void> {
    return this.#call('chmod', options, (view) => metadata.chmod(view, path, mode));
  }
  async chown(path: string, uid: number, gid: number, options?: CallOptions): Promise<void> {
    return this.#call('chown', options, (view) => metadata.chown(view, path, uid, gid));
  }
  async lchown(path: string, uid: number, gid: number, options?: CallOptions): Promise<void> {
    return this.#call('lchown', options, (view) => metadata.lchown(view, path, uid, gid));
  }
  async utimes(path: string, atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void> {
    const [accessed, modified] = [captureArgument(atime), captureArgument(mtime)];
    return this.#call('utimes', options, (view) => metadata.utimes(view, path, accessed, modified));
  }
  async lutimes(path: string, atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void> {
    const [accessed, modified] = [captureArgument(atime), captureArgument(mtime)];
    return this.#call('lutimes', options, (view) => metadata.lutimes(view, path, accessed, modified));
  }
  watch(path: string, options?: WatchOptions): AsyncIterableIterator<WatchEvent> {
    this.#inside.enter();
    return watchChanges(this.#inside, path, options);
  }

  async stats(options?: CallOptions): Promise<FileSystemStats> {
    return this.#call('stats', options, reading.stats);
  }
  async setLimits(limits: Limits, options?: CallOptions): Promise<void> {
    const { executor, signal } = this.#whole('setLimits', options);
    signal?.throwIfAborted();
    await executor.quota.set(this.#inside.newLimits(limits), signal);
  }
  async checkpoint(name?: string, options?: CallOptions): Promise<Checkpoint> {
    const { executor, context, signal } = this.#whole('checkpoint', options);
    return executor.checkpoint(context, checkCheckpointName(name), signal);
  }
  async checkpoints(options?: CallOptions): Promise<Checkpoint[]> {
    const { executor, signal } = this.#whole('checkpoints', options);
    return executor.checkpoints(signal);
  }
  async rollback(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void> {
    const { executor, context, signal } = this.#whole('rollback', options);
    return executor.rollback(context, checkpoint, signal);
  }
  async drop(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void> {
    const { executor, signal } = this.#whole('drop', options);
    return executor.drop(checkpoint, signal);
  }
  async at(checkpoint: Checkpoint | string, options?: CallOptions): Promise<FileSystem> {
    const { executor, context, signal } = this.#whole('at', options);
    const held = await executor.at(checkpoint, signal);
    const { create = asyncFileSystem, untrustedApi } = this.#inside.options;
    return create(held, checkpointContext(context, held.quota), { onClose: () => held.close(), untrustedApi });
  }
  async fork(options?: ForkOptions): Promise<FileSystem> {
    this.#inside.enter('fork');
    const { executor, context } = this.#inside;
    const { signal, from } = checkOptions(options, ['from'], 'fork');
    const fork = await executor.fork(from, signal);
    const { create = asyncFileSystem, untrustedApi, setsLimits } = this.#inside.options;
    const own = { ...context, quota: fork.quota };
    return create(fork, own, { onClose: () => fork.close(), untrustedApi, setsLimits });
  }
  async transaction<T>(work: (fileSystem: FileSystem) => Promise<T>, options?: CallOptions): Promise<T> {
    const { executor, context, signal } = this.#whole('transaction', options);
    const { create = asyncFileSystem, untrustedApi } = this.#inside.options;
    return executor.transaction(
      context,
      async (inner) => {
        const fileSystem = create(inner, context, { inTransaction: true, untrustedApi });
        try {
          return await work(fileSystem);
        } finally {
          await fileSystem.close();
        }
      },
      signal,
    );
  }

  async run<A extends readonly unknown[], R>(
    operation: ViewFunction<A, R>,
    args: A,
    options?: CallOptions,
  ): Promise<R> {
    return this.#untrustedApi().run(operation, args, options);
  }
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T> {
    return this.#untrustedApi().iterate(start, options);
  }
  async compare<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    options?: CallOptions,
  ): Promise<T[]> {
    return this.#untrustedApi().compare(a, b, start, options);
  }

  async close(): Promise<void> {
    if (this.#inside.end()) await this.#inside.options.onClose?.();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs an operation that takes no options of its own. */
  #call<R>(method: string, options: CallOptions | undefined, operation: (view: View) => R): R | Promise<R> {
    return this.#inside.do(checkOptions(options, [], method), operation);
  }

  /** Runs an operation that checks its options itself. */
  #do<R>(options: CallOptions | undefined, operation: (view: View) => R): R | Promise<R> {
    return this.#inside.do(options, operation);
  }

  /** Captures options if the operation runs later, or repeatedly. */
  #given<O>(options: O): O {
    return options === undefined || this.kind === 'sync' ? options : captureArgument(options);
  }

  /** Shared preamble of checkpoint, rollback, fork and transaction. */
  #whole(method: string, options: CallOptions | undefined) {
    this.#inside.enter(method);
    const { signal } = checkOptions(options, [], method);
    const { executor, context } = this.#inside;
    return { executor, context, signal };
  }

  #untrustedApi(): Pick<UntrustedApi, 'run' | 'iterate' | 'compare'> {
    const { untrustedApi } = this.#inside.options;
    if (untrustedApi === undefined) return this.#inside;
    this.#inside.enter();
    return untrustedApi(this);
  }

  /** Captures content if the operation runs later, or repeatedly. In memory it is copied immediately anyway. */
  #capture(data: Content): Content {
    return this.kind === 'sync' ? data : captureContent(data);
  }
}

function isLongText(data: Content): data is string {
  return typeof data === 'string' && data.length >= LONG_TEXT;
}

function asyncFileSystem(executor: Executor, context: Context, options: InternalsOptions): FileSystem {
  return new AsyncFileSystem(executor, context, options);
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
