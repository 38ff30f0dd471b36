/** Exit codes of the program. `scratchfs run` usually returns the exit code of the command that it ran. */
export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  /** 128 plus the number of SIGINT. */
  interrupted: 130,
} as const;

/** A failure with its exit code, and the next step for the person. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    readonly exitCode: number,
    message: string,
    /** One line: a command or sentence that helps. */
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An error of a library, with a hint for this case in place of the general one for its code. */
export class HintedError extends Error {
  override readonly name = 'HintedError';

  constructor(
    override readonly cause: Error,
    readonly hint: string,
  ) {
    super(cause.message, { cause });
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(ExitCode.usage, message, hint);
}

export interface Failure {
  readonly exitCode: number;
  /** Stable code of the cause, such as `not-found` or `ENOENT`. */
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
}

const BY_CODE: Readonly<Record<string, number>> = {
  // WorkspaceError
  'not-found': ExitCode.notFound,
  exists: ExitCode.conflict,
  moved: ExitCode.conflict,
  'branch-switched': ExitCode.refused,
  replaced: ExitCode.refused,
  'foreign-store': ExitCode.refused,
  closed: ExitCode.notFound,
  settled: ExitCode.conflict,
  refused: ExitCode.refused,
  // StorageError
  lost: ExitCode.notFound,
  denied: ExitCode.refused,
  conflict: ExitCode.conflict,
  // FsError and errors of Node
  ENOENT: ExitCode.notFound,
  ENOTDIR: ExitCode.notFound,
  EACCES: ExitCode.refused,
  EPERM: ExitCode.refused,
  EROFS: ExitCode.refused,
  EEXIST: ExitCode.conflict,
  ECHANGED: ExitCode.conflict,
};

const HINTS: Readonly<Record<string, string>> = {
  moved: 'Look again with `scratchfs log`, then repeat the command.',
  'nothing-to-undo': '`scratchfs log` lists what has been done.',
  'nothing-to-redo': '`scratchfs log` lists what has been done.',
  ECHANGED: 'Somebody else changed the file meanwhile. Read it again, then repeat the command.',
  ENOSPC: 'Free some space, then repeat the command.',
  'foreign-store': '--store names another store.',
  unavailable: 'Check that the server of the URL runs and can be reached.',
};

/** Returns the failure to report for an error of any library. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) {
    const { exitCode, message, hint } = error;
    return { exitCode, code: NAMES[exitCode] ?? 'failed', message, hint };
  }
  if (error instanceof HintedError) return { ...failureOf(error.cause), hint: error.hint };
  if (!(error instanceof Error))
    return { exitCode: ExitCode.failed, code: 'failed', message: String(error), hint: undefined };
  const details = error as { readonly code?: unknown; readonly kind?: unknown };
  const isSandboxUnavailable = error.name === 'OsSandboxUnavailableError';
  const code = isSandboxUnavailable ? 'no-sandbox' : String(details.code ?? details.kind ?? 'failed');
  return {
    exitCode: isSandboxUnavailable ? ExitCode.refused : (BY_CODE[code] ?? ExitCode.failed),
    code,
    message: sentenceOf(code, error),
    hint: isSandboxUnavailable ? '`scratchfs doctor` says what is missing.' : HINTS[code],
  };
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist.',
  ENOTDIR: 'is not a directory, or a name on the way to it is not one.',
  EISDIR: 'is a directory.',
  EEXIST: 'exists.',
  EROFS: 'cannot be changed: these files are read-only.',
  EACCES: 'may not be used: permission denied.',
};

/** Returns a sentence with the path for common errors of files; for others the error's own message. */
function sentenceOf(code: string, error: Error): string {
  const { path, dest, hint } = error as { readonly path?: unknown; readonly dest?: unknown; readonly hint?: unknown };
  const sentence = SENTENCES[code];
  if (sentence !== undefined && typeof path === 'string' && dest === undefined)
    return typeof hint === 'string' ? `${path} ${sentence} ${hint}` : `${path} ${sentence}`;
  return error.message === '' ? error.name : error.message;
}

const NAMES: Readonly<Record<number, string>> = {
  [ExitCode.failed]: 'failed',
  [ExitCode.usage]: 'usage',
  [ExitCode.notFound]: 'not-found',
  [ExitCode.refused]: 'refused',
  [ExitCode.conflict]: 'conflict',
  [ExitCode.interrupted]: 'interrupted',
};
