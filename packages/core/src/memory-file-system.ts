import { AsyncFileSystem, checkCheckpointName } from './async-file-system.js';
import { checkOptions } from './engine/arguments.js';
import { checkpointContext } from './engine/checkpoint-guard.js';
import type { Context } from './engine/context.js';
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
import type { View } from './engine/view.js';
import type { ViewFunction } from './engine/view-function.js';
import { WalkCursor } from './engine/walk.js';
import type { Dirent, EntryInfo, FileEntry, Stats } from './entry.js';
import type { SyncFileHandle } from './file-handle.js';
import type {
  CallOptions,
  Checkpoint,
  Content,
  CpOptions,
  EditOptions,
  EntriesOptions,
  ForkOptions,
  MkdirOptions,
  OpenFlags,
  OpenOptions,
  ReaddirOptions,
  ReadFileOptions,
  RenameOptions,
  RmOptions,
  SyncFileSystem,
  WalkOptions,
  WriteFileOptions,
} from './file-system.js';
import { SyncOpenHandle } from './handle.js';
import type { FileSystemStats, Limits } from './limits.js';
import { toRecord } from './to-record.js';

/** Both forms of the methods, for synchronous storages. */
export class MemoryFileSystem extends AsyncFileSystem implements SyncFileSystem {
  readonly #inside: Internals;

  constructor(executor: SyncExecutor, context: Context, options: InternalsOptions = {}) {
    super(executor, context, { create: syncFileSystem, ...options });
    this.#inside = internalsOf(this) as Internals;
  }

  override get kind(): 'sync' {
    return 'sync';
  }

