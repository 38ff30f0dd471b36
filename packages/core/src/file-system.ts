import type { BytesOptions, CopyFilter, Mode, ReadFileOptions, TextEncoding, TimeLike } from './argument-types.js';
import type { CallOptions } from './call-options.js';
import type { Content } from './content.js';
import type { Dir } from './dir.js';
import type { Cursor } from './engine/cursor.js';
import type { View } from './engine/view.js';
import type { ViewFunction } from './engine/view-function.js';
import type { Dirent, EntryInfo, FileEntry, Stats } from './entry.js';
import type { FileHandle, SyncFileHandle } from './file-handle.js';
import type { FileSystemStats, Limits } from './limits.js';
import type { Path } from './paths.js';

export type { BytesOptions, CallOptions, Content, CopyFilter, Mode, Path, ReadFileOptions, TextEncoding, TimeLike };

/** Open flags as in `node:fs`: `x` fails if the file exists, `a` always writes at the end. */
export type OpenFlag = 'r' | 'r+' | 'w' | 'wx' | 'w+' | 'wx+' | 'a' | 'ax' | 'a+' | 'ax+';

/**
 * Open flags as separate options, for combinations that no {@link OpenFlag} names; see `open(2)`. Each is false by
 * default.
 */
export interface OpenHow {
  /** Open for reading. Either this or `write` is required. */
  readonly read?: boolean | undefined;
  readonly write?: boolean | undefined;
  /** Writes always go to the end. */
  readonly append?: boolean | undefined;
  /** Create the file if it is missing. */
  readonly create?: boolean | undefined;
  /** With `create`: fail if the name is taken, even by a dangling link. */
  readonly exclusive?: boolean | undefined;
  /** Truncate the file to zero bytes. */
  readonly truncate?: boolean | undefined;
  /** Fail with ELOOP if the last name is a link (with `directory` ENOTDIR, with `exclusive` EEXIST). */
  readonly noFollow?: boolean | undefined;
  /** Fail with ENOTDIR if the path is not a directory. */
  readonly directory?: boolean | undefined;
}

export type OpenFlags = OpenFlag | OpenHow;

