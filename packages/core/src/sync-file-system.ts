import { AsyncFileSystem, checkCheckpointName } from './async-file-system.js';
import { checkOptions, checkSignal } from './engine/arguments.js';
import type { Context } from './engine/context.js';
import type { Cursor } from './engine/cursor.js';
import type { Executor, SyncExecutor } from './engine/executor.js';
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
import type { SyncFileHandle } from './file-handle.js';
import type {
  CallOptions,
  Checkpoint,
  Content,
  CpOptions,
  EditOptions,
  MkdirOptions,
  OpenFlag,
  OpenOptions,
  ReaddirOptions,
  ReadFileOptions,
  RmOptions,
  SyncFileSystem,
  WalkOptions,
  WriteFileOptions,
} from './file-system.js';
import { SyncOpenHandle } from './handle.js';
import type { FileSystemStats } from './limits.js';
import { toRecord } from './to-record.js';

/** Both forms, where the storage is synchronous. */
export class MemoryFileSystem extends AsyncFileSystem implements SyncFileSystem {
  declare readonly executor: SyncExecutor;

  constructor(executor: SyncExecutor, context: Context, options?: ConstructorParameters<typeof AsyncFileSystem>[2]) {
    super(executor, context, options);
  }

  override get kind(): 'sync' {
    return 'sync';
  }

