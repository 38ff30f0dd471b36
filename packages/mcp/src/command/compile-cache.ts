import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** `module.enableCompileCache` of Node 22.8 and later, as far as it is used here. */
type EnableCompileCache = (directory: string) => unknown;

/**
 * Lets Node keep the compiled code of the modules that are imported from now on, in a directory of the user. Node's
 * default lies in the directory for temporary files, where another user could create it first. Does nothing on older
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
    // The user has no home directory, for example. Without the cache the program only starts more slowly.
  }
}