/** Options of methods that return names or paths, which are always text. */
export interface NameOptions extends CallOptions {
  readonly encoding?: 'utf8' | 'utf-8' | null | undefined;
}
/** A condition on the state of an entry, checked in the same atomic step as the change. */
export interface VersionOptions {
  /**
   * Version that the entry must have, as `stat` reported it (for `rm` and `rename`: `lstat`). With another one the call
   * fails with ECHANGED, which has both versions, and changes nothing: read the entry again and decide anew. A missing
   * entry is ENOENT; with the option `force` of `rm` it counts as removed. Default: no condition.
   */
  readonly ifVersion?: string | undefined;
}
export interface WriteFileOptions extends CallOptions, VersionOptions {
  /** Encoding of content that is text. Default `utf8`. */
  readonly encoding?: TextEncoding | null | undefined;
  /** Permission bits of a new file. Default 0o644. */
  readonly mode?: Mode | undefined;
  /** Default `w` (create or replace), for `appendFile` `a`. */
  readonly flag?: Exclude<OpenFlag, 'r'> | undefined;
  /** Accepted as in node, without effect. */
  readonly flush?: boolean | undefined;
}
export interface MkdirOptions extends CallOptions {
  /** Also create missing parents, and accept an existing directory. Default false. */
  readonly recursive?: boolean | undefined;
  /** Permission bits of the new directories. Default 0o755. */
  readonly mode?: Mode | undefined;
}
export interface ReaddirOptions extends NameOptions {
  /**
   * Also list everything under subdirectories, in the order of `walk`. Names are then paths relative to the listed
   * directory, except in {@link Dirent} objects. Default false.
   */
  readonly recursive?: boolean | undefined;
  /** Return {@link Dirent} objects instead of names. Default false. */
  readonly withFileTypes?: boolean | undefined;
}
export interface OpendirOptions extends NameOptions {
  /** Also list everything under subdirectories. Default false. */
  readonly recursive?: boolean | undefined;
  /** Accepted as in node: all entries are read together. */
  readonly bufferSize?: number | undefined;
}
export interface EntriesOptions extends CallOptions {
  /** Return {@link FileEntry} objects, which have the contents too. Default false. */
  readonly content?: boolean | undefined;
}
export interface RmOptions extends CallOptions, VersionOptions {
  /**
   * Remove a directory with everything in it. Default false. `ifVersion` covers only the directory's own names and
   * metadata: its version does not change with the entries under its names.
   */
  readonly recursive?: boolean | undefined;
  /** Ignore a missing path. Default false. */
  readonly force?: boolean | undefined;
  /** Accepted as in node: no removal has to be tried again. */
  readonly maxRetries?: number | undefined;
  /** Accepted as in node. */
  readonly retryDelay?: number | undefined;
}
export interface CpOptions extends CallOptions {
  /**
   * Called for each entry before anything is copied, parents first. An entry for which it returns a false value is left
   * out with everything under it. It may return a promise, except in `cpSync`. An entry that appears after these calls
   * is left out too. Copied directories may get new times even with `preserveTimestamps`. Default: everything is
   * copied.
   */
  readonly filter?: CopyFilter | undefined;
  /** Copy a directory with everything in it. Default false. */
  readonly recursive?: boolean | undefined;
  /** Replace existing files. Default true. */
  readonly force?: boolean | undefined;
  /** With `force: false`: fail with EEXIST instead of keeping existing files silently. Default false. */
  readonly errorOnExist?: boolean | undefined;
  /** Keep the times of the source. Default false. */
  readonly preserveTimestamps?: boolean | undefined;
}
export interface OpenOptions extends CallOptions {
  /** Permission bits of a created file. Default 0o644. */
  readonly mode?: Mode | undefined;
}
export interface WalkOptions extends CallOptions {
  /** Levels under the start to list; 1 is its own entries. Default: all. */
  readonly maxDepth?: number | undefined;
}
export interface ReadStreamOptions extends CallOptions {
  /** First byte. Default 0. */
  readonly start?: number | undefined;
  /** Last byte, inclusive, as in `node:fs`. Default: the end of the file. */
  readonly end?: number | undefined;
  /** Maximum bytes per chunk. Default 65,536; a value above 16 MiB counts as 16 MiB. */
  readonly highWaterMark?: number | undefined;
}
export interface WriteStreamOptions extends CallOptions {
  /** Default `w`. */
  readonly flags?: 'w' | 'wx' | 'r+' | 'a' | 'ax' | undefined;
  readonly mode?: Mode | undefined;
  /** Position of the first byte; without effect for `a` and `ax`. Default 0. */
  readonly start?: number | undefined;
}
/** `ifVersion` is the version of the entry that is moved, not of one that it replaces. */
export interface RenameOptions extends CallOptions, VersionOptions {}
export interface EditOptions extends CallOptions, VersionOptions {
  /** Replace every occurrence. Default false: the text must occur exactly once. */
  readonly all?: boolean | undefined;
}
export interface ForkOptions extends CallOptions {
  /** The checkpoint whose state the fork starts with. Default: the current state. */
  readonly from?: Checkpoint | string | undefined;
}
export interface WatchOptions extends NameOptions {
  /** Also watch everything under a directory. Default false: the directory and its own entries. */
  readonly recursive?: boolean | undefined;
  /** Events buffered for a slow consumer. If there are more, one `overflow` replaces the newest. Default 1,024. */
  readonly maxQueue?: number | undefined;
  /** Accepted as in node, without effect. */
  readonly persistent?: boolean | undefined;
}

/** Options of a write, or an encoding in their place. */
export type WriteArgument = WriteFileOptions | TextEncoding | null;
/** Encoding of names and paths: they are always text. */
export type NameEncoding = 'utf8' | 'utf-8' | null;
/** Options of a method that returns names, or an encoding in their place. */
export type NameArgument = NameOptions | NameEncoding;
/** Node's type of a symbolic link, which only Windows needs. */
export type LinkType = 'file' | 'dir' | 'junction' | null;

