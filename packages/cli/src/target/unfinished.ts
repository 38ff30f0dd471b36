import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError, ExitCode } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';

/**
 * Creates a directory and fills it. It is filled beside its path and renamed, so the path never shows a part of it. If
 * that fails or is aborted, what was filled is removed.
 * @param mode mode before `fill`; default 0o777, without the bits of the umask
 */
export function fillDirectory<T>(
  call: Call,
  path: string,
  fill: (temporary: string) => Promise<T>,
  mode?: number,
): Promise<T> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  return underNewParents(call, path, async () => {
    try {
      await mkdir(temporary, { mode });
      const value = await fill(temporary);
      await rename(temporary, path);
      return value;
    } catch (error) {
      await rm(temporary, { recursive: true, force: true }).catch(() => {
        call.output.problem(escapeText(`${temporary} could not be removed.`));
      });
      throw error;
    }
  });
}

/**
 * Creates the directories above a path of the disk, and runs work that leaves nothing at the path if it fails. Those of
 * the created directories that are empty are then removed again. The error for a full disk names the path.
 */
export function underNewParents<T>({ interrupts }: Call, path: string, work: () => Promise<T>): Promise<T> {
  return interrupts.orderly(() =>
    inOneStep(path, async () => {
      const first = await mkdir(dirname(path), { recursive: true });
      try {
        return await work();
      } catch (error) {
        if (first !== undefined) await removeEmpty(dirname(path), first);
        throw error;
      }
    }),
  );
}

/** Removes a directory and those above it up to `last`, as long as they are empty. */
async function removeEmpty(path: string, last: string): Promise<void> {
  for (let at = path; ; at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isRemoved || at === last) return;
  }
}

/** Runs work that changes nothing at a path of the disk if it fails. The error for a full disk names the path. */
export async function inOneStep<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isDiskFull(error) ? diskFull(`No space is left for ${path}. Nothing was written.`, error) : error;
  }
}

/**
 * Runs work that may leave some of its files at a place if it fails. The error for a full disk or an interruption says
 * so.
 */
export async function inParts<T>({ signal }: Call, place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error))
      throw diskFull(`No space is left for ${place}. Some files may have been written there.`, error);
    if (!signal.aborted) throw error;
    const message = `Interrupted. Some files may have been written to ${place}.`;
    throw new CliError(ExitCode.interrupted, message, 'Repeat the command to write the rest.', { cause: error });
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function diskFull(message: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: 'ENOSPC' });
}
