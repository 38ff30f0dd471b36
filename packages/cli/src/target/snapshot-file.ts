import { randomBytes } from 'node:crypto';
import { chmod, lstat, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createFileSystem, type FileSystem, isStorageError } from 'scratchfs';
import { createSnapshot, restoreSnapshot } from 'scratchfs/snapshot';
import { CliError, ExitCode } from '../errors.js';
import type { Store } from './store.js';
import { inOneStep } from './unfinished.js';

/**
 * Opens a snapshot file: its state is loaded into memory, and `save` replaces the file atomically. A file that does not
 * exist is an empty filesystem.
 * @throws CliError if the file is not an intact snapshot. `save` throws one if another program has changed the file
 * since it was loaded or saved
 */
export async function openSnapshotFile(path: string): Promise<Store> {
  const fileSystem = createFileSystem();
  let seen = await versionOf(path);
  if (seen !== undefined) await fillFrom(fileSystem, await readFile(path), path);
  return {
    fileSystem,
    isSnapshot: true,
    async save() {
      const bytes = await createSnapshot(fileSystem);
      if ((await versionOf(path)) !== seen)
        throw new CliError(
          ExitCode.conflict,
          `${path} was changed by another program. Nothing was written.`,
          'Repeat the command.',
        );
      await replaceFile(path, bytes);
      seen = await versionOf(path);
    },
    close: () => fileSystem.close(),
  };
}

/** Restores a snapshot. @throws CliError if the bytes are not an intact snapshot */
export async function fillFrom(fileSystem: FileSystem, bytes: Uint8Array, name: string): Promise<void> {
  try {
    await restoreSnapshot(fileSystem, bytes, { adopt: true });
  } catch (error) {
    if (!isStorageError(error)) throw error;
    throw new CliError(ExitCode.failed, `${name} is not an intact snapshot: ${error.message}`, undefined, {
      cause: error,
    });
  }
}

/**
 * Writes a file beside the target and renames it, so that readers see the old or the new content. The mode of an
 * existing file stays. A link is replaced, not followed: a person who planted it must not choose what is overwritten.
 */
export function replaceFile(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  return inOneStep(path, async () => {
    const stats = await lstat(path).catch(() => undefined);
    const mode = stats?.isFile() === true ? stats.mode & 0o777 : undefined;
    try {
      await writeFile(temporary, bytes, { flag: 'wx', mode, ...(signal === undefined ? {} : { signal }) });
      if (mode !== undefined) await chmod(temporary, mode);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
