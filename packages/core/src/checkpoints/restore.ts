import { checkOptions } from '../engine/arguments.js';
import { cannotRestore, trustedApi, trustedSyncApi } from '../engine/internals.js';
import type { RestoredPaths } from '../engine/restore/restore-allowed.js';
import { restorePath } from '../engine/restore/restore-path.js';
import type { CallOptions, Checkpoint, FileSystem, Path, SyncFileSystem } from '../file-system.js';
import { pathOf } from '../paths.js';

export type { RestoredPaths };

/**
 * Makes one path what it was at a checkpoint, in one atomic step: a file, a link, or a directory with everything in it
 * is created, replaced or removed. Modes, owners and times come back too. Everything else stays, and so does the
 * checkpoint. Returns the paths that changed.
 *
 * - Missing parents are created as they were. The last name is not followed if it is a link; links in the parents are
 *   followed as they are now.
 * - Files that are equal are not touched, and files that stay keep their identity: open handles see the restored
 *   content.
 * - A file or symlink with several names is restored under all of them if its names are the same now; otherwise the
 *   restored names are one of their own.
 * - Under a guard everything that changes must be allowed, otherwise nothing changes; hidden entries stay.
 *
 * In memory contents are shared with the checkpoint, and most unchanged directories are skipped. On a remote storage
 * the contents that differ are read and written again.
 *
 * @throws FsError ENOENT for a checkpoint that this filesystem does not hold, or if nothing exists at the path, now or
 *   then; ENOTDIR if something else has taken the place of a parent; EBUSY for the root and mount points; ENOSPC, EFBIG
 *   at a limit; EINVAL inside a transaction; ENOTSUP if the filesystem does not declare `capabilities.rollback`, is not
 *   one of this library, or restricts one that is not
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { restore } from 'scratchfs/checkpoints';
 *
 * const fs = createFileSystem({ files: { '/src/a.ts': 'one', '/src/b.ts': 'two' } });
 * const before = await fs.checkpoint();
 * await fs.writeFile('/src/a.ts', 'broken');
 * await fs.writeFile('/src/b.ts', 'better');
 * console.log(await restore(fs, before, '/src/a.ts')); // → { added: [], removed: [], changed: [ '/src/a.ts' ] }
 * console.log(await fs.readText('/src/a.ts'), await fs.readText('/src/b.ts')); // → one better
 * ```
 */
export async function restore(
  fileSystem: FileSystem,
  checkpoint: Checkpoint | string,
  path: Path,
  options?: CallOptions,
): Promise<RestoredPaths> {
  checkOptions(options, [], 'restore');
  const api = trustedApi(fileSystem);
  if (api.runBeside === undefined) throw cannotRestore();
  return api.runBeside(checkpoint, pathOf(path), restorePath, options);
}

/** Like {@link restore}, for synchronous storages. */
export function restoreSync(fileSystem: SyncFileSystem, checkpoint: Checkpoint | string, path: Path): RestoredPaths {
  const api = trustedSyncApi(fileSystem, 'restoreSync');
  if (api.runBesideSync === undefined) throw cannotRestore();
  return api.runBesideSync(checkpoint, pathOf(path), restorePath);
}