/**
 * One change at or under a watched path. `overflow` means that the whole state was replaced, or that events were or may
 * have been dropped: list again.
 */
export interface WatchEvent {
  readonly type: 'create' | 'modify' | 'remove' | 'rename' | 'overflow';
  /** The changed path; for `rename` the new one, for `overflow` any watched one. */
  readonly path: string;
  /** The old path of a `rename`. */
  readonly from?: string;
  /** For `create`: true if the file was created with content, in one call. */
  readonly hasContent?: true;
}

/** A state to go back to. Kept until dropped. */
export interface Checkpoint {
  /** Unique in its filesystem. */
  readonly id: string;
  /** The name given at creation. */
  readonly name?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/**
 * Abilities of a filesystem, true of the whole stack of layers: what is declared works. A call that needs an undeclared
 * ability fails with ENOTSUP, with the error of the layer that forbids it (EROFS for a read-only one, EINVAL in a
 * transaction), or with ENOENT if it names a checkpoint and there are none.
 */
export interface Capabilities {
  /** `checkpoint` and `drop`, in O(1) or one request. */
  readonly checkpoints: boolean;
  /**
   * `rollback` to a checkpoint, in O(1) or one request; under `restrict`, unless everything is allowed, by comparing
   * both states.
   */
  readonly rollback: boolean;
  /** `at` of a checkpoint; if `forks` is declared too, also `fork({ from })`. */
  readonly at: boolean;
  /** `diff` and `formatDiff` of checkpoints with each other and with the current state. */
  readonly diff: boolean;
  /** `restoreSnapshot`. */
  readonly restore: boolean;
  /** `transaction`. */
  readonly transactions: boolean;
  /** `fork` in O(1) or one request. */
  readonly forks: boolean;
  /** `watch` also sees the changes of other clients. */
  readonly sharedWatch: boolean;
  /** Changes at some path. False if every change is known to be refused, as under `readonly`. */
  readonly writes: boolean;
}

/**
 * A filesystem: POSIX rules over a storage. Methods have the names and meaning of `node:fs/promises` where one exists;
 * the intended differences are listed in `.github/DIFFERENCES.md`. Changes are atomic, unless a layer such as `mount`
 * says otherwise: every other reader and writer sees all of a call's changes or none.
 *
 * The stated costs are for a storage in memory; on a remote one, requests count. *Depth* is the number of names in the
 * path: each is one search in its directory, logarithmic in the number of entries. The first write after a checkpoint,
 * a fork or a walk may copy what it changes: about 128 names of each directory on the path; the file, or above 64 KiB
 * only the changed chunks of 16 KiB; and if the file has several names, the table of all such files.
 *
 * On a storage that several clients share, an operation runs again on the new state if another client has changed what
 * it read before it could commit: the later of two `writeFile` calls replaces the earlier one's content, and of two
 * `appendFile` calls both stay, one after the other.
 *
 * @throws FsError as node does: ENOENT, ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG, EINVAL …; ENOSPC and EFBIG at a
 *     limit, with `limit`, `used`, `requested`; ECHANGED if an entry does not have the version of `ifVersion`
 * @throws StorageError if the storage failed; `conflict` if other clients overtook an operation too often
 * @throws TypeError for arguments of a wrong type and for unknown options
 */
export interface FileSystem extends AsyncDisposable {
  readonly kind: 'sync' | 'async';
  readonly capabilities: Capabilities;
  /**
   * The filesystem's limits. Over a remote storage they are as this client last learned them: from its opening, from a
   * write of its own, or from an operation that a limit refused. Stored limits hold even before this client learns
   * them.
   */
  readonly limits: Limits;
  /** The promise methods as functions, which need no `this`: `const { readFile } = fs.promises`. */
  readonly promises: FileSystemPromises;

