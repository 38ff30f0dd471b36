import type { TextEncoding } from './argument-types.js';
import type { Dir } from './dir.js';
import { captureArgument, captureContent, checkOneOf, checkOptions, signalIn } from './engine/arguments.js';
import { inTransaction } from './engine/capabilities.js';
import { checkpointContext } from './engine/checkpoint-guard.js';
import { type Context, forkContext, IN_STEPS } from './engine/context.js';
import type { Cursor } from './engine/cursor.js';
import type { Executor } from './engine/executor.js';
import { Internals, type InternalsOptions, type UntrustedApi, WithInternals } from './engine/internals.js';
import type { OpenFile } from './engine/open-files.js';
import { openMode } from './engine/open-how.js';
import * as copying from './engine/operations/copy.js';
import * as editing from './engine/operations/edit.js';
import * as handling from './engine/operations/handle.js';
import * as metadata from './engine/operations/metadata.js';
import * as naming from './engine/operations/names.js';
import * as reading from './engine/operations/read.js';
import * as writing from './engine/operations/write.js';
import { driveAsync } from './engine/scheduling/both-forms.js';
import { decoded, decodedLines, encoded, LONG_TEXT } from './engine/scheduling/long-text.js';
import { runInSlices } from './engine/scheduling/time-slice.js';
import { codecOf } from './engine/text-encodings.js';
import type { View } from './engine/view.js';
import type { ViewFunction } from './engine/view-function.js';
import { WalkCursor } from './engine/walk.js';
import type { Dirent, EntryInfo, FileEntry, Stats } from './entry.js';
import { FsError } from './errors.js';
import type { FileHandle } from './file-handle.js';
import type {
  BytesOptions,
  CallOptions,
  Checkpoint,
  Content,
  CpOptions,
  EditOptions,
  EntriesOptions,
  FileSystem,
  FileSystemPromises,
  ForkOptions,
  LinkType,
  MkdirOptions,
  Mode,
  NameArgument,
  NameEncoding,
  OpendirOptions,
  OpenFlags,
  OpenOptions,
  ReaddirOptions,
  ReadFileOptions,
  ReadStreamOptions,
  RenameOptions,
  RmOptions,
  TimeLike,
  WalkOptions,
  WatchEvent,
  WatchOptions,
  WriteArgument,
  WriteFileOptions,
  WriteStreamOptions,
} from './file-system.js';
import { OpenHandle } from './handle.js';
import type { FileSystemStats, Limits } from './limits.js';
import { opendir } from './opendir.js';
import { checkText, MAX_NAME_BYTES, type Path, pathOf, utf8Length } from './paths.js';
import { readStream, writeStream } from './streams.js';
import { watchChanges } from './watch.js';

/** Maximum number of attempts to edit a long text in slices. After them the text is edited without pauses. */
const MAX_SLICED_EDIT_ATTEMPTS = 8;

/** The promise methods, over any storage. The rules are in the operations. */
export class AsyncFileSystem extends WithInternals implements FileSystem {
  readonly #inside: Internals;
  #promises: FileSystemPromises | undefined;

  // Its base class cannot be replaced, because another one would be passed the internals of every new filesystem.
  static {
    Object.preventExtensions(AsyncFileSystem);
  }

