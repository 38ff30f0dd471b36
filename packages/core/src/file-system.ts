import type { Cursor } from './engine/cursor.js';
import type { View } from './engine/view.js';
import type { ViewFunction } from './engine/view-function.js';
import type { EntryInfo, FileEntry, Stats } from './entry.js';
import type { FileHandle, SyncFileHandle } from './file-handle.js';
import type { FileSystemStats, Limits } from './limits.js';

/** An absolute or relative POSIX path; relative ones start at `/`, `\` separates like `/`, `..` stops at `/`. */
export type Path = string;

/** Content to store. Text is stored as UTF-8. Views are copied: what is stored never aliases them. */
export type Content = string | ArrayBuffer | ArrayBufferView;

/** What every promise method takes. */
export interface CallOptions {
  /** Aborted before the operation has taken effect, it rejects with the signal's reason and nothing has changed. */
  readonly signal?: AbortSignal | undefined;
}

/** How a file is opened, in the words of `node:fs`: `x` fails where the file exists, `a` always writes at the end. */
export type OpenFlag = 'r' | 'r+' | 'w' | 'wx' | 'w+' | 'wx+' | 'a' | 'ax' | 'a+' | 'ax+';

/** How a file is opened where no {@link OpenFlag} says it, as the flags of `open(2)` do. Each is false by default. */
export interface OpenHow {
  /** This or `write`, or both. */
  readonly read?: boolean | undefined;
  readonly write?: boolean | undefined;
  /** Writes always go to the end. */
  readonly append?: boolean | undefined;
  /** Make the file where it is missing. */
  readonly create?: boolean | undefined;
  /** Beside `create`: fail where the name is taken, by a link too. */
  readonly exclusive?: boolean | undefined;
  /** Empty the file. */
  readonly truncate?: boolean | undefined;
  /** Fail with ELOOP where the last name is a link. */
  readonly noFollow?: boolean | undefined;
  /** Fail with ENOTDIR where it is no directory. */
  readonly directory?: boolean | undefined;
}

export type OpenFlags = OpenFlag | OpenHow;

export interface ReadFileOptions extends CallOptions {
  /** Answer text instead of bytes; malformed UTF-8 becomes U+FFFD. */
  readonly encoding?: 'utf8' | 'utf-8' | undefined;
}
export interface WriteFileOptions extends CallOptions {
  /** Permission bits of a new file. Default 0o644. */
  readonly mode?: number | undefined;
  /** Default `w`: create or replace. */
  readonly flag?: 'w' | 'wx' | 'r+' | 'a' | 'ax' | undefined;
}
export interface MkdirOptions extends CallOptions {
  /** Make missing parents too, and accept a directory that exists. Default false. */
  readonly recursive?: boolean | undefined;
  /** Permission bits of the new directories. Default 0o755. */
  readonly mode?: number | undefined;
}
export interface ReaddirOptions extends CallOptions {
  /** Answer {@link EntryInfo} objects instead of names. */
  readonly withFileTypes?: boolean | undefined;
  /** Answer {@link FileEntry} objects, contents included, instead of names. */
  readonly withContent?: boolean | undefined;
}
export interface RmOptions extends CallOptions {
  /** Remove a directory with all that is in it. Default false. */
  readonly recursive?: boolean | undefined;
  /** A missing path is no error. Default false. */
  readonly force?: boolean | undefined;
}
export interface CpOptions extends CallOptions {
  /** Copy a directory with all that is in it. Default false. */
  readonly recursive?: boolean | undefined;
  /** Replace files that exist. Default true. */
  readonly force?: boolean | undefined;
  /** With `force: false`: fail with EEXIST instead of leaving what exists. Default false. */
  readonly errorOnExist?: boolean | undefined;
  /** Keep the times of the source. Default false. */
  readonly preserveTimestamps?: boolean | undefined;
}
export interface OpenOptions extends CallOptions {
  /** Permission bits of a file that is created. Default 0o644. */
  readonly mode?: number | undefined;
}
export interface WalkOptions extends CallOptions {
  /** How many levels beneath the start are listed; 1 is its own entries. Default: all. */
  readonly maxDepth?: number | undefined;
}
export interface ReadStreamOptions extends CallOptions {
  /** First byte. Default 0. */
  readonly start?: number | undefined;
  /** Last byte, inclusive, as in `node:fs`. Default: the end of the file. */
  readonly end?: number | undefined;
  /** Bytes of one chunk. Default 65,536, at most 16 MiB. */
  readonly highWaterMark?: number | undefined;
}
export interface WriteStreamOptions extends CallOptions {
  /** Default `w`. */
  readonly flags?: 'w' | 'wx' | 'r+' | 'a' | 'ax' | undefined;
  readonly mode?: number | undefined;
  /** Where the first byte goes; for `r+`. Default 0. */
  readonly start?: number | undefined;
}
export interface EditOptions extends CallOptions {
  /** Replace every occurrence. Default false: the text must occur exactly once. */
  readonly all?: boolean | undefined;
}
export interface WatchOptions extends CallOptions {
  /** Also everything beneath a directory. Default false: its own entries. */
  readonly recursive?: boolean | undefined;
  /** Events held for a slow consumer before they are folded into one `overflow`. Default 1,024. */
  readonly maxQueue?: number | undefined;
}

