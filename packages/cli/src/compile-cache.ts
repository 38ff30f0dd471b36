import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The used part of `module.enableCompileCache()`, which Node has from 22.8 on. */
type EnableCompileCache = (directory: string) => unknown;

/**
 * Returns the user's directory for compiled code. Node's default is a directory among the temporary files, which
 * another user could create first. Undefined if there is no cache or home directory, or if `NODE_DISABLE_COMPILE_CACHE`
 * is set, which also stops Node's own cache.
 */
export function compiledCodeDirectory(): string | undefined {
  if (process.env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined;
  try {
    const given = process.env['XDG_CACHE_HOME'];
    const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
    return join(cache, 'scratchfs', 'compiled');
  } catch {
    return undefined;
  }
}

/**
 * Reports whether something belongs to this user, and only this user can write it. True on Windows, which has no user
 * ids.
 */
export function isOwn({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/**
 * Reports whether a path is a directory, not a link to one, of this user, in which no other user can replace files. On
 * Windows it checks only that the path is a directory.
 */
export function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && isOwn(stats);
}

/**
 * Lets Node keep the compiled code of the modules that are imported from now on. Does nothing if that is impossible or
 * unsafe, such as on older versions of Node: the program only starts more slowly.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: EnableCompileCache };
  const directory = compiledCodeDirectory();
  try {
    if (directory === undefined || enableCompileCache === undefined) return;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (isOwnDirectory(directory)) enableCompileCache(directory);
  } catch {
    // The directory cannot be written, for example.
  }
}
