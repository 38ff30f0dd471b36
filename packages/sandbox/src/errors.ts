import { FsError, type FsErrorCode, quote } from '@scratchfs/core';

/** Roots that the errors of a sandbox name. */
export interface Words {
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];
  /** True if an error about a path outside names the writable paths too. Default false. */
  readonly namesWritable?: boolean;
}

/** An error about a path, before the caller's spelling of the path is known. */
export type Refusal =
  | { readonly kind: 'outside' }
  | { readonly kind: 'notWritable' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'suffix'; readonly allowed: readonly string[] }
  | { readonly kind: 'tooLarge'; readonly size: number; readonly limit: number };

const SANDBOX_ERROR = Symbol.for('scratchfs.SandboxError');

/**
 * An error of a sandbox. Its message says what is allowed or what to do, so that a model can act on it; values in it
 * are escaped and cut at 200 characters. It is an {@link FsError} too, so that programs for files understand its
 * `code`.
 */
export class SandboxError extends FsError {
  override readonly name: string = 'SandboxError';

  constructor(code: FsErrorCode, message: string, path?: string) {
    super(code, { path });
    this.message = message;
  }

  get [SANDBOX_ERROR](): true {
    return true;
  }
}

/** Reports whether a value is a {@link SandboxError}, also from another copy of this package or another realm. */
export function isSandboxError(value: unknown): value is SandboxError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[SANDBOX_ERROR] === true;
}

/** {@link SandboxError} under its name in read-only sandboxes. */
export const SandboxViolation = SandboxError;
export type SandboxViolation = SandboxError;

/** {@link SandboxError} under its name in the `FileSandbox` protocol. */
export const FileSandboxError = SandboxError;
export type FileSandboxError = SandboxError;

/** The path is outside of what the sandbox may access, or leads outside. Code EACCES. */
export class PathNotInSandboxError extends SandboxError {
  override readonly name = 'PathNotInSandboxError';
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];

  /** @param writableRoots named in a third line, unless there are none */
  constructor(path: string, readableRoots: readonly string[], writableRoots: readonly string[] = []) {
    const readable = `Readable paths: ${listed(readableRoots)}`;
    const writable = writableRoots.length === 0 ? '' : `\nWritable paths: ${listed(writableRoots)}`;
    super('EACCES', `Cannot access ${quote(path)}: path is outside sandbox.\n${readable}${writable}`, path);
    this.readableRoots = readableRoots;
    this.writableRoots = writableRoots;
  }
}

/** The path may be read, but not written. Code EROFS. */
export class PathNotWritableError extends SandboxError {
  override readonly name = 'PathNotWritableError';
  readonly writableRoots: readonly string[];

  constructor(path: string, writableRoots: readonly string[]) {
    const roots = listed(writableRoots);
    super('EROFS', `Cannot write to ${quote(path)}: path is read-only.\nWritable paths: ${roots}`, path);
    this.writableRoots = writableRoots;
  }
}

/**
 * The path is hidden by a pattern of `deny`, or leads to such a name, or contains one. Code EACCES. The error is the
 * same whether anything exists there or not, except for an operation on a whole directory that contains a hidden name.
 */
export class PathDeniedError extends SandboxError {
  override readonly name = 'PathDeniedError';

  constructor(path: string) {
    const problem = `Cannot access ${quote(path)}: it is, leads to or contains a name that is not allowed here.`;
    super('EACCES', `${problem}\nUse another name, or leave what is there as it is`, path);
  }
}

/** The file's suffix is not among the allowed ones. Code EACCES. */
export class SuffixNotAllowedError extends SandboxError {
  override readonly name = 'SuffixNotAllowedError';
  /** `''` means files without a suffix. */
  readonly suffixes: readonly string[];

  constructor(path: string, suffixes: readonly string[]) {
    const allowed = listed(suffixes.map((suffix) => (suffix === '' ? '(no suffix)' : suffix)));
    super('EACCES', `Cannot access ${quote(path)}: suffix not allowed.\nAllowed suffixes: ${allowed}`, path);
    this.suffixes = suffixes;
  }
}

/** The file is larger than the limit of reads. Code EFBIG. */
export class FileTooLargeError extends SandboxError {
  override readonly name = 'FileTooLargeError';
  /** Size of the file, in bytes. */
  readonly fileBytes: number;
  /** Limit of reads, in bytes. */
  readonly maxFileBytes: number;

  constructor(path: string, fileBytes: number, maxFileBytes: number) {
    const message = `Cannot read ${quote(path)}: file too large (${fileBytes} bytes).\nMaximum allowed: ${maxFileBytes} bytes`;
    super('EFBIG', message, path);
    this.fileBytes = fileBytes;
    this.maxFileBytes = maxFileBytes;
  }
}

/** More access was requested for a child or a command than the sandbox has. Code EPERM. */
export class SandboxPermissionEscalationError extends SandboxError {
  override readonly name = 'SandboxPermissionEscalationError';
  /** Paths that can be requested from the parent. */
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];

  /**
   * @param problem what was requested and why it is refused
   * @param advice what can be requested instead
   */
  constructor(problem: string, parent: Words, advice: string) {
    const readable = `Readable paths of the parent: ${listed(parent.readableRoots)}`;
    const writable = `Writable paths of the parent: ${listed(parent.writableRoots)}`;
    super('EPERM', `${problem}\n${readable}\n${writable}\n${advice}`);
    this.readableRoots = parent.readableRoots;
    this.writableRoots = parent.writableRoots;
  }
}

/** Returns the error about a path for the caller. */
export function refusalError(refusal: Refusal, path: string, words: Words): SandboxError {
  switch (refusal.kind) {
    case 'outside':
      return outsideError(path, words);
    case 'notWritable':
      return new PathNotWritableError(path, words.writableRoots);
    case 'denied':
      return new PathDeniedError(path);
    case 'suffix':
      return new SuffixNotAllowedError(path, refusal.allowed);
    case 'tooLarge':
      return new FileTooLargeError(path, refusal.size, refusal.limit);
  }
}

/** Returns the error about a path outside the sandbox. */
export function outsideError(path: string, words: Words): PathNotInSandboxError {
  return new PathNotInSandboxError(path, words.readableRoots, words.namesWritable === true ? words.writableRoots : []);
}

/** Returns the error about a path under a root that is a link, or lies behind one. */
export function linkedRootError(path: string, name: string): SandboxError {
  const problem = `Cannot access ${quote(path)}: the root ${quote(name)} of the sandbox is a link, which is not followed.`;
  return new SandboxError(
    'EACCES',
    `${problem}\nThe sandbox needs the directory that the link leads to as its root`,
    path,
  );
}

/**
 * Creates an error about a path anew, with the path and the roots as the caller knows them. Returns an error that names
 * no path unchanged.
 */
export function restated(error: SandboxError, path: string, words: Words): SandboxError {
  if (error instanceof PathNotInSandboxError) return outsideError(path, words);
  if (error instanceof PathNotWritableError) return new PathNotWritableError(path, words.writableRoots);
  if (error instanceof PathDeniedError) return new PathDeniedError(path);
  if (error instanceof SuffixNotAllowedError) return new SuffixNotAllowedError(path, error.suffixes);
  if (error instanceof FileTooLargeError) return new FileTooLargeError(path, error.fileBytes, error.maxFileBytes);
  return error;
}

function listed(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.map((value) => quote(value).slice(1, -1)).join(', ');
}
