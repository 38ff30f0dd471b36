import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
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

/** Removes the copies of an attempt, except those that a command is using. */
export async function removeCopies(directory: string, attempt: string): Promise<void> {
  const place = copiesOf(directory, attempt);
  for (const copy of entriesOf(place)) await removeUnused(copy);
  // The directory for all attempts goes with the last one.
  for (const path of [place, dirname(place)]) await rmdir(path).catch(() => undefined);
}

async function removeUnused(copy: string): Promise<void> {
  const { acquireProcessLock } = await import('@scratchfs/host/internal');
  if ((await acquireProcessLock(copy, 'run')) === undefined) return;
  // A command that begins now must not find a part of the copy.
  const removed = join(dirname(copy), `removed-${randomUUID()}`);
  await rename(copy, removed);
  await rm(removed, { recursive: true, force: true });
}

/** Removes the copies of attempts on a directory that no command has used for 30 days. @param now epoch milliseconds */
export async function removeIdleCopies(directory: string, now: number): Promise<void> {
  for (const place of entriesOf(dirname(copiesOf(directory, 'any')))) {
    // Each command creates and removes files at the top of its copy.
    const times = [place, ...entriesOf(place)].map(
      (path) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now,
    );
    if (Math.max(...times) < now - MAX_IDLE_MS) await removeCopies(directory, basename(place));
  }
}

/** Returns the paths of the entries of a directory; none if it does not exist. */
function entriesOf(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
}