  existsSync(path: string): boolean {
    return reading.exists(this.#view(), path);
  }
  isFileSync(path: string): boolean {
    return reading.isFile(this.#view(), path);
  }
  isDirectorySync(path: string): boolean {
    return reading.isDirectory(this.#view(), path);
  }
  getEntrySync(path: string): FileEntry {
    return reading.getEntry(this.#view(), path);
  }
  statSync(path: string): Stats {
    return reading.stat(this.#view(), path);
  }
  lstatSync(path: string): Stats {
    return reading.lstat(this.#view(), path);
  }
  accessSync(path: string, mode?: number): void {
    reading.access(this.#view(), path, mode);
  }
  realpathSync(path: string): string {
    return reading.realpath(this.#view(), path);
  }
  mkdirSync(path: string, options?: MkdirOptions): string | undefined {
    return this.#change((view) => naming.mkdir(view, path, options));
  }
  mkdtempSync(prefix: string): string {
    return this.#change((view) => naming.mkdtemp(view, prefix));
  }
  readdirSync(path: string, options: ReaddirOptions & { readonly withContent: true }): FileEntry[];
  readdirSync(path: string, options: ReaddirOptions & { readonly withFileTypes: true }): EntryInfo[];
  readdirSync(path: string, options?: ReaddirOptions): string[];
  readdirSync(path: string, options?: ReaddirOptions): string[] | EntryInfo[] | FileEntry[] {
    return reading.readdir(this.#view(), path, options);
  }
  walkSync(path = '/', options?: WalkOptions): IterableIterator<EntryInfo> {
    return this.iterateSync((view) => new WalkCursor(view, path, options));
  }

  readFileSync(path: string, options: ReadFileOptions & { readonly encoding: 'utf8' | 'utf-8' }): string;
  readFileSync(path: string, options?: ReadFileOptions): Uint8Array<ArrayBuffer>;
  readFileSync(path: string, options?: ReadFileOptions): Uint8Array<ArrayBuffer> | string {
    return reading.readFile(this.#view(), path, options);
  }
  readTextSync(path: string): string {
    return reading.readText(this.#view(), path);
  }
  readLinesSync(path: string): string[] {
    return reading.readLines(this.#view(), path);
  }
  writeFileSync(path: string, data: Content, options?: WriteFileOptions): void {
    const view = this.#view();
    writing.writeFile(view, path, data, options);
    this.executor.leave(view);
  }
  writeLinesSync(path: string, lines: Iterable<string>, options?: WriteFileOptions): void {
    this.writeFileSync(path, writing.joinLines(lines), options);
  }
  appendFileSync(path: string, data: Content, options?: WriteFileOptions): void {
    const view = this.#view();
    writing.appendFile(view, path, data, options);
    this.executor.leave(view);
  }
  editFileSync(path: string, search: string, replacement: string, options?: EditOptions): number {
    return this.#change((view) => writing.editFile(view, path, search, replacement, options));
  }
  truncateSync(path: string, length?: number): void {
    this.#change((view) => writing.truncate(view, path, length));
  }
  openSync(path: string, flags: OpenFlag = 'r', options?: OpenOptions): SyncFileHandle {
    const given = checkOptions(options, ['mode'], 'open');
    const opened = this.#change((view) => handling.open(view, path, flags, given.mode));
    return new SyncOpenHandle(this, path, opened);
  }

  rmSync(path: string, options?: RmOptions): void {
    this.#change((view) => naming.rm(view, path, options));
  }
  unlinkSync(path: string): void {
    this.#change((view) => naming.unlink(view, path));
  }
  rmdirSync(path: string): void {
    this.#change((view) => naming.rmdir(view, path));
  }
  cpSync(source: string, destination: string, options?: CpOptions): void {
    this.#change((view) => copying.cp(view, source, destination, options));
  }
  copyFileSync(source: string, destination: string, options?: { readonly exclusive?: boolean | undefined }): void {
    this.#change((view) => copying.copyFile(view, source, destination, options));
  }
  renameSync(from: string, to: string): void {
    this.#change((view) => naming.rename(view, from, to));
  }
  symlinkSync(target: string, path: string): void {
    this.#change((view) => naming.symlink(view, target, path));
  }
  readlinkSync(path: string): string {
    return reading.readlink(this.#view(), path);
  }
  linkSync(existing: string, path: string): void {
    this.#change((view) => naming.link(view, existing, path));
  }
  chmodSync(path: string, mode: number): void {
    this.#change((view) => metadata.chmod(view, path, mode));
  }
  chownSync(path: string, uid: number, gid: number): void {
    this.#change((view) => metadata.chown(view, path, uid, gid));
  }
  lchownSync(path: string, uid: number, gid: number): void {
    this.#change((view) => metadata.lchown(view, path, uid, gid));
  }
  utimesSync(path: string, atime: number | Date, mtime: number | Date): void {
    this.#change((view) => metadata.utimes(view, path, atime, mtime));
  }
  lutimesSync(path: string, atime: number | Date, mtime: number | Date): void {
    this.#change((view) => metadata.lutimes(view, path, atime, mtime));
  }

  statsSync(): FileSystemStats {
    return reading.stats(this.#view());
  }
  checkpointSync(name?: string): Checkpoint {
    this.enter('checkpoint');
    return this.executor.checkpointSync(this.context, checkCheckpointName(name));
  }
  checkpointsSync(): Checkpoint[] {
    this.enter();
    return this.executor.checkpointsSync();
  }
  rollbackSync(checkpoint: Checkpoint | string): void {
    this.enter('rollback');
    this.executor.rollbackSync(checkpoint);
  }
  dropSync(checkpoint: Checkpoint | string): void {
    this.enter('drop');
    this.executor.dropSync(checkpoint);
  }
  forkSync(): MemoryFileSystem {
    this.enter();
    return new MemoryFileSystem(this.executor.forkSync(), { ...this.context });
  }
  override async fork(options?: CallOptions): Promise<MemoryFileSystem> {
    checkOptions(options, [], 'fork');
    options?.signal?.throwIfAborted();
    return this.forkSync();
  }
  transactionSync<T>(work: (fileSystem: SyncFileSystem) => T): T {
    this.enter('transaction');
    return this.executor.transactionSync((executor) => {
      const branch = this.branch(executor);
      try {
        const result = work(branch);
        if (typeof (result as { then?: unknown } | undefined)?.then === 'function') {
          throw new TypeError('The work of transactionSync must not answer a promise: use transaction');
        }
        return result;
      } finally {
        branch.closed = true;
      }
    });
  }

  runSync<A extends readonly unknown[], R>(operation: Operation<A, R>, args: A): R {
    this.enter();
    return this.executor.runSync(this.context, (view) => operation(view, ...args));
  }
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T> {
    this.enter();
    return this.executor.iterateSync(this.context, start);
  }
  compareSync<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
  ): T[] {
    this.enter('diff');
    return this.executor.compareSync(this.context, a, b, start);
  }
  toJSON(): ReturnType<SyncFileSystem['toJSON']> {
    return toRecord(this);
  }

  protected override branch(executor: Executor): MemoryFileSystem {
    return new MemoryFileSystem(executor as SyncExecutor, this.context, { inTransaction: true });
  }

  protected override do<R>(options: CallOptions | undefined, operation: (view: View) => R): Promise<R> {
    checkSignal(options?.signal)?.throwIfAborted();
    // The callers are async functions: what is thrown here rejects their promise.
    return this.#change(operation) as unknown as Promise<R>;
  }

  override async run<A extends readonly unknown[], R>(
    operation: Operation<A, R>,
    args: A,
    options?: CallOptions,
  ): Promise<R> {
    checkOptions(options, [], 'run');
    options?.signal?.throwIfAborted();
    return this.runSync(operation, args);
  }

  #view(): View {
    if (this.closed) this.enter();
    return this.executor.enter(this.context);
  }

  #change<R>(operation: (view: View) => R): R {
    const view = this.#view();
    const result = operation(view);
    this.executor.leave(view);
    return result;
  }
}