  /**
   * Reports whether the path leads to an entry, following links. Never throws for a path that cannot exist. O(depth).
   */
  exists(path: Path, options?: CallOptions): Promise<boolean>;
  /** Reports whether the path leads to a file; false if nothing exists there. O(depth). */
  isFile(path: Path, options?: CallOptions): Promise<boolean>;
  /** Reports whether the path leads to a directory; false if nothing exists there. O(depth). */
  isDirectory(path: Path, options?: CallOptions): Promise<boolean>;
  /** Returns the entry at a path with its content; a final link is not followed. O(depth + bytes). */
  getEntry(path: Path, options?: CallOptions): Promise<FileEntry>;
  /** Returns metadata; a final link is followed. O(depth). */
  stat(path: Path, options?: CallOptions): Promise<Stats>;
  /** Like {@link stat}, but a final link is not followed. O(depth). */
  lstat(path: Path, options?: CallOptions): Promise<Stats>;
  /**
   * Fails if the path does not exist, or for writing (2) if a layer forbids that. Modes are stored, not enforced,
   * except that execution (1) of a file without an x bit is EACCES. O(depth).
   */
  access(path: Path, mode?: number, options?: CallOptions): Promise<void>;
  /** Returns the absolute path that a path leads to, without links. O(depth). */
  realpath(path: Path, options?: NameArgument): Promise<string>;

