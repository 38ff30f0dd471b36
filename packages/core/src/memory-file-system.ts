import type { TextEncoding } from './argument-types.js';
import { AsyncFileSystem, checkCheckpointName, checkLinkType } from './async-file-system.js';
import type { Dir } from './dir.js';
import { checkOptions, isThenable } from './engine/arguments.js';
import { checkpointContext } from './engine/checkpoint-guard.js';
import { type Context, forkContext } from './engine/context.js';
import type { Cursor } from './engine/cursor.js';
import type { Executor, SyncExecutor } from './engine/executor.js';
import { type Internals, type InternalsOptions, internalsOf, type UntrustedApi } from './engine/internals.js';
import { openMode } from './engine/open-how.js';
import * as copying from './engine/operations/copy.js';
import * as editing from './engine/operations/edit.js';
import * as handling from './engine/operations/handle.js';
import * as metadata from './engine/operations/metadata.js';
import * as naming from './engine/operations/names.js';
import * as reading from './engine/operations/read.js';
import * as writing from './engine/operations/write.js';
import { driveSync, notLater } from './engine/scheduling/both-forms.js';
import type { View } from './engine/view.js';
import type { ViewFunction } from './engine/view-function.js';
import { WalkCursor } from './engine/walk.js';
import type { Dirent, EntryInfo, FileEntry, Stats } from './entry.js';
import type { SyncFileHandle } from './file-handle.js';
import type {
  BytesOptions,
  CallOptions,
  Checkpoint,
  Content,
  CpOptions,
  EditOptions,
  EntriesOptions,
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
  RenameOptions,
  RmOptions,
  SyncFileSystem,
  TimeLike,
  WalkOptions,
  WriteArgument,
  WriteFileOptions,
} from './file-system.js';
import { SyncOpenHandle } from './handle.js';
import type { FileSystemStats, Limits } from './limits.js';
import { opendirSync } from './opendir.js';
import { type Path, pathOf } from './paths.js';
import { toRecord } from './to-record.js';

/** Both forms of the methods, for synchronous storages. */
export class MemoryFileSystem extends AsyncFileSystem implements SyncFileSystem {
  readonly #inside: Internals;

  // As in AsyncFileSystem: another base class would be passed the internals.
  static {
    Object.preventExtensions(MemoryFileSystem);
  }

  constructor(executor: SyncExecutor, context: Context, options: InternalsOptions = {}) {
    const { create = syncFileSystem, onClose, inTransaction, setsLimits, untrustedApi } = options;
    super(executor, context, { create, onClose, inTransaction, setsLimits, untrustedApi });
    this.#inside = internalsOf(this) as Internals;
  }

  override get kind(): 'sync' {
    return 'sync';
  }