  existsSync(path: string): boolean {
    return reading.exists(this.#inside.view(), path);
  }
  isFileSync(path: string): boolean {
    return reading.isFile(this.#inside.view(), path);
  }
  isDirectorySync(path: string): boolean {
    return reading.isDirectory(this.#inside.view(), path);
  }
  getEntrySync(path: string): FileEntry {
    return reading.getEntry(this.#inside.view(), path);
  }
  statSync(path: string): Stats {
    return reading.stat(this.#inside.view(), path);
  }
  lstatSync(path: string): Stats {
    return reading.lstat(this.#inside.view(), path);
  }
  accessSync(path: string, mode?: number): void {
    reading.access(this.#inside.view(), path, mode);
  }
  realpathSync(path: string): string {
    return reading.realpath(this.#inside.view(), path);
  }
  mkdirSync(path: string, options?: MkdirOptions): string | undefined {
    return this.#inside.change((view) => naming.mkdir(view, path, options));
  }
  mkdtempSync(prefix: string): string {
    return this.#inside.change((view) => naming.mkdtemp(view, prefix));
  }
  readdirSync(path: string, options: ReaddirOptions & { readonly withFileTypes: true }): Dirent[];
  readdirSync(path: string, options?: ReaddirOptions): string[];
  readdirSync(path: string, options?: ReaddirOptions): string[] | Dirent[] {
    return reading.readdir(this.#inside.view(), path, options);
  }
  entriesSync(path: string, options: EntriesOptions & { readonly content: true }): FileEntry[];
  entriesSync(path: string, options?: EntriesOptions): EntryInfo[];
  entriesSync(path: string, options?: EntriesOptions): EntryInfo[] | FileEntry[] {
    return reading.entries(this.#inside.view(), path, options);
  }
  walkSync(path = '/', options?: WalkOptions): IterableIterator<EntryInfo> {
    return this.#inside.iterateSync((view) => new WalkCursor(view, path, options));
  }

  readFileSync(path: string, options: ReadFileOptions & { readonly encoding: 'utf8' | 'utf-8' }): string;
  readFileSync(path: string, options?: ReadFileOptions): Uint8Array<ArrayBuffer>;
  readFileSync(path: string, options?: ReadFileOptions): Uint8Array<ArrayBuffer> | string {
    return reading.readFile(this.#inside.view(), path, options);
  }
  readTextSync(path: string): string {
    return reading.readText(this.#inside.view(), path);
  }
  readLinesSync(path: string): string[] {
    return reading.readLines(this.#inside.view(), path);
  }
  writeFileSync(path: string, data: Content, options?: WriteFileOptions): void {
    const view = this.#inside.view();
    writing.writeFile(view, path, data, options);
    this.#executor.leave(view);
  }
  writeLinesSync(path: string, lines: Iterable<string>, options?: WriteFileOptions): void {
    this.writeFileSync(path, writing.joinLines(lines), options);
  }
  appendFileSync(path: string, data: Content, options?: WriteFileOptions): void {
    const view = this.#inside.view();
    writing.appendFile(view, path, data, options);
    this.#executor.leave(view);
  }
  editFileSync(path: string, search: string, replacement: string, options?: EditOptions): number {
    return this.#inside.change((view) => editing.editFile(view, path, { search, replacement, options }));
  }
  truncateSync(path: string, length?: number): void {
    this.#inside.change((view) => writing.truncate(view, path, length));
  }
  openSync(path: string, flags?: OpenFlags, options?: OpenOptions): SyncFileHandle {
    const how = openMode(flags);
    const given = checkOptions(options, ['mode'], 'open');
    const opened = this.#inside.change((view) => handling.open(view, path, how, given.mode));
    return new SyncOpenHandle(this.#inside, path, opened);
  }

  rmSync(path: string, options?: RmOptions): void {
    this.#inside.change((view) => naming.rm(view, path, options));
  }
  unlinkSync(path: string): void {
    this.#inside.change((view) => naming.unlink(view, path));
  }
  rmdirSync(path: string): void {
    this.#inside.change((view) => naming.rmdir(view, path));
  }
  cpSync(source: string, destination: string, options?: CpOptions): void {
    this.#inside.change((view) => copying.cp(view, source, destination, options));
  }
  copyFileSync(source: string, destination: string, options?: { readonly exclusive?: boolean | undefined }): void {
    this.#inside.change((view) => copying.copyFile(view, source, destination, options));
  }
  renameSync(from: string, to: string, options?: RenameOptions): void {
    this.#inside.change((view) => naming.rename(view, from, to, options));
  }
  symlinkSync(target: string, path: string): void {
    this.#inside.change((view) => naming.symlink(view, target, path));
  }
  readlinkSync(path: string): string {
    return reading.readlink(this.#inside.view(), path);
  }
  linkSync(existing: string, path: string): void {
    this.#inside.change((view) => naming.link(view, existing, path));
  }
  chmodSync(path: string, mode: number): void {
    this.#inside.change((view) => metadata.chmod(view, path, mode));
  }
  chownSync(path: string, uid: number, gid: number): void {
    this.#inside.change((view) => metadata.chown(view, path, uid, gid));
  }
  lchownSync(path: string, uid: number, gid: number): void {
    this.#inside.change((view) => metadata.lchown(view, path, uid, gid));
  }
  utimesSync(path: string, atime: number | Date, mtime: number | Date): void {
    this.#inside.change((view) => metadata.utimes(view, path, atime, mtime));
  }
  lutimesSync(path: string, atime: number | Date, mtime: number | Date): void {
    this.#inside.change((view) => metadata.lutimes(view, path, atime, mtime));
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
    const { setsLimits } = this.#inside.options;
    return this.#create(fork, { ...this.#inside.context, quota: fork.quota }, { setsLimits });
  }
  override async fork(options?: ForkOptions): Promise<MemoryFileSystem> {
    const { signal, from } = checkOptions(options, ['from'], 'fork');
    signal?.throwIfAborted();
    return this.forkSync({ from });
  }
  transactionSync<T>(work: (fileSystem: SyncFileSystem) => T): T {
    this.#inside.enter('transaction');
    return this.#executor.transactionSync((executor) => {
      const branch = this.#create(executor, this.#inside.context, { inTransaction: true });
      try {
        const result = work(branch);
        if (typeof (result as { then?: unknown } | undefined)?.then === 'function') {
          // Nothing observes the promise: its rejection must not count as unhandled.
          Promise.resolve(result).catch(() => {});
          throw new TypeError('The work of transactionSync must not answer a promise: use transaction');
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

  #create(executor: SyncExecutor, context: Context, options: InternalsOptions = {}): MemoryFileSystem {
    const { create = syncFileSystem, untrustedApi } = this.#inside.options;
    return create(executor, context, { ...options, untrustedApi }) as MemoryFileSystem;
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