  /**
   * Creates a directory. With `recursive`, returns the first created directory, else undefined. O(depth).
   * @throws FsError without `recursive`: EEXIST if the path exists, ENOENT if its parent does not
   */
  mkdir(path: Path, options?: MkdirOptions | Mode): Promise<string | undefined>;
  /** Creates a directory named by the prefix and six random characters, and returns its path. O(depth). */
  mkdtemp(prefix: Path, options?: NameArgument): Promise<string>;
  /** Returns a directory's names, or names with kinds, sorted by UTF-8 bytes. O(depth + entries). */
  readdir(path: Path, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<Dirent[]>;
  readdir(
    path: Path,
    options?: (ReaddirOptions & { readonly withFileTypes?: false | undefined }) | NameEncoding,
  ): Promise<string[]>;
  /** Opens a directory, to read its entries one by one. O(depth + entries). */
  opendir(path: Path, options?: OpendirOptions | NameEncoding): Promise<Dir>;
  /**
   * Returns everything about each entry of a directory, sorted by UTF-8 bytes, and with `content` also the contents.
   * O(depth + entries), with content also O(bytes).
   */
  entries(path: Path, options: EntriesOptions & { readonly content: true }): Promise<FileEntry[]>;
  entries(path: Path, options?: EntriesOptions): Promise<EntryInfo[]>;
  /**
   * Yields everything under a directory, parents first, siblings by UTF-8 bytes; links are listed, not entered. Starts
   * in O(depth), regardless of the size; each entry is O(1).
   *
   * Shows one point in time on a synchronous storage, and on a remote one if the tree's listings fit into one request
   * (4 MiB, about 20,000 entries). In a larger tree each directory is shown as of its own moment after the call, as on
   * a disk; a `transaction` shows one point in time at any size, read before the first entry arrives.
   */
  walk(path?: Path, options?: WalkOptions): AsyncIterableIterator<EntryInfo>;

  /** Returns the whole content as bytes, which the caller owns, or as text. O(depth + bytes). */
  readFile(
    path: Path,
    options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding,
  ): Promise<string>;
  readFile(path: Path, options?: BytesOptions | null): Promise<Uint8Array<ArrayBuffer>>;
  readFile(path: Path, options?: ReadFileOptions | TextEncoding | null): Promise<Uint8Array<ArrayBuffer> | string>;
  /** Returns the file as UTF-8 text. Malformed bytes become U+FFFD, a byte order mark is kept. O(depth + bytes). */
  readText(path: Path, options?: CallOptions): Promise<string>;
  /** Returns the file's lines without their ends (`\n` or `\r\n`); a final newline adds no line. O(depth + bytes). */
  readLines(path: Path, options?: CallOptions): Promise<string[]>;
  /**
   * Replaces the whole content; a missing file is created, and a final link is followed. With the flag `r+` it
   * overwrites the beginning of an existing file and keeps the rest; with `a` it appends. Text of 1,048,576 UTF-16
   * units or more is encoded in slices first: await the call before operations that must follow it. O(depth + bytes).
   * @throws FsError EISDIR for a directory, EEXIST with a flag with `x` if the path exists, ENOENT with `r+` if it does
   * not
   */
  writeFile(path: Path, data: Content, options?: WriteArgument): Promise<void>;
  /** Like {@link writeFile}, of every line followed by `\n`. O(depth + bytes). */
  writeLines(path: Path, lines: Iterable<string>, options?: WriteFileOptions): Promise<void>;
  /** Appends to a file; a missing file is created. O(depth + appended bytes), regardless of the file's size. */
  appendFile(path: Path, data: Content, options?: WriteArgument): Promise<void>;
  /**
   * Replaces an exact piece of text, which must occur once (or, with `all`, at least once). Returns the number of
   * replacements. O(depth + bytes of the file).
   * @throws FsError EINVAL if the text is empty or does not occur, occurs more than once without `all`, or the file is
   *   not UTF-8; the file is then unchanged
   */
  editFile(path: Path, search: string, replacement: string, options?: EditOptions): Promise<number>;
  /**
   * Truncates the content to a length in bytes (default 0), or extends it by zeros, which take no space in files of
   * more than 4 KiB. O(depth).
   */
  truncate(path: Path, length?: number, options?: CallOptions): Promise<void>;
  /** Reads the file in chunks, O(bytes) each. */
  createReadStream(path: Path, options?: ReadStreamOptions): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Writes the file in chunks, O(bytes) each. */
  createWriteStream(path: Path, options?: WriteStreamOptions): WritableStream<Content>;
  /** Opens a file. O(depth); reads and writes are then O(depth + their bytes), anywhere in the file. */
  open(path: Path, flags?: OpenFlags, options?: OpenOptions | Mode): Promise<FileHandle>;

  /**
   * Removes a file, a link, or with `recursive` a directory. The root cannot be removed: `rm('/', { recursive: true })`
   * is EBUSY. A final link is removed, not followed. O(depth); if names of files with several names are removed,
   * O(entries of the directories that contain them).
   * @throws FsError EISDIR for a directory without `recursive`, ENOENT without `force`
   */
  rm(path: Path, options?: RmOptions): Promise<void>;
  /** Removes a file or link; a final link is not followed. O(depth). @throws FsError EISDIR for a directory */
  unlink(path: Path, options?: CallOptions): Promise<void>;
  /** Removes an empty directory. O(depth). @throws FsError ENOTEMPTY, ENOTDIR for another entry, EBUSY for the root */
  rmdir(path: Path, options?: CallOptions): Promise<void>;
  /**
   * Copies a file, a link (as a link), or with `recursive` a directory (merged into an existing one). Missing parents
   * of the destination are created. Contents are shared, not copied: O(depth + entries).
   * @throws FsError EISDIR for a directory without `recursive` or for a destination that is one while the source is
   *   not; ENOTDIR for a directory onto another kind of entry; EINVAL onto or into itself; EEXIST with `force: false`
   *   and `errorOnExist`, or for a link that leads to the file that it would replace
   */
  cp(source: Path, destination: Path, options?: CpOptions): Promise<void>;
  /**
   * Copies a file over an existing one or to a new path, following links on both sides; the content is shared.
   * O(depth). A number instead of the options is node's mode, of which only `COPYFILE_EXCL` (1) has an effect.
   * @throws FsError EISDIR if either is a directory; EEXIST with `exclusive` if the destination exists, even as a
   *   dangling link
   */
  copyFile(
    source: Path,
    destination: Path,
    options?: (CallOptions & { readonly exclusive?: boolean | undefined }) | number,
  ): Promise<void>;
  /**
   * Moves an entry to another path. A file or link replaces a file or link there; a directory replaces an empty
   * directory. Final links are not followed. If both paths are names of one file, both stay. O(depth), regardless of
   * the contents; O(entries) only if paths could become too deep or too long.
   * @throws FsError EISDIR if `to` is a directory and `from` is not; ENOTDIR for a directory onto another kind of
   *   entry; ENOTEMPTY if the directory at `to` has entries, or if `from`, of any kind, lies under `to`; EINVAL for a
   *   directory into itself; EBUSY for the root
   */
  rename(from: Path, to: Path, options?: RenameOptions): Promise<void>;

  /**
   * Creates a symbolic link; its target need not exist. Node's type of a link may stand in place of the options,
   * without effect. O(depth). @throws FsError EEXIST if the path exists
   */
  symlink(target: Path, path: Path, options?: CallOptions | LinkType): Promise<void>;
  /** Returns a symbolic link's target. O(depth). @throws FsError EINVAL for another kind of entry */
  readlink(path: Path, options?: NameArgument): Promise<string>;
  /**
   * Creates another name for a file, or for a link, which is not followed. O(depth).
   * @throws FsError EEXIST if the path exists, EPERM for a directory
   */
  link(existing: Path, path: Path, options?: CallOptions): Promise<void>;
  /** Sets the permission bits; a final link is followed. O(depth). */
  chmod(path: Path, mode: Mode, options?: CallOptions): Promise<void>;
  /** Sets user and group, which are stored and not enforced; a final link is followed. O(depth). */
  chown(path: Path, uid: number, gid: number, options?: CallOptions): Promise<void>;
  /** Like {@link chown}, but a final link is not followed. O(depth). */
  lchown(path: Path, uid: number, gid: number, options?: CallOptions): Promise<void>;
  /**
   * Sets access and modification time; a final link is followed. A number is epoch *seconds*, as in node; a Date is
   * also accepted. O(depth).
   */
  utimes(path: Path, atime: TimeLike, mtime: TimeLike, options?: CallOptions): Promise<void>;
  /** Like {@link utimes}, but a final link is not followed. O(depth). */
  lutimes(path: Path, atime: TimeLike, mtime: TimeLike, options?: CallOptions): Promise<void>;
  /**
   * Yields changes at or (for a directory) under a path, from the call on. Ends if the signal aborts, the iterator
   * returns or the filesystem is closed, and fails if a guard fails or the storage can no longer report changes. The
   * first `next` rejects with ENOENT if nothing exists at the path. O(depth); while it runs, each change costs
   * O(watchers) more.
   */
  watch(path: Path, options?: WatchOptions | NameEncoding): AsyncIterableIterator<WatchEvent>;

  /** Returns the current usage. O(1). */
  stats(options?: CallOptions): Promise<FileSystemStats>;

  /**
   * Replaces the filesystem's limits, atomically and for every client; a limit that is not given no longer holds.
   * Limits below the current usage are allowed: they refuse growth only. Contents, checkpoints and existing forks are
   * not affected, and `rollback` and `restoreSnapshot` do not change limits. O(1).
   * @throws TypeError, RangeError for limits of a wrong kind
   * @throws FsError EPERM in a layer and in a filesystem that `at` returned; EINVAL inside a transaction
   */
  setLimits(limits: Limits, options?: CallOptions): Promise<void>;
  /** Saves the current state. O(1). @throws FsError ENOSPC at `maxCheckpoints`, EEXIST for a name or id in use */
  checkpoint(name?: string, options?: CallOptions): Promise<Checkpoint>;
  /**
   * Returns the checkpoints, oldest first; O(checkpoints). @throws FsError EINVAL inside a transaction, which has none
   */
  checkpoints(options?: CallOptions): Promise<Checkpoint[]>;
  /**
   * Restores the exact state of a checkpoint, which is kept; O(1), but under `restrict` see there. Handles opened
   * before fail with EBADF. `maxFileSize` is not checked: the files had their sizes before. Under `restrict`, hidden
   * entries stay as they are, and handles stay valid unless everything is allowed; see there.
   * @throws FsError ENOSPC, without any change, if usage would grow above `maxTotalSize` or `maxNodeCount`
   */
  rollback(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void>;
  /** Deletes a checkpoint; O(1). Contents that only the checkpoint held are freed as garbage. */
  drop(checkpoint: Checkpoint | string, options?: CallOptions): Promise<void>;
  /**
   * Returns the state of a checkpoint as a read-only filesystem; O(1), nothing is copied. Every reading method works;
   * changes fail with EROFS, `checkpoint`, `rollback` and `drop` too. `fork` of it is one more view of the checkpoint.
   * Reads fail with ENOENT once the checkpoint has been dropped, except that a remote storage may still return what
   * this client has read before: to keep the state, use `fork({ from })`. `close` ends the view.
   *
   * Give code that you do not trust `readonly(fs.at(checkpoint))`: as on every filesystem that is not a layer,
   * callbacks of `run` and `iterate` get the tree itself, whose nodes the current state may share.
   * @throws FsError ENOENT for a checkpoint that this filesystem does not hold; EINVAL inside a transaction
   */
  at(checkpoint: Checkpoint | string, options?: CallOptions): Promise<FileSystem>;
  /**
   * Returns an independent filesystem with the same state, limits and clock, without the checkpoints; O(1). Later
   * changes of limits of one of the two do not affect the other. With `from` it starts with the state of a checkpoint,
   * which may be dropped afterwards.
   * @throws FsError ENOENT for a checkpoint that this filesystem does not hold; EINVAL inside a transaction, which has
   *   no state of its own before it ends
   */
  fork(options?: ForkOptions): Promise<FileSystem>;
  /**
   * Runs `work` on a private view. Its changes take effect atomically when its promise fulfils, or not at all when it
   * rejects. It may run again if other writers changed what it read, including names that it listed or did not find. On
   * a storage in memory repeated transactions take turns. O(1) to begin, O(what it read and changed) to end.
   * @throws StorageError `conflict` if it lost too many races
   */
  transaction<T>(work: (fileSystem: FileSystem) => Promise<T>, options?: CallOptions): Promise<T>;

  /**
   * Runs a {@link ViewFunction} atomically. Search, snapshots and custom operations are built on it. O(1) on top of the
   * function.
   */
  run<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A, options?: CallOptions): Promise<R>;
  /**
   * Runs a {@link Cursor} in slices that keep the event loop free: over one point in time on a synchronous storage, on
   * a remote one as {@link walk} does. O(1) to begin.
   */
  iterate<T>(start: (view: View) => Cursor<T>, options?: CallOptions): AsyncIterableIterator<T>;

  /**
   * Runs a {@link Cursor} over two states side by side: checkpoints, or undefined for the current one. `diff` is built
   * on it and costs O(changes), because a cursor can skip shared parts.
   */
  compare<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    options?: CallOptions,
  ): Promise<T[]>;

