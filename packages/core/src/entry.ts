export type EntryKind = 'file' | 'directory' | 'symlink';

/** Everything about one entry except its content. Times are epoch milliseconds. */
export interface EntryInfo {
  /** The last segment of the path; `/` for the root. */
  readonly name: string;
  /** The absolute, normalized path. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly isDirectory: boolean;
  /** Bytes of content; for a symlink the bytes of its target in UTF-8; 0 for a directory. */
  readonly size: number;
  /** Permission bits, 0 … 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
  /** Time of the last change of content or metadata (POSIX ctime). */
  readonly changedAt: number;
  /** Set by creation and `utimes`; reads do not change it. */
  readonly accessedAt: number;
  /** Number of names of the file or symlink; 1 for a directory. */
  readonly links: number;
  /** Target of a symlink, exactly as given; undefined otherwise. */
  readonly target?: string;
}

/**
 * The value at a path, with its content: the unit of a {@link Storage}. A file with several names has an entry for
 * each.
 */
export interface FileEntry extends EntryInfo {
  /** A copy of the content; empty for a directory and a symlink. */
  readonly content: Uint8Array;
}

/**
 * An entry for `Storage.set`. What is not given gets the value of a new entry, except that an existing entry keeps
 * `createdAt`.
 */
export interface NewEntry {
  readonly path: string;
  /** Default: `directory` if `isDirectory` is true, `symlink` if `target` is given, else `file`. */
  readonly kind?: EntryKind;
  readonly isDirectory?: boolean;
  /** Bytes or text of a file. Default: empty. */
  readonly content?: Uint8Array | string;
  readonly target?: string;
  /** Default: 0o644 for a file, 0o755 for a directory, 0o777 for a symlink. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly createdAt?: number;
  readonly modifiedAt?: number;
  readonly changedAt?: number;
  readonly accessedAt?: number;
}

const S_IFMT = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const;

/** The methods of `node:fs` that report the kind of an entry. */
abstract class Kinded {
  // Assigned by the subclasses: with a field here, `statSync` took 12 % longer.
  abstract readonly kind: EntryKind;

  isFile(): boolean {
    return this.kind === 'file';
  }
  isDirectory(): boolean {
    return this.kind === 'directory';
  }
  isSymbolicLink(): boolean {
    return this.kind === 'symlink';
  }
  /** Returns false: pipes do not exist. */
  isFIFO(): boolean {
    return false;
  }
  /** Returns false: sockets do not exist. */
  isSocket(): boolean {
    return false;
  }
  /** Returns false: devices do not exist. */
  isBlockDevice(): boolean {
    return false;
  }
  /** Returns false: devices do not exist. */
  isCharacterDevice(): boolean {
    return false;
  }
}

/**
 * A name in a directory and the kind of its entry, as `readdir` returns it with `withFileTypes`. A link is not
 * followed.
 */
export class Dirent extends Kinded {
  constructor(
    readonly name: string,
    /** The path of the directory that has the name, based on the path that the caller of `readdir` gave. */
    readonly parentPath: string,
    readonly kind: EntryKind,
  ) {
    super();
  }
}

/** Result of `stat`: the fields and methods of `node:fs` Stats that have a meaning here. */
export class Stats extends Kinded {
  readonly blksize = 4096;
  readonly #state: string | number;
  constructor(
    readonly kind: EntryKind,
    readonly ino: number,
    /** Type and permission bits, as `st_mode`. */
    readonly mode: number,
    readonly nlink: number,
    readonly size: number,
    readonly uid: number,
    readonly gid: number,
    readonly atimeMs: number,
    readonly mtimeMs: number,
    readonly ctimeMs: number,
    readonly birthtimeMs: number,
    /** Distinguishes the filesystems that `mount` combines: `ino` is unique in each. 0 without a mount. */
    readonly dev: number = 0,
    /** A value that is unique among the states of the inode. Default: none, and the version is empty. */
    state: string | number = '',
  ) {
    super();
    this.#state = state;
  }

  /**
   * An opaque text that identifies the state of the entry, for `ifVersion`. Compare it for equality only.
   *
   * It changes with every change of content or metadata: writes, `chmod`, `chown`, `utimes`, names given and taken by
   * `link` and `rm`, and `rename` of the entry itself; for a directory with every change of its names, but not with
   * changes of the entries under its names. Reads do not change it, nor does the `rename` of a directory above. All
   * names of a file have the same version. A new state never gets the version of an earlier one; `rollback` restores
   * the version together with the state. It identifies states of one filesystem: the version of a file in a fork or
   * another filesystem says nothing. A version that a transaction has read after a change of its own may be replaced
   * when the transaction ends.
   *
   * On a directory of the host it is made of inode, size, mode, number of links and times in nanoseconds, so that two
   * changes of one file within one tick of the host's clock (some milliseconds) may have the same version if they keep
   * its size. Empty if a filesystem of another library reports none.
   */
  get version(): string {
    return this.#state === '' ? '' : versionText(this.ino, this.#state);
  }

  get blocks(): number {
    return Math.ceil(this.size / 512);
  }
  get atime(): Date {
    return new Date(this.atimeMs);
  }
  get mtime(): Date {
    return new Date(this.mtimeMs);
  }
  get ctime(): Date {
    return new Date(this.ctimeMs);
  }
  get birthtime(): Date {
    return new Date(this.birthtimeMs);
  }
}

/** Returns the version of an inode from a value that is unique among its states. */
export function versionText(ino: number, state: string | number): string {
  return `${ino}:${state}`;
}

/** Returns permission bits with the bits of the kind, as in `st_mode`. */
export function statMode(kind: EntryKind, mode: number): number {
  return S_IFMT[kind] | mode;
}
