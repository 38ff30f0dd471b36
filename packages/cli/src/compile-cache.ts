import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The used part of `module.enableCompileCache()`, which Node has from 22.8 on. */
type EnableCompileCache = (directory: string) => unknown;

/**
 * Lets Node cache the compiled code of the modules that are imported from now on, in a directory of the user. Node's
 * default is a directory among the temporary files, which another user could create first. Does nothing on older
 * versions of Node.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: EnableCompileCache };
  if (enableCompileCache === undefined) return;
  try {
    const given = process.env['XDG_CACHE_HOME'];
    const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
    enableCompileCache(join(cache, 'scratchfs', 'compiled'));
  } catch {
    // A user without a home directory: the program only starts more slowly.
  }
}