  /**
   * Releases everything held: watchers end, later calls fail with EBADF. The storage is closed too if the filesystem
   * was opened with `closesStorage`. O(1).
   */
  close(): Promise<void>;
}

/** The promise methods of a filesystem. */
export type FileSystemPromises = Omit<
  FileSystem,
  'kind' | 'capabilities' | 'limits' | 'promises' | typeof Symbol.asyncDispose
>;

/** A filesystem on a synchronous storage: its methods also exist as `…Sync`, except `watch`, streams and `close`. */
export interface SyncFileSystem extends FileSystem {
  readonly kind: 'sync';
  existsSync(path: Path): boolean;
  isFileSync(path: Path): boolean;
  isDirectorySync(path: Path): boolean;
  getEntrySync(path: Path): FileEntry;
  statSync(path: Path): Stats;
  lstatSync(path: Path): Stats;
  accessSync(path: Path, mode?: number): void;
  realpathSync(path: Path, options?: NameArgument): string;
  mkdirSync(path: Path, options?: MkdirOptions | Mode): string | undefined;
  mkdtempSync(prefix: Path, options?: NameArgument): string;
  readdirSync(path: Path, options: ReaddirOptions & { readonly withFileTypes: true }): Dirent[];
  readdirSync(
    path: Path,
    options?: (ReaddirOptions & { readonly withFileTypes?: false | undefined }) | NameEncoding,
  ): string[];
  opendirSync(path: Path, options?: OpendirOptions | NameEncoding): Dir;
  entriesSync(path: Path, options: EntriesOptions & { readonly content: true }): FileEntry[];
  entriesSync(path: Path, options?: EntriesOptions): EntryInfo[];
  walkSync(path?: Path, options?: WalkOptions): IterableIterator<EntryInfo>;
  readFileSync(path: Path, options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding): string;
  readFileSync(path: Path, options?: BytesOptions | null): Uint8Array<ArrayBuffer>;
  readFileSync(path: Path, options?: ReadFileOptions | TextEncoding | null): Uint8Array<ArrayBuffer> | string;
  readTextSync(path: Path): string;
  readLinesSync(path: Path): string[];
  writeFileSync(path: Path, data: Content, options?: WriteArgument): void;
  writeLinesSync(path: Path, lines: Iterable<string>, options?: WriteFileOptions): void;
  appendFileSync(path: Path, data: Content, options?: WriteArgument): void;
  editFileSync(path: Path, search: string, replacement: string, options?: EditOptions): number;
  truncateSync(path: Path, length?: number): void;
  openSync(path: Path, flags?: OpenFlags, options?: OpenOptions | Mode): SyncFileHandle;
  rmSync(path: Path, options?: RmOptions): void;
  unlinkSync(path: Path): void;
  rmdirSync(path: Path): void;
  cpSync(source: Path, destination: Path, options?: CpOptions): void;
  copyFileSync(source: Path, destination: Path, options?: { readonly exclusive?: boolean | undefined } | number): void;
  renameSync(from: Path, to: Path, options?: RenameOptions): void;
  symlinkSync(target: Path, path: Path, type?: LinkType): void;
  readlinkSync(path: Path, options?: NameArgument): string;
  linkSync(existing: Path, path: Path): void;
  chmodSync(path: Path, mode: Mode): void;
  chownSync(path: Path, uid: number, gid: number): void;
  lchownSync(path: Path, uid: number, gid: number): void;
  utimesSync(path: Path, atime: TimeLike, mtime: TimeLike): void;
  lutimesSync(path: Path, atime: TimeLike, mtime: TimeLike): void;
  statsSync(): FileSystemStats;
  setLimitsSync(limits: Limits): void;
  checkpointSync(name?: string): Checkpoint;
  checkpointsSync(): Checkpoint[];
  rollbackSync(checkpoint: Checkpoint | string): void;
  dropSync(checkpoint: Checkpoint | string): void;
  atSync(checkpoint: Checkpoint | string): SyncFileSystem;
  at(checkpoint: Checkpoint | string, options?: CallOptions): Promise<SyncFileSystem>;
  forkSync(options?: Omit<ForkOptions, 'signal'>): SyncFileSystem;
  fork(options?: ForkOptions): Promise<SyncFileSystem>;
  /**
   * Runs `work` once on a private view. Its changes take effect atomically when it returns, or not at all when it
   * throws. While it runs, every access that does not go through the filesystem that `work` is given throws EBUSY:
   * through this filesystem, another one on the same storage, or a file opened outside. A guard may read. Closing a
   * file or the storage is allowed; the transaction still commits then.
   * @throws TypeError if `work` returns a promise
   */
  transactionSync<T>(work: (fileSystem: SyncFileSystem) => T): T;
  runSync<A extends readonly unknown[], R>(operation: ViewFunction<A, R>, args: A): R;
  iterateSync<T>(start: (view: View) => Cursor<T>): IterableIterator<T>;
  compareSync<T>(
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
  ): T[];
  /**
   * Returns a record that `createFileSystem({ files })` accepts: text, bytes as `{ base64 }`, links as `{ symlink }`,
   * empty directories as null. Modes and times are not included. @throws FsError EFBIG naming the first file of more
   * than 256 MiB, before any is read
   */
  toJSON(): Record<string, string | { base64: string } | { symlink: string } | null>;
}
