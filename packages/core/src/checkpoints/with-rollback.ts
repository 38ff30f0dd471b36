import { checkFileSystem } from '../check-file-system.js';
import { diff, type FileSystemDiff } from '../diff/diff.js';
import { checkOptions, describe } from '../engine/arguments.js';
import { isFsError } from '../errors.js';
import type { CallOptions, Checkpoint, FileSystem } from '../file-system.js';

export interface RollbackOptions extends CallOptions {
  /** Name of the checkpoint, to be seen in lists while the work runs. Default: none. */
  readonly name?: string | undefined;
}

/** Result of work whose changes were kept. */
export interface Committed<T> {
  readonly committed: true;
  readonly result: T;
  /** The checkpoint, if dropping it failed with an error other than ENOENT. */
  readonly kept?: Checkpoint;
}

/** Result of work whose changes were undone. */
export interface RolledBack {
  readonly committed: false;
  /** The text that the check returned, the message of the error, or a default text if the check returned false. */
  readonly reason: string;
  /**
   * The error that the work or the check has thrown, or a TypeError if the check returned a value that is not allowed.
   */
  readonly error?: unknown;
  /**
   * The changes that were undone. Undefined for a filesystem that does not declare `capabilities.diff`, and if the
   * comparison failed.
   */
  readonly undone?: FileSystemDiff;
  /** Error of the comparison, if it failed. The changes are undone all the same. */
  readonly diffError?: unknown;
  /** The checkpoint, if dropping it failed with an error other than ENOENT. */
  readonly kept?: Checkpoint;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a check that only throws returns nothing
type Verdict = boolean | string | undefined | void;

/**
 * Runs work that may be undone: takes a checkpoint, runs `work`, then `check` with its result. The changes stay if the
 * check returns true or nothing. They are rolled back if it returns false or a reason, and if one of the two throws:
 * the error is returned, not thrown. Then the checkpoint is dropped.
 *
 * A rollback restores the whole state, so it also undoes what other clients have written since the checkpoint, and open
 * files become EBADF; under `restrict`, see there. Run attempts that must not disturb each other on forks.
 *
 * Rejects if the checkpoint or the rollback fails; after a failed rollback the checkpoint stays, to try again.
 *
 * @throws FsError as `checkpoint`, and as `rollback` if changes are undone: ENOTSUP if the filesystem does not declare
 *   the capability of that name, ENOSPC at `maxCheckpoints`
 * @throws TypeError if `work` or `check` is not a function
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { withRollback } from 'scratchfs/checkpoints';
 *
 * const fs = createFileSystem({ files: { '/config.json': '{ "port": 80 }' } });
 * const attempt = await withRollback(
 *   fs,
 *   () => fs.writeFile('/config.json', '{ "port": '),
 *   async () => void JSON.parse(await fs.readText('/config.json')),
 * );
 * if (!attempt.committed) console.log(attempt.undone?.changed.map(({ path }) => path)); // → [ '/config.json' ]
 * console.log(await fs.readText('/config.json')); // → { "port": 80 }
 * ```
 */
export async function withRollback<T>(
  fileSystem: FileSystem,
  work: (fileSystem: FileSystem) => T | Promise<T>,
  check?: (result: T) => Verdict | Promise<Verdict>,
  options?: RollbackOptions,
): Promise<Committed<T> | RolledBack> {
  checkFileSystem(fileSystem);
  if (typeof work !== 'function') throw new TypeError(`The work must be a function, not ${describe(work)}`);
  if (check !== undefined && typeof check !== 'function')
    throw new TypeError(`The check must be a function, not ${describe(check)}`);
  const { signal, name } = checkOptions(options, ['name'], 'withRollback');
  const checkpoint = await fileSystem.checkpoint(name, { signal });
  const failure = await failureOf(fileSystem, work, check);
  if ('result' in failure)
    return { committed: true, result: failure.result, ...(await dropped(fileSystem, checkpoint)) };
  // The signal no longer counts: a caller that aborts wants the changes undone.
  const undone = fileSystem.capabilities.diff ? await changesSince(fileSystem, checkpoint) : {};
  await fileSystem.rollback(checkpoint);
  return { committed: false, ...failure, ...undone, ...(await dropped(fileSystem, checkpoint)) };
}

async function failureOf<T>(
  fileSystem: FileSystem,
  work: (fileSystem: FileSystem) => T | Promise<T>,
  check: ((result: T) => Verdict | Promise<Verdict>) | undefined,
): Promise<{ readonly result: T } | { readonly reason: string; readonly error?: unknown }> {
  try {
    const result = await work(fileSystem);
    const verdict = await check?.(result);
    if (verdict === undefined || verdict === true) return { result };
    if (verdict === false) return { reason: 'The check failed' };
    if (typeof verdict === 'string') return { reason: verdict };
    throw new TypeError(`The check must return true, false, a reason or nothing, not ${describe(verdict)}`);
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error), error };
  }
}

/** Returns the changes, or the error of the comparison: it must not prevent the rollback. */
async function changesSince(
  fileSystem: FileSystem,
  checkpoint: Checkpoint,
): Promise<Pick<RolledBack, 'undone' | 'diffError'>> {
  try {
    return { undone: await diff(fileSystem, checkpoint) };
  } catch (diffError) {
    return { diffError };
  }
}

/**
 * Drops the checkpoint. Returns it if that failed, except with ENOENT: the work itself may have dropped the checkpoint.
 */
async function dropped(fileSystem: FileSystem, checkpoint: Checkpoint): Promise<{ readonly kept?: Checkpoint }> {
  try {
    await fileSystem.drop(checkpoint);
    return {};
  } catch (error) {
    return isFsError(error, 'ENOENT') ? {} : { kept: checkpoint };
  }
}
