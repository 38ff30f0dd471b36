import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** `module.enableCompileCache` of Node 22.8 and later, as far as it is used here. */
type EnableCompileCache = (directory: string) => unknown;

/**
 * Lets Node keep the compiled code of the modules that are imported from now on, in a directory of the user. Node's
 * default lies in the directory for temporary files, where another user could create it first. Does nothing on older
 * versions of Node, or if the directory cannot be made, is a link, or can be written by another user: the program only
 * starts more slowly.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: EnableCompileCache };
  if (enableCompileCache === undefined) return;
  try {
    const given = process.env['XDG_CACHE_HOME'];
    const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
    const directory = join(cache, 'scratchfs', 'compiled');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (isOwnDirectory(directory)) enableCompileCache(directory);
  } catch {
    // The user has no home directory, for example, or it cannot be written.
  }
}

/**
 * Reports whether a path is a directory of this user that no other user can write; on Windows, whether it is a
 * directory.
 */
function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path);
  const isOwn = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o022) === 0);
  return stats.isDirectory() && isOwn;
}