/** One change under a watched path. `overflow` says that some were dropped: list again. */
export interface WatchEvent {
  readonly type: 'create' | 'modify' | 'remove' | 'rename' | 'overflow';
  /** The path it happened to; for `rename` the new one. */
  readonly path: string;
  /** For `rename`, the old path. */
  readonly from?: string;
  /** For `create`: true where a file was made with something in it, in one call. */
  readonly hasContent?: true;
}

/** A point to go back to. Held until dropped. */
export interface Checkpoint {
  /** Unique in its filesystem. */
  readonly id: string;
  /** The name given at creation. */
  readonly name?: string;
  readonly createdAt: number;
}

/** What the storage beneath can do, declared once; the test kit tests what is declared. */
export interface Capabilities {
  /** `checkpoint`, `rollback` in O(1) or one request. */
  readonly checkpoints: boolean;
  /** `fork` in O(1) or one request. */
  readonly forks: boolean;
  /** `watch` also sees the changes of other clients. */
  readonly sharedWatch: boolean;
}

/**
 * A filesystem: POSIX rules over a storage. Methods have the names and meaning of `node:fs/promises` where one exists;
 * the intended differences are listed in the README. Every method is one atomic operation: it happens whole or not at
 * all, for every other reader and writer.
 *
 * What a method costs is said for a storage in memory; far away it is counted in requests. *Depth* is how many names the path
 * has: each is one search in its directory, logarithmic in the entries there. The first write after a checkpoint, a fork or
 * a walk copies what it changes: some 128 names of each directory of the path, 64 KiB of the file at most; and where the file has
 * several names, the table of all such files.
 *
 * @throws FsError as node does: ENOENT, ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG, EINVAL …; ENOSPC and EFBIG at a
 *   limit, with `limit`, `used`, `requested`
 * @throws StorageError where the storage failed
 * @throws TypeError for arguments of a wrong type and for unknown options
 */
export interface FileSystem extends AsyncDisposable {
  readonly kind: 'sync' | 'async';
  readonly capabilities: Capabilities;
  readonly limits: Limits;

  /** Whether the path leads to something, through links. Never throws for a path that cannot exist. O(depth). */
  exists(path: Path, options?: CallOptions): Promise<boolean>;
  /** False where there is nothing. O(depth). */
  isFile(path: Path, options?: CallOptions): Promise<boolean>;
  /** False where there is nothing. O(depth). */
  isDirectory(path: Path, options?: CallOptions): Promise<boolean>;
  /** The entry at a path with its content; a final link is not followed. O(depth + bytes). */
  getEntry(path: Path, options?: CallOptions): Promise<FileEntry>;
  /** O(depth). */
  stat(path: Path, options?: CallOptions): Promise<Stats>;
  /** {@link stat} of a final link itself. O(depth). */
  lstat(path: Path, options?: CallOptions): Promise<Stats>;
  /** Fails where the path leads nowhere. Modes are stored, not enforced; only execution (1) of a file without an x bit is EACCES. O(depth). */
  access(path: Path, mode?: number, options?: CallOptions): Promise<void>;
  /** O(depth). */
  realpath(path: Path, options?: CallOptions): Promise<string>;