  constructor(executor: Executor, context: Context, options: InternalsOptions = {}) {
    const internals = new Internals(executor, context, options);
    super(internals);
    this.#inside = internals;
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

  get promises(): FileSystemPromises {
    this.#promises ??= boundMethods(this);
    return this.#promises;
  }

  async exists(path: Path, options?: CallOptions): Promise<boolean> {
    return this.#at('exists', path, options, reading.exists);
  }
  async isFile(path: Path, options?: CallOptions): Promise<boolean> {
    return this.#at('isFile', path, options, reading.isFile);
  }
  async isDirectory(path: Path, options?: CallOptions): Promise<boolean> {
    return this.#at('isDirectory', path, options, reading.isDirectory);
  }
  async getEntry(path: Path, options?: CallOptions): Promise<FileEntry> {
    return this.#at('getEntry', path, options, reading.getEntry);
  }
  async stat(path: Path, options?: CallOptions): Promise<Stats> {
    return this.#at('stat', path, options, reading.stat);
  }
  async lstat(path: Path, options?: CallOptions): Promise<Stats> {
    return this.#at('lstat', path, options, reading.lstat);
  }
  async access(path: Path, mode?: number, options?: CallOptions): Promise<void> {
    return this.#at('access', path, options, (view, at) => reading.access(view, at, mode));
  }
  async realpath(path: Path, options?: NameArgument): Promise<string> {
    return this.#with(path, options, reading.realpath);
  }
  async mkdir(path: Path, options?: MkdirOptions | Mode): Promise<string | undefined> {
    return this.#with(path, options, naming.mkdir);
  }
  async mkdtemp(prefix: Path, options?: NameArgument): Promise<string> {
    return this.#with(prefix, options, naming.mkdtemp);
  }
  readdir(path: Path, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<Dirent[]>;
  readdir(path: Path, options?: ReaddirOptions | NameEncoding): Promise<string[]>;
  async readdir(path: Path, options?: ReaddirOptions | NameEncoding): Promise<string[] | Dirent[]> {
    const at = pathOf(path);
    const { isTyped, isRecursive, call } = reading.checkListing(options);
    if (!isRecursive) return this.#do(call, (view) => reading.readdir(view, at, isTyped));
    return reading.listedAll(at, await this.#inside.collect((view) => new WalkCursor(view, at), call), isTyped);
  }
  async opendir(path: Path, options?: OpendirOptions | NameEncoding): Promise<Dir> {
    return opendir(this, path, options);
  }
  entries(path: Path, options: EntriesOptions & { readonly content: true }): Promise<FileEntry[]>;
  entries(path: Path, options?: EntriesOptions): Promise<EntryInfo[]>;
  async entries(path: Path, options?: EntriesOptions): Promise<EntryInfo[] | FileEntry[]> {
    return this.#with(path, options, reading.entries);
  }
  walk(path: Path = '/', options?: WalkOptions): AsyncIterableIterator<EntryInfo> {
    const at = pathOf(path);
    const given = captureArgument(options);
    return this.#inside.iterate((view) => new WalkCursor(view, at, given), given);
  }

  readFile(
    path: Path,
    options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding,
  ): Promise<string>;
  readFile(path: Path, options?: BytesOptions | null): Promise<Uint8Array<ArrayBuffer>>;
  readFile(path: Path, options?: ReadFileOptions | TextEncoding | null): Promise<Uint8Array<ArrayBuffer> | string>;
  async readFile(
    path: Path,
    options?: ReadFileOptions | TextEncoding | null,
  ): Promise<Uint8Array<ArrayBuffer> | string> {
    const at = pathOf(path);
    const encoding = reading.encodingOfRead(options);
    const call = { signal: signalIn(options) };
    const codec = encoding === undefined ? undefined : codecOf(encoding);
    if (encoding !== undefined && codec === undefined) return this.readText(at, call);
    const bytes = await this.#do(call, (view) => reading.readBytes(view, at));
    return codec === undefined ? bytes : runInSlices(decoded(bytes, codec), call.signal);
  }
  async readText(path: Path, options?: CallOptions): Promise<string> {
    const content = await this.#at('readText', path, options, reading.readTextOrBytes);
    return typeof content === 'string' ? content : runInSlices(decoded(content), signalIn(options));
  }
  async readLines(path: Path, options?: CallOptions): Promise<string[]> {
    const content = await this.#at('readLines', path, options, reading.readTextOrBytes);
    return typeof content === 'string'
      ? reading.splitLines(content)
      : runInSlices(decodedLines(content), signalIn(options));
  }
  async writeFile(path: Path, data: Content, options?: WriteArgument): Promise<void> {
    return this.#write(writing.writeFile, path, data, options);
  }
  async writeLines(path: Path, lines: Iterable<string>, options?: WriteFileOptions): Promise<void> {
    return this.writeFile(path, writing.joinLines(lines), options);
  }
  async appendFile(path: Path, data: Content, options?: WriteArgument): Promise<void> {
    return this.#write(writing.appendFile, path, data, options);
  }
  async editFile(file: Path, search: string, replacement: string, options?: EditOptions): Promise<number> {
    const path = pathOf(file);
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
  async truncate(path: Path, length?: number, options?: CallOptions): Promise<void> {
    return this.#at('truncate', path, options, (view, at) => writing.truncate(view, at, length));
  }
  createReadStream(path: Path, options?: ReadStreamOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    return readStream(this, path, options);
  }
  createWriteStream(path: Path, options?: WriteStreamOptions): WritableStream<Content> {
    return writeStream(this, path, options);
  }
  async open(file: Path, flags?: OpenFlags, options?: OpenOptions | Mode): Promise<FileHandle> {
    const path = pathOf(file);
    const how = openMode(flags);
    const given = checkOptions<OpenOptions>(options, ['mode'], 'open');
    const { feed, kind } = this.#inside.executor;
    const held: OpenFile[] = [];
    try {
      const opened = this.#do(given, (view) => {
        const found = handling.open(view, path, how, given.mode);
        // From now on the handle follows the file, even before the load is confirmed.
        if (kind === 'async') held.push(feed.files.open(found.id, found.path));
        return found;
      });
      // In memory this is synchronous, unless the file's content has to be loaded first.
      return new OpenHandle(this.#inside, path, opened instanceof Promise ? await opened : opened, held.pop());
    } finally {
      for (const file of held) feed.files.release(file);
    }
  }

  async rm(path: Path, options?: RmOptions): Promise<void> {
    return this.#with(path, options, naming.rm);
  }
  async unlink(path: Path, options?: CallOptions): Promise<void> {
    return this.#at('unlink', path, options, naming.unlink);
  }
  async rmdir(path: Path, options?: CallOptions): Promise<void> {
    return this.#at('rmdir', path, options, naming.rmdir);
  }
  async cp(source: Path, destination: Path, options?: CpOptions): Promise<void> {
    const [from, to] = [pathOf(source), pathOf(destination)];
    const list = (path: string) => this.readdir(path, { withFileTypes: true });
    const taken =
      options?.filter === undefined
        ? undefined
        : await driveAsync(
            copying.accepted((path) => this.lstat(path), list, from, to, options),
            (value) => value,
          );
    return this.#with(from, options, (view, at, given) => copying.cp(view, at, to, given, taken));
  }
  async copyFile(
    source: Path,
    destination: Path,
    options?: (CallOptions & { readonly exclusive?: boolean | undefined }) | number,
  ): Promise<void> {
    const to = pathOf(destination);
    return this.#with(source, options, (view, from, given) => copying.copyFile(view, from, to, given));
  }
  async rename(from: Path, to: Path, options?: RenameOptions): Promise<void> {
    const destination = pathOf(to);
    return this.#with(from, options, (view, at, given) => naming.rename(view, at, destination, given));
  }
  async symlink(target: Path, path: Path, options?: CallOptions | LinkType): Promise<void> {
    const to = pathOf(target);
    const given = checkLinkType(options);
    return this.#at('symlink', path, given, (view, at) => naming.symlink(view, to, at));
  }
  async readlink(path: Path, options?: NameArgument): Promise<string> {
    return this.#with(path, options, reading.readlink);
  }
  async link(existing: Path, path: Path, options?: CallOptions): Promise<void> {
    const from = pathOf(existing);
    return this.#at('link', path, options, (view, at) => naming.link(view, from, at));
  }
  async chmod(path: Path, mode: Mode, options?: CallOptions): Promise<void> {
    return this.#at('chmod', path, options, (view, at) => metadata.chmod(view, at, mode));
  }
  async chown(path: Path, uid: number, gid: number, options?: CallOptions): Promise<void> {
    return this.#at('chown', path, options, (view, at) => metadata.chown(view, at, uid, gid));
  }
  async lchown(path: Path, uid: number, gid: number, options?: CallOptions): Promise<void> {
    return this.#at('lchown', path, options, (view, at) => metadata.lchown(view, at, uid, gid));
  }
  async utimes(path: Path, atime: TimeLike, mtime: TimeLike, options?: CallOptions): Promise<void> {
    const [accessed, modified] = [captureArgument(atime), captureArgument(mtime)];
    return this.#at('utimes', path, options, (view, at) => metadata.utimes(view, at, accessed, modified));
  }
  async lutimes(path: Path, atime: TimeLike, mtime: TimeLike, options?: CallOptions): Promise<void> {
    const [accessed, modified] = [captureArgument(atime), captureArgument(mtime)];
    return this.#at('lutimes', path, options, (view, at) => metadata.lutimes(view, at, accessed, modified));
  }
  watch(path: Path, options?: WatchOptions | NameEncoding): AsyncIterableIterator<WatchEvent> {
    this.#inside.enter();
    return watchChanges(this.#inside, pathOf(path), options);
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
    return create(fork, forkContext(context, fork.quota), { onClose: () => fork.close(), untrustedApi, setsLimits });
  }
  async transaction<T>(work: (fileSystem: FileSystem) => Promise<T>, options?: CallOptions): Promise<T> {
    const { executor, context, signal } = this.#whole('transaction', options);
    const { create = asyncFileSystem, untrustedApi } = this.#inside.options;
    return executor.transaction(
      isInSteps(options) ? { ...context, inSteps: true } : context,
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

  /** Runs an operation at a path. The operation takes no options of its own. */
  #at<R>(
    method: string,
    path: Path,
    options: CallOptions | undefined,
    operation: (view: View, path: string) => R,
  ): R | Promise<R> {
    const at = pathOf(path);
    return this.#call(method, options, (view) => operation(view, at));
  }

  /** Runs an operation at a path. The operation checks its options itself. */
  #with<O, R>(path: Path, options: O, operation: (view: View, path: string, options: O) => R): R | Promise<R> {
    const at = pathOf(path);
    const given = this.#given(options);
    return this.#do(given, (view, options) => operation(view, at, options));
  }

  #write(
    operation: typeof writing.writeFile,
    path: Path,
    data: Content,
    options: WriteArgument | undefined,
  ): void | Promise<void> {
    const at = pathOf(path);
    const plain = writing.encodedContent(data, typeof options === 'string' ? options : options?.encoding);
    const write = (given: WriteArgument | undefined, content: Content): void | Promise<void> =>
      this.#do(given, (view, options, data) => operation(view, at, data, options), content);
    if (typeof plain !== 'string' || plain.length < LONG_TEXT) return write(this.#given(options), this.#capture(plain));
    const given = captureArgument(options);
    return runInSlices(encoded(plain), signalIn(given)).then((bytes) => write(given, bytes));
  }

  /** Runs an operation that takes no options except the signal. */
  #call<R>(method: string, options: CallOptions | undefined, operation: (view: View) => R): R | Promise<R> {
    return this.#inside.do(checkOptions(options, [], method), operation);
  }

  /** Runs an operation that checks its options itself. */
  #do<R, O, D extends Content | undefined>(
    options: O,
    operation: (view: View, options: O, content: D) => R,
    content?: D,
  ): R | Promise<R> {
    return this.#inside.do(options, operation, content);
  }

  /** Captures options if the operation runs later, or repeatedly. */
  #given<O>(options: O): O {
    return options === undefined || this.kind === 'sync' ? options : captureArgument(options);
  }

  /** Shared preamble of methods that concern the state as a whole, such as checkpoint, rollback and transaction. */
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

  /** Captures content if the operation runs later, or repeatedly. In memory it is copied when it is written. */
  #capture(data: Content): Content {
    return this.kind === 'sync' ? data : captureContent(data);
  }
}

/** Returns the options of `symlink`. Node's type of a link is checked and then ignored. */
export function checkLinkType(options: CallOptions | LinkType | undefined): CallOptions | undefined {
  if (typeof options !== 'string' && options !== null) return options;
  if (options !== null) checkOneOf(options, ['file', 'dir', 'junction'], 'type');
  return undefined;
}

/** Returns the promise methods of a filesystem, bound to it. */
function boundMethods(fileSystem: AsyncFileSystem): FileSystemPromises {
  const all = fileSystem as unknown as Record<string, (...args: unknown[]) => unknown>;
  const methods = Object.entries(Object.getOwnPropertyDescriptors(AsyncFileSystem.prototype)).filter(
    ([name, { value }]) => typeof value === 'function' && name !== 'constructor',
  );
  const bound = methods.map(([name]) => [name, all[name]?.bind(fileSystem)]);
  return Object.freeze(Object.fromEntries(bound)) as FileSystemPromises;
}

function isInSteps(options: CallOptions & { readonly [IN_STEPS]?: boolean } = {}): boolean {
  return options[IN_STEPS] === true;
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
