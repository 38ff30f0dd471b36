import { escapeCharacter, UNSAFE_CHARACTERS } from './unsafe-characters.js';

/**
 * Error codes of file operations, as Linux and `node:fs` name them. `ECHANGED` is this library's own, with the errno of
 * EBUSY: the entry does not have the version given as `ifVersion`.
 */
export type FsErrorCode = keyof typeof REASONS;

const REASONS = {
  EACCES: [-13, 'permission denied'],
  EAGAIN: [-11, 'resource temporarily unavailable'],
  EBADF: [-9, 'bad file descriptor'],
  EBUSY: [-16, 'resource busy or locked'],
  ECANCELED: [-125, 'operation canceled'],
  ECHANGED: [-16, 'changed since the given version'],
  EEXIST: [-17, 'file already exists'],
  EFBIG: [-27, 'file too large'],
  EINVAL: [-22, 'invalid argument'],
  EIO: [-5, 'i/o error'],
  EISDIR: [-21, 'illegal operation on a directory'],
  ELOOP: [-40, 'too many symbolic links encountered'],
  EMLINK: [-31, 'too many links'],
  ENAMETOOLONG: [-36, 'name too long'],
  ENOENT: [-2, 'no such file or directory'],
  ENOSPC: [-28, 'no space left on device'],
  ENOTDIR: [-20, 'not a directory'],
  ENOTEMPTY: [-39, 'directory not empty'],
  ENOTSUP: [-95, 'operation not supported'],
  EPERM: [-1, 'operation not permitted'],
  EROFS: [-30, 'read-only file system'],
  ESTALE: [-116, 'stale file handle'],
  EXDEV: [-18, 'cross-device link not permitted'],
} as const satisfies Record<string, readonly [number, string]>;

/** Details of an {@link FsError} besides its code. */
export interface FsErrorDetails {
  /** The system call, as node names it (`open`, `mkdir`, `rename` …), or the method. */
  readonly syscall?: string | undefined;
  readonly path?: string | undefined;
  /** The second path of an operation on two paths, such as `rename`. */
  readonly dest?: string | undefined;
  /** Text after node's message: what was wrong, what is allowed, or what to do next. */
  readonly hint?: string | undefined;
  /** The limit that refused, such as a key of `Limits`, `name`, `path` or `depth`. */
  readonly limit?: string | undefined;
  /** Current use of the limit, in its unit. */
  readonly used?: number | undefined;
  /** Total that the operation would have needed, in the limit's unit. */
  readonly requested?: number | undefined;
  /** The limit's value. */
  readonly allowed?: number | undefined;
  /** With ECHANGED: the version given as `ifVersion`. */
  readonly expected?: string | undefined;
  /** With ECHANGED: the version that the entry has. */
  readonly actual?: string | undefined;
  readonly cause?: unknown;
}

const FACTS = ['limit', 'used', 'requested', 'allowed', 'expected', 'actual'] as const;
const FIELDS = ['syscall', 'path', 'dest', 'hint', ...FACTS] as const;
const FS_ERROR = Symbol.for('scratchfs.FsError');
const STORAGE_ERROR = Symbol.for('scratchfs.StorageError');

/**
 * A failed file operation, as on a disk: `code`, `errno`, `syscall`, `path`, `dest` and the message have the form of
 * `node:fs`. Paths in the message are escaped and cut; the fields hold them whole.
 */
export class FsError extends Error {
  override readonly name: string = 'FsError';
  readonly code: FsErrorCode;
  readonly errno: number;
  declare readonly syscall?: string;
  declare readonly path?: string;
  declare readonly dest?: string;
  /** End of the message: what was wrong, what is allowed, or what to do next. */
  declare readonly hint?: string;
  declare readonly limit?: string;
  declare readonly used?: number;
  declare readonly requested?: number;
  declare readonly allowed?: number;
  declare readonly expected?: string;
  declare readonly actual?: string;

  constructor(code: FsErrorCode, details: FsErrorDetails = {}) {
    const [errno, reason] = REASONS[code];
    let message = `${code}: ${reason}`;
    if (details.syscall !== undefined) message += `, ${details.syscall}`;
    if (details.path !== undefined) message += ` ${quote(details.path)}`;
    if (details.dest !== undefined) message += ` -> ${quote(details.dest)}`;
    if (details.hint !== undefined) message += `. ${details.hint}`;
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.errno = errno;
    for (const key of FIELDS) {
      if (details[key] !== undefined) Object.defineProperty(this, key, { value: details[key], enumerable: true });
    }
  }

