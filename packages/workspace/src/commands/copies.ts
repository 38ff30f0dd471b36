import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { WorkspaceError } from '../errors.js';

/** Time in milliseconds without use after which a copy is removed: 30 days. */
const MAX_IDLE_MS = 30 * 86_400_000;

/**
 * Returns the directory for the copies that commands of an attempt run on. They can be made again at any time, so they
 * lie in the user's cache, and not in the store. Those of root, whose commands run as another user, lie in the directory
 * for temporary files, which that user can reach.
 */
export function copiesOf(directory: string, attempt: string): string {
  const id = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  return join(cacheDirectory(), 'copies', id, attempt);
}

function cacheDirectory(): string {
  if (process.getuid?.() === 0) {
    const shared = join(tmpdir(), 'scratchfs-root');
    mkdirSync(shared, { recursive: true, mode: 0o711 });
    const { mode, uid } = lstatSync(shared);
    // Every user may create names in the directory for temporary files.
    if ((mode & 0o170_022) !== 0o040_000 || uid !== 0)
      throw new WorkspaceError('refused', `${shared} belongs to another user, or others may write to it: remove it`);
    return shared;
  }
  const given = process.env['XDG_CACHE_HOME'];
  return join(given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache'), 'scratchfs');
}

/** Removes the copies of an attempt. */
export async function removeCopies(directory: string, attempt: string): Promise<void> {
  const place = copiesOf(directory, attempt);
  await rm(place, { recursive: true, force: true });
  // The directory for all attempts goes with the last one.
  await rmdir(dirname(place)).catch(() => undefined);
}

/** Removes the copies of attempts on a directory that no command has used for 30 days. @param now epoch milliseconds */
export async function removeIdleCopies(directory: string, now: number): Promise<void> {
  const parent = dirname(copiesOf(directory, 'any'));
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent)) {
    const used = lstatSync(join(parent, name), { throwIfNoEntry: false })?.mtimeMs;
    if (used !== undefined && used < now - MAX_IDLE_MS) await removeCopies(directory, name);
  }
}
