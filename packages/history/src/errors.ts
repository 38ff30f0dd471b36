/** What kind of thing went wrong in a history. */
export type HistoryErrorCode =
  /** No object, reference or path has this name. */
  | 'not-found'
  /** Stored bytes are not what their id says, or not in git's format. */
  | 'corrupt'
  /** A name or a mode that must not reach a file system. */
  | 'hostile'
  /** A reference is not where the caller thought it was; read it again and decide anew. */
  | 'ref-changed'
  /** Another reference is where the directory of a new one would be, or beneath it. */
  | 'ref-conflict'
  /** An object is of another type than asked for. */
  | 'wrong-type'
  /** More bytes than the limits of this history allow. */
  | 'too-large';

const HISTORY_ERROR = Symbol.for('scratchfs.HistoryError');

/** What an error says beyond its code. */
export interface HistoryErrorDetails {
  readonly id?: string | undefined;
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/** A history that cannot do what was asked: `code` says why, `id`, `ref` and `path` where. */
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

/** Whether an error is a {@link HistoryError}, also one of another copy of this package. */
export function isHistoryError(error: unknown, code?: HistoryErrorCode): error is HistoryError {
  return (
    error instanceof Error && HISTORY_ERROR in error && (code === undefined || (error as HistoryError).code === code)
  );
}