  /** Answers the first directory made with `recursive`, else undefined. O(depth). */
  mkdir(path: Path, options?: MkdirOptions): Promise<string | undefined>;
  /** Makes a directory whose name is the prefix and six random characters, and answers its path. O(depth). */
  mkdtemp(prefix: string, options?: CallOptions): Promise<string>;
  /** Names (or entries), sorted by UTF-8 bytes. O(depth + entries), with content also O(bytes). */
  readdir(path: Path, options: ReaddirOptions & { readonly withContent: true }): Promise<FileEntry[]>;
  readdir(path: Path, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<EntryInfo[]>;
  readdir(
    path: Path,
    options?: ReaddirOptions & { readonly withFileTypes?: false; readonly withContent?: false },
  ): Promise<string[]>;
  /**
   * Everything beneath a directory, parents first, siblings by UTF-8 bytes; links are listed, not entered. It begins in
   * O(depth), whatever there is; each entry is O(1).
   *
   * One point in time where the storage is synchronous, and over a far one for a tree whose listings fit into one request
   * (4 MiB, some 20,000 entries). Of a larger one each directory is as it was at one moment after the call, others may be
   * of later ones, as on a disk; `transaction` makes one point in time of any size, read before the first entry comes.
   */
  walk(path?: Path, options?: WalkOptions): AsyncIterableIterator<EntryInfo>;

  /** The whole content: bytes of the caller's own, or text. O(depth + bytes). */
  readFile(path: Path, options: ReadFileOptions & { readonly encoding: 'utf8' | 'utf-8' }): Promise<string>;
  readFile(path: Path, options?: ReadFileOptions & { readonly encoding?: undefined }): Promise<Uint8Array<ArrayBuffer>>;
  /** The file as UTF-8 text; malformed bytes become U+FFFD; a byte order mark is kept. O(depth + bytes). */
  readText(path: Path, options?: CallOptions): Promise<string>;
  /** The file's lines without their ends (`\n` or `\r\n`); a final newline adds no line. O(depth + bytes). */
  readLines(path: Path, options?: CallOptions): Promise<string[]>;
  /**
   * The whole content; a file that is missing is made. Text of a mebibyte or more is encoded in slices first: await it
   * before what has to come after it. O(depth + bytes).
   */
  writeFile(path: Path, data: Content, options?: WriteFileOptions): Promise<void>;
  /** Writes every line with `\n` after it. O(depth + bytes). */
  writeLines(path: Path, lines: Iterable<string>, options?: WriteFileOptions): Promise<void>;
  /** O(depth + bytes that are added), whatever there is already. */
  appendFile(path: Path, data: Content, options?: WriteFileOptions): Promise<void>;
  /** Replaces an exact piece of text, which must occur once (or, with `all`, at least once); answers how many were replaced. O(depth + bytes of the file). */
  editFile(path: Path, search: string, replacement: string, options?: EditOptions): Promise<number>;
  /** Cuts the content or adds zeros, which take no room. O(depth). */
  truncate(path: Path, length?: number, options?: CallOptions): Promise<void>;
  /** Reads a part at a time: O(its bytes) each. */
  createReadStream(path: Path, options?: ReadStreamOptions): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Writes part by part: O(its bytes) each. */
  createWriteStream(path: Path, options?: WriteStreamOptions): WritableStream<Content>;
  /** O(depth); then reads and writes are O(depth + their bytes), wherever in the file they are. */
  open(path: Path, flags?: OpenFlags, options?: OpenOptions): Promise<FileHandle>;

  /**
   * Removes a file, a link, or with `recursive` a directory. The root stays; `rm('/', { recursive: true })` is EBUSY. O(depth),
   * and where names of files with several are beneath, O(entries of the directories above them).
   */
  rm(path: Path, options?: RmOptions): Promise<void>;
  /** O(depth). */
  unlink(path: Path, options?: CallOptions): Promise<void>;
  /** Removes an empty directory. O(depth). */
  rmdir(path: Path, options?: CallOptions): Promise<void>;
  /** Copies a file, a link, or with `recursive` a directory (merged into one that exists). Contents are shared, never copied: O(depth + entries). */
  cp(source: Path, destination: Path, options?: CpOptions): Promise<void>;
  /** Shares the content. O(depth). */
  copyFile(
    source: Path,
    destination: Path,
    options?: CallOptions & { readonly exclusive?: boolean | undefined },
  ): Promise<void>;
  /** O(depth), whatever lies beneath; only where that could become too deep or too long, O(entries). */
  rename(from: Path, to: Path, options?: CallOptions): Promise<void>;

  /** O(depth). */
  symlink(target: string, path: Path, options?: CallOptions): Promise<void>;
  /** O(depth). */
  readlink(path: Path, options?: CallOptions): Promise<string>;
  /** O(depth). */
  link(existing: Path, path: Path, options?: CallOptions): Promise<void>;
  /** O(depth). */
  chmod(path: Path, mode: number, options?: CallOptions): Promise<void>;
  /** O(depth). */
  chown(path: Path, uid: number, gid: number, options?: CallOptions): Promise<void>;
  /** O(depth). */
  lchown(path: Path, uid: number, gid: number, options?: CallOptions): Promise<void>;
  /** Sets access and modification time. A number is epoch *seconds*, as in node; a Date is itself. O(depth). */
  utimes(path: Path, atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void>;
  /** {@link utimes} of a final link itself. O(depth). */
  lutimes(path: Path, atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void>;
  /**
   * Changes at or (for a directory) beneath a path, from the call on; ends when the signal aborts or the iterator returns,
   * and fails where a guard does that is asked what may be seen. O(1); while it goes on, each change is shown to it: O(watchers) more.
   */
  watch(path: Path, options?: WatchOptions): AsyncIterableIterator<WatchEvent>;

  /** What is in use. O(1). */
  stats(options?: CallOptions): Promise<FileSystemStats>;

  /** Remembers the state as it is. O(1). @throws FsError ENOSPC at `maxCheckpoints`, EEXIST for a name in use */
  checkpoint(name?: string, options?: CallOptions): Promise<Checkpoint>;
  /** Oldest first; O(checkpoints). @throws FsError EINVAL inside a transaction, which keeps no states */
  checkpoints(options?: CallOptions): Promise<Checkpoint[]>;
  /** Makes the state what it was at the checkpoint, exactly; O(1). Open handles become EBADF. The checkpoint stays. */
  rollback(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void>;
  /** Forgets a checkpoint; O(1), what only it held is freed as garbage. */
  drop(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void>;
  /**
   * An independent filesystem with the same state, limits and clock, without the checkpoints; O(1).
   * @throws FsError EINVAL inside a transaction, which has no state of its own before it ends
   */
  fork(options?: CallOptions): Promise<FileSystem>;
  /**
   * Runs `work` on a private view; what it did happens at once when it fulfils, or not at all when it rejects. It may
   * run again where others wrote what it read in the meantime, names that it listed or did not find included. Those that
   * have to run again on a storage in memory do so one after another. O(1) to begin, O(what it read and changed) to end.
   * @throws StorageError `conflict` when it lost too often
   */
  transaction<T>(work: (fileSystem: FileSystem) => Promise<T>, options?: CallOptions): Promise<T>;

  /** Runs an {@link ViewFunction} atomically: how search, snapshots and your own operations are built. O(1) more than the operation. */
  run<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A, options?: CallOptions): Promise<R>;
  /** Runs a {@link Cursor} over one point in time, in slices that leave the event loop free. O(1) to begin. */
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T>;

  /**
   * Runs a {@link Cursor} over two states side by side: checkpoints, or undefined for the current one. How `diff` is built:
   * in O(what changed), as a cursor can skip what both share.
   */
  compare<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    options?: CallOptions,
  ): Promise<T[]>;

  /** Lets go of what is held: watchers end, later calls fail with EBADF. The storage is closed where this filesystem made it. O(1). */
  close(): Promise<void>;
}

/** The same filesystem where the storage is synchronous: every method also as `…Sync`. */
export interface SyncFileSystem extends FileSystem {
  readonly kind: 'sync';
  existsSync(path: Path): boolean;
  isFileSync(path: Path): boolean;
  isDirectorySync(path: Path): boolean;
  getEntrySync(path: Path): FileEntry;
  statSync(path: Path): Stats;
  lstatSync(path: Path): Stats;
  accessSync(path: Path, mode?: number): void;
  realpathSync(path: Path): string;
  mkdirSync(path: Path, options?: MkdirOptions): string | undefined;
  mkdtempSync(prefix: string): string;
  readdirSync(path: Path, options: ReaddirOptions & { readonly withContent: true }): FileEntry[];
  readdirSync(path: Path, options: ReaddirOptions & { readonly withFileTypes: true }): EntryInfo[];
  readdirSync(
    path: Path,
    options?: ReaddirOptions & { readonly withFileTypes?: false; readonly withContent?: false },
  ): string[];
  walkSync(path?: Path, options?: WalkOptions): IterableIterator<EntryInfo>;
  readFileSync(path: Path, options: ReadFileOptions & { readonly encoding: 'utf8' | 'utf-8' }): string;
  readFileSync(path: Path, options?: ReadFileOptions & { readonly encoding?: undefined }): Uint8Array<ArrayBuffer>;
  readTextSync(path: Path): string;
  readLinesSync(path: Path): string[];
  writeFileSync(path: Path, data: Content, options?: WriteFileOptions): void;
  writeLinesSync(path: Path, lines: Iterable<string>, options?: WriteFileOptions): void;
  appendFileSync(path: Path, data: Content, options?: WriteFileOptions): void;
  editFileSync(path: Path, search: string, replacement: string, options?: EditOptions): number;
  truncateSync(path: Path, length?: number): void;
  openSync(path: Path, flags?: OpenFlags, options?: OpenOptions): SyncFileHandle;
  rmSync(path: Path, options?: RmOptions): void;
  unlinkSync(path: Path): void;
  rmdirSync(path: Path): void;
  cpSync(source: Path, destination: Path, options?: CpOptions): void;
  copyFileSync(source: Path, destination: Path, options?: { readonly exclusive?: boolean | undefined }): void;
  renameSync(from: Path, to: Path): void;
  symlinkSync(target: string, path: Path): void;
  readlinkSync(path: Path): string;
  linkSync(existing: Path, path: Path): void;
  chmodSync(path: Path, mode: number): void;
  chownSync(path: Path, uid: number, gid: number): void;
  lchownSync(path: Path, uid: number, gid: number): void;
  utimesSync(path: Path, atime: number | Date, mtime: number | Date): void;
  lutimesSync(path: Path, atime: number | Date, mtime: number | Date): void;
  statsSync(): FileSystemStats;
  checkpointSync(name?: string): Checkpoint;
  checkpointsSync(): Checkpoint[];
  rollbackSync(checkpoint: Checkpoint | string): void;
  dropSync(checkpoint: Checkpoint | string): void;
  forkSync(): SyncFileSystem;
  fork(options?: CallOptions): Promise<SyncFileSystem>;
  /**
   * Runs `work` once on a private view. Its changes take effect atomically when it returns, or not at all when it throws.
   * While it runs, every access that does not go through the filesystem that `work` is given throws EBUSY: through this
   * filesystem, another one on the same storage, or a file opened outside. A guard that is asked may read. Closing a file or the storage is allowed; the
   * storage closes after the transaction has committed.
   * @throws TypeError where `work` answers a promise
   */
  transactionSync<T>(work: (fileSystem: SyncFileSystem) => T): T;
  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R;
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T>;
  compareSync<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
  ): T[];
  /** A record that `createFileSystem({ files })` takes back: text, bytes as `{ base64 }`, links as `{ symlink }`, empty directories as null. Modes and times are not in it. @throws FsError EFBIG naming the first file of more than 256 MiB, before any is read */
  toJSON(): Record<string, string | { base64: string } | { symlink: string } | null>;
}
