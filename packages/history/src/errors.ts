/** The reason of a {@link HistoryError}. */
export type HistoryErrorCode =
  /** No object, reference, path or repository has this name. */
  | 'not-found'
  /** Several objects have an id that begins with these digits. */
  | 'ambiguous'
  /**
   * Stored data is damaged: for example, bytes do not match their id or git's format, or symbolic references lead to no
   * branch.
   */
  | 'corrupt'
  /** A name, path, mode or link target that must not reach a filesystem, or that it cannot hold. */
  | 'hostile'
  /** A reference does not have the expected value, or stays locked. Read it again before another attempt. */
  | 'ref-changed'
  /** A new reference would need a directory where another reference is a file, or the other way round. */
  | 'ref-conflict'
  /** An object does not have the requested type, or the layout of a repository is not supported. */
  | 'wrong-type'
  /** More bytes or entries than the limits of the history or its repository allow. */
  | 'too-large'
  /** This repository cannot do it. */
  | 'unsupported';

const HISTORY_ERROR = Symbol.for('scratchfs.HistoryError');

/** Details of a {@link HistoryError}. */
export interface HistoryErrorDetails {
  readonly id?: string | undefined;
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Thrown if a history cannot do what the caller asked for. `code` gives the reason; `id`, `ref` and `path` say what it
 * concerns.
 */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  declare readonly id?: string;
  declare readonly ref?: string;
  declare readonly path?: string;

  constructor(
    readonly code: HistoryErrorCode,
    message: string,
    { cause, ...where }: HistoryErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    for (const [key, value] of Object.entries(where)) {
      if (value !== undefined) Object.defineProperty(this, key, { value, enumerable: true });
    }
  }

  get [HISTORY_ERROR](): true {
    return true;
  }
}

/**
 * Reports whether an error is a {@link HistoryError}, including one of another copy of this package, and has the code
 * if one is given.
 */
export function isHistoryError(error: unknown, code?: HistoryErrorCode): error is HistoryError {
  return (
    error instanceof Error && HISTORY_ERROR in error && (code === undefined || (error as HistoryError).code === code)
  );
}
