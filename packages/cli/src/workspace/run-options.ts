import { constants } from 'node:os';
import type { RunOptions, RunResult } from '@scratchfs/workspace';
import { ExitCode, usageError } from '../errors.js';
import type { Call } from '../table/command-spec.js';

/** Returns the options for `Attempt.run` that the commands `run` and `try` have in common. @throws CliError */
export function runOptions({ options }: Call): RunOptions {
  const seconds = options.text('timeout') ?? '600';
  if (!/^\d{1,7}$/.test(seconds) || Number(seconds) < 1)
    throw usageError('--timeout must be a number of seconds from 1.');
  return { timeoutMs: Number(seconds) * 1000, network: options.flag('network'), install: options.flag('install') };
}

/**
 * Returns the exit code of a command; as in a shell, 128 plus the number of the signal that ended it; `failed` if the
 * sandbox stopped it.
 */
export function exitCodeOf({ exitCode, signal, stopped }: Pick<RunResult, 'exitCode' | 'signal' | 'stopped'>): number {
  if (stopped !== undefined) return ExitCode.failed;
  return exitCode ?? 128 + (signal === undefined ? 0 : (constants.signals[signal] ?? 0));
}

export function runJson({
  exitCode,
  signal,
  stdout,
  stderr,
  stopped,
  refused,
  autoRun,
}: RunResult): Record<string, unknown> {
  return { exitCode, signal: signal ?? null, stopped: stopped ?? null, stdout, stderr, refused, autoRun };
}
