import { FsError, type FsErrorCode, quote } from '@scratchfs/core';

/** The words that a sandbox and its callers have in common: which roots it names, and as what. */
export interface Words {
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];
}

/** One of the errors about a path, before it is known who asks and how the caller wrote the path. */
export type Refusal =
  | { readonly kind: 'outside' }
  | { readonly kind: 'notWritable' }
  | { readonly kind: 'suffix'; readonly allowed: readonly string[] }
  | { readonly kind: 'tooLarge'; readonly size: number; readonly limit: number };

const SANDBOX_ERROR = Symbol.for('scratchfs.SandboxError');

/**
 * What a sandbox refuses. Its message says what is allowed instead, so that a model can act on it; values in it are
 * escaped and cut at 200 characters. It is an {@link FsError} too: programs that know files understand its `code`.
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

/** Whether a value is a {@link SandboxError}, also one from another copy of this package or another realm. */
export function isSandboxError(value: unknown): value is SandboxError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[SANDBOX_ERROR] === true;
}

/** The name of {@link SandboxError} for those who know a read-only sandbox. */
export const SandboxViolation = SandboxError;
export type SandboxViolation = SandboxError;

/** The name of {@link SandboxError} for those who know the `FileSandbox` protocol. */
export const FileSandboxError = SandboxError;
export type FileSandboxError = SandboxError;

/** The path is in no area of the sandbox. Code EACCES. */
export class PathNotInSandboxError extends SandboxError {
  override readonly name = 'PathNotInSandboxError';
  readonly readableRoots: readonly string[];

  constructor(path: string, readableRoots: readonly string[]) {
    const roots = listed(readableRoots);
    super('EACCES', `Cannot access ${quote(path)}: path is outside sandbox.\nReadable paths: ${roots}`, path);
    this.readableRoots = readableRoots;
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

/** The file has an ending that is not among the allowed ones. Code EACCES. */
export class SuffixNotAllowedError extends SandboxError {
  override readonly name = 'SuffixNotAllowedError';
  /** `''` stands for files without an ending. */
  readonly suffixes: readonly string[];

  constructor(path: string, suffixes: readonly string[]) {
    const allowed = listed(suffixes.map((suffix) => (suffix === '' ? '(no suffix)' : suffix)));
    super('EACCES', `Cannot access ${quote(path)}: suffix not allowed.\nAllowed suffixes: ${allowed}`, path);
    this.suffixes = suffixes;
  }
}

/** The file is larger than what may be read. Code EFBIG; nothing of it was read. */
export class FileTooLargeError extends SandboxError {
  override readonly name = 'FileTooLargeError';
  /** Bytes of the file. */
  readonly fileBytes: number;
  /** Bytes that may be read. */
  readonly maxFileBytes: number;

  constructor(path: string, fileBytes: number, maxFileBytes: number) {
    const message = `Cannot read ${quote(path)}: file too large (${fileBytes} bytes).\nMaximum allowed: ${maxFileBytes} bytes`;
    super('EFBIG', message, path);
    this.fileBytes = fileBytes;
    this.maxFileBytes = maxFileBytes;
  }
}

/** A child was asked for that would have had more than its parent. Code EPERM. */
export class SandboxPermissionEscalationError extends SandboxError {
  override readonly name = 'SandboxPermissionEscalationError';
  /** What may be asked of the parent. */
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];

  /** @param problem what was requested and why it cannot be, @param advice what can be asked for instead */
  constructor(problem: string, parent: Words, advice: string) {
    const readable = `Readable paths of the parent: ${listed(parent.readableRoots)}`;
    const writable = `Writable paths of the parent: ${listed(parent.writableRoots)}`;
    super('EPERM', `${problem}\n${readable}\n${writable}\n${advice}`);
    this.readableRoots = parent.readableRoots;
    this.writableRoots = parent.writableRoots;
  }
}

/** The error about a path in the words of the one who asked. */
export function refusalError(refusal: Refusal, path: string, words: Words): SandboxError {
  switch (refusal.kind) {
    case 'outside':
      return new PathNotInSandboxError(path, words.readableRoots);
    case 'notWritable':
      return new PathNotWritableError(path, words.writableRoots);
    case 'suffix':
      return new SuffixNotAllowedError(path, refusal.allowed);
    case 'tooLarge':
      return new FileTooLargeError(path, refusal.size, refusal.limit);
  }
}

/** The same error about a path as another caller wrote it. */
export function restated(error: SandboxError, path: string, words: Words): SandboxError {
  if (error instanceof PathNotInSandboxError) return new PathNotInSandboxError(path, words.readableRoots);
  if (error instanceof PathNotWritableError) return new PathNotWritableError(path, words.writableRoots);
  if (error instanceof SuffixNotAllowedError) return new SuffixNotAllowedError(path, error.suffixes);
  if (error instanceof FileTooLargeError) return new FileTooLargeError(path, error.fileBytes, error.maxFileBytes);
  return error;
}

function listed(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.map((value) => quote(value).slice(1, -1)).join(', ');
}