  get [FS_ERROR](): true {
    return true;
  }
}

/** Returns the details of an error that are about limits and versions, without its paths, syscall, hint and cause. */
export function factsOf(error: FsError): FsErrorDetails {
  return Object.fromEntries(FACTS.map((key) => [key, error[key]]));
}

/** Runs an operation on two paths and makes a thrown {@link FsError} name both, as errors of `node:fs` do. */
export function withBothPaths<T>(syscall: string, path: string, dest: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    // An error of another class, such as a guard's own, stays unchanged.
    const isOurs = error instanceof FsError && error.constructor === FsError;
    if (!isOurs || (error.path === path && error.dest === dest)) throw error;
    throw new FsError(error.code, { ...factsOf(error), syscall, path, dest, hint: error.hint, cause: error });
  }
}

/**
 * Kinds of storage failures: `unavailable` (not reached, or the response was lost), `timeout`, `lost` (the state
 * disappeared), `corrupt` (bytes that fail their checksum or shape), `version` (an unknown format), `conflict`
 * (given up because of concurrent changes), `full` (no space left), `denied` (credentials or permissions are missing),
 * `closed`, `unsupported`. The shape of `node:fs` in `@scratchfs/node-fs` shows `full` as ENOSPC, `denied` as EACCES
 * and all others as EIO.
 */
export type StorageErrorKind =
  | 'unavailable'
  | 'timeout'
  | 'lost'
  | 'corrupt'
  | 'version'
  | 'conflict'
  | 'full'
  | 'denied'
  | 'closed'
  | 'unsupported';

export interface StorageErrorOptions {
  /** Default: true for `unavailable`, `timeout` and `conflict`. */
  readonly retryable?: boolean | undefined;
  /** False if nothing was done and nothing will be. Default: true for `unavailable` and `timeout`, else false. */
  readonly mayHaveHappened?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * A failure of the storage, not of the operation. `retryable`: the same call may succeed later. `mayHaveHappened`: it
 * may have taken effect despite the failure.
 */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';
  readonly kind: StorageErrorKind;
  readonly retryable: boolean;
  readonly mayHaveHappened: boolean;

  constructor(kind: StorageErrorKind, message: string, options: StorageErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.mayHaveHappened = options.mayHaveHappened ?? (kind === 'unavailable' || kind === 'timeout');
    this.retryable = options.retryable ?? (kind === 'unavailable' || kind === 'timeout' || kind === 'conflict');
  }

  get [STORAGE_ERROR](): true {
    return true;
  }
}

/** The failure of an operation that may or may not have taken effect. Read the state before you repeat it. */
export class OutcomeUnknownError extends StorageError {
  override readonly name = 'OutcomeUnknownError';
  /** The id under which the storage would have recorded the operation. Empty if it does not record such operations. */
  readonly operationId: string;

  constructor(operationId: string, cause?: unknown) {
    super('unavailable', 'The storage did not respond, and it is unknown whether the operation took effect', {
      retryable: false,
      cause,
    });
    this.operationId = operationId;
  }
}

/** Reports whether a value is an {@link FsError}, also from another copy of this package or another realm. */
export function isFsError(value: unknown, code?: FsErrorCode): value is FsError {
  return hasTag(value, FS_ERROR) && (code === undefined || (value as FsError).code === code);
}

/** Reports whether a value is a {@link StorageError}, also from another copy of this package or another realm. */
export function isStorageError(value: unknown, kind?: StorageErrorKind): value is StorageError {
  return hasTag(value, STORAGE_ERROR) && (kind === undefined || (value as StorageError).kind === kind);
}

function hasTag(value: unknown, tag: symbol): boolean {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[tag] === true;
}

const MAX_QUOTED_LENGTH = 200;

/** Formats a value for a message: in single quotes, {@link UNSAFE_CHARACTERS} escaped, cut after 200 UTF-16 units. */
export function quote(value: string): string {
  const cut = value.length > MAX_QUOTED_LENGTH ? `${value.slice(0, MAX_QUOTED_LENGTH)}…` : value;
  return `'${cut.replace(UNSAFE_CHARACTERS, escapeCharacter)}'`;
}