  existsSync(path: Path): boolean {
    return reading.exists(this.#inside.view(), pathOf(path));
  }
  isFileSync(path: Path): boolean {
    return reading.isFile(this.#inside.view(), pathOf(path));
  }
  isDirectorySync(path: Path): boolean {
    return reading.isDirectory(this.#inside.view(), pathOf(path));
  }
  getEntrySync(path: Path): FileEntry {
    return reading.getEntry(this.#inside.view(), pathOf(path));
  }
  statSync(path: Path): Stats {
    return reading.stat(this.#inside.view(), pathOf(path));
  }
  lstatSync(path: Path): Stats {
    return reading.lstat(this.#inside.view(), pathOf(path));
  }
  accessSync(path: Path, mode?: number): void {
    reading.access(this.#inside.view(), pathOf(path), mode);
  }
  realpathSync(path: Path, options?: NameArgument): string {
    return reading.realpath(this.#inside.view(), pathOf(path), options);
  }
  mkdirSync(path: Path, options?: MkdirOptions | Mode): string | undefined {
    return this.#inside.change((view) => naming.mkdir(view, pathOf(path), options));
  }
  mkdtempSync(prefix: Path, options?: NameArgument): string {
    return this.#inside.change((view) => naming.mkdtemp(view, pathOf(prefix), options));
  }
  readdirSync(path: Path, options: ReaddirOptions & { readonly withFileTypes: true }): Dirent[];
  readdirSync(path: Path, options?: ReaddirOptions | NameEncoding): string[];
  readdirSync(path: Path, options?: ReaddirOptions | NameEncoding): string[] | Dirent[] {
    const at = pathOf(path);
    const { isTyped, isRecursive } = reading.checkListing(options);
    return isRecursive
      ? reading.listedAll(at, [...this.walkSync(at)], isTyped)
      : reading.readdir(this.#inside.view(), at, isTyped);
  }
  opendirSync(path: Path, options?: OpendirOptions | NameEncoding): Dir {
    return opendirSync(this, path, options);
  }
  entriesSync(path: Path, options: EntriesOptions & { readonly content: true }): FileEntry[];
  entriesSync(path: Path, options?: EntriesOptions): EntryInfo[];
  entriesSync(path: Path, options?: EntriesOptions): EntryInfo[] | FileEntry[] {
    return reading.entries(this.#inside.view(), pathOf(path), options);
  }
  walkSync(path: Path = '/', options?: WalkOptions): IterableIterator<EntryInfo> {
    const at = pathOf(path);
    return this.#inside.iterateSync((view) => new WalkCursor(view, at, options));
  }

  readFileSync(path: Path, options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding): string;
  readFileSync(path: Path, options?: BytesOptions | null): Uint8Array<ArrayBuffer>;
  readFileSync(path: Path, options?: ReadFileOptions | TextEncoding | null): Uint8Array<ArrayBuffer> | string;
  readFileSync(path: Path, options?: ReadFileOptions | TextEncoding | null): Uint8Array<ArrayBuffer> | string {
    return reading.readFile(this.#inside.view(), pathOf(path), options);
  }
  readTextSync(path: Path): string {
    return reading.readText(this.#inside.view(), pathOf(path));
  }
  readLinesSync(path: Path): string[] {
    return reading.readLines(this.#inside.view(), pathOf(path));
  }
  writeFileSync(path: Path, data: Content, options?: WriteArgument): void {
    const view = this.#inside.view();
    writing.writeFile(view, pathOf(path), data, options);
    this.#executor.leave(view);
  }
  writeLinesSync(path: Path, lines: Iterable<string>, options?: WriteFileOptions): void {
    this.writeFileSync(path, writing.joinLines(lines), options);
  }
  appendFileSync(path: Path, data: Content, options?: WriteArgument): void {
    const view = this.#inside.view();
    writing.appendFile(view, pathOf(path), data, options);
    this.#executor.leave(view);
  }
  editFileSync(path: Path, search: string, replacement: string, options?: EditOptions): number {
    return this.#inside.change((view) => editing.editFile(view, pathOf(path), { search, replacement, options }));
  }
  truncateSync(path: Path, length?: number): void {
    this.#inside.change((view) => writing.truncate(view, pathOf(path), length));
  }
  openSync(file: Path, flags?: OpenFlags, options?: OpenOptions | Mode): SyncFileHandle {
    const path = pathOf(file);
    const how = openMode(flags);
    const given = checkOptions<OpenOptions>(options, ['mode'], 'open');
    const opened = this.#inside.change((view) => handling.open(view, path, how, given.mode));
    return new SyncOpenHandle(this.#inside, path, opened);
  }

  rmSync(path: Path, options?: RmOptions): void {
    this.#inside.change((view) => naming.rm(view, pathOf(path), options));
  }
  unlinkSync(path: Path): void {
    this.#inside.change((view) => naming.unlink(view, pathOf(path)));
  }
  rmdirSync(path: Path): void {
    this.#inside.change((view) => naming.rmdir(view, pathOf(path)));
  }
  cpSync(source: Path, destination: Path, options?: CpOptions): void {
    const [from, to] = [pathOf(source), pathOf(destination)];
    const list = (path: string) => this.readdirSync(path, { withFileTypes: true });
    const taken =
      options?.filter === undefined
        ? undefined
        : driveSync(
            copying.accepted((path) => this.lstatSync(path), list, from, to, options),
            notLater,
          );
    this.#inside.change((view) => copying.cp(view, from, to, options, taken));
  }
  copyFileSync(source: Path, destination: Path, options?: { readonly exclusive?: boolean | undefined } | number): void {
    this.#inside.change((view) => copying.copyFile(view, pathOf(source), pathOf(destination), options));
  }
  renameSync(from: Path, to: Path, options?: RenameOptions): void {
    this.#inside.change((view) => naming.rename(view, pathOf(from), pathOf(to), options));
  }
  symlinkSync(target: Path, path: Path, type?: LinkType): void {
    checkLinkType(type);
    this.#inside.change((view) => naming.symlink(view, pathOf(target), pathOf(path)));
  }
  readlinkSync(path: Path, options?: NameArgument): string {
    return reading.readlink(this.#inside.view(), pathOf(path), options);
  }
  linkSync(existing: Path, path: Path): void {
    this.#inside.change((view) => naming.link(view, pathOf(existing), pathOf(path)));
  }
  chmodSync(path: Path, mode: Mode): void {
    this.#inside.change((view) => metadata.chmod(view, pathOf(path), mode));
  }
  chownSync(path: Path, uid: number, gid: number): void {
    this.#inside.change((view) => metadata.chown(view, pathOf(path), uid, gid));
  }
  lchownSync(path: Path, uid: number, gid: number): void {
    this.#inside.change((view) => metadata.lchown(view, pathOf(path), uid, gid));
  }
  utimesSync(path: Path, atime: TimeLike, mtime: TimeLike): void {
    this.#inside.change((view) => metadata.utimes(view, pathOf(path), atime, mtime));
  }
  lutimesSync(path: Path, atime: TimeLike, mtime: TimeLike): void {
    this.#inside.change((view) => metadata.lutimes(view, pathOf(path), atime, mtime));
  }

  statsSync(): FileSystemStats {
    return reading.stats(this.#inside.view());
  }
  setLimitsSync(limits: Limits): void {
    this.#inside.enter('setLimits');
    this.#executor.quota.set(this.#inside.newLimits(limits));
  }
  checkpointSync(name?: string): Checkpoint {
    this.#inside.enter('checkpoint');
    return this.#executor.checkpointSync(this.#inside.context, checkCheckpointName(name));
  }
  checkpointsSync(): Checkpoint[] {
    this.#inside.enter('checkpoints');
    return this.#executor.checkpointsSync();
  }
  rollbackSync(checkpoint: Checkpoint | string): void {
    this.#inside.enter('rollback');
    this.#executor.rollbackSync(checkpoint);
  }
  dropSync(checkpoint: Checkpoint | string): void {
    this.#inside.enter('drop');
    this.#executor.dropSync(checkpoint);
  }
  atSync(checkpoint: Checkpoint | string): MemoryFileSystem {
    this.#inside.enter('at');
    const held = this.#executor.atSync(checkpoint);
    return this.#create(held, checkpointContext(this.#inside.context, held.quota));
  }
  override async at(checkpoint: Checkpoint | string, options?: CallOptions): Promise<MemoryFileSystem> {
    checkOptions(options, [], 'at').signal?.throwIfAborted();
    return this.atSync(checkpoint);
  }
  forkSync(options?: Omit<ForkOptions, 'signal'>): MemoryFileSystem {
    this.#inside.enter('fork');
    const fork = this.#executor.forkSync(checkOptions(options, ['from'], 'forkSync').from);
    return this.#create(fork, forkContext(this.#inside.context, fork.quota), this.#inside.options.setsLimits);
  }
  override async fork(options?: ForkOptions): Promise<MemoryFileSystem> {
    const { signal, from } = checkOptions(options, ['from'], 'fork');
    signal?.throwIfAborted();
    return this.forkSync({ from });
  }
  transactionSync<T>(work: (fileSystem: SyncFileSystem) => T): T {
    this.#inside.enter('transaction');
    return this.#executor.transactionSync((executor) => {
      const branch = this.#create(executor, this.#inside.context, false, true);
      try {
        const result = work(branch);
        if (isThenable(result)) {
          // Nothing observes the promise: its rejection must not count as unhandled.
          Promise.resolve(result).catch(() => {});
          throw new TypeError('The work of transactionSync must not return a promise: use transaction()');
        }
        return result;
      } finally {
        internalsOf(branch)?.end();
      }
    });
  }

  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R {
    return this.#untrustedApi().runSync(operation, args);
  }
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T> {
    return this.#untrustedApi().iterateSync(start);
  }
  compareSync<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
  ): T[] {
    return this.#untrustedApi().compareSync(a, b, start);
  }
  toJSON(): ReturnType<SyncFileSystem['toJSON']> {
    return toRecord(this, (path) => this.#inside.view().paths.mayRead(path));
  }

  #create(executor: SyncExecutor, context: Context, setsLimits?: boolean, inTransaction?: boolean): MemoryFileSystem {
    const { create = syncFileSystem, untrustedApi } = this.#inside.options;
    return create(executor, context, { setsLimits, inTransaction, untrustedApi }) as MemoryFileSystem;
  }

  get #executor(): SyncExecutor {
    return this.#inside.executor as SyncExecutor;
  }

  #untrustedApi(): Pick<UntrustedApi, 'runSync' | 'iterateSync' | 'compareSync'> {
    const { untrustedApi } = this.#inside.options;
    if (untrustedApi === undefined) return this.#inside;
    this.#inside.enter();
    return untrustedApi(this);
  }
}

function syncFileSystem(executor: Executor, context: Context, options: InternalsOptions): MemoryFileSystem {
  return new MemoryFileSystem(executor as SyncExecutor, context, options);
}
