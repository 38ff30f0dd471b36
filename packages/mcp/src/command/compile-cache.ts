import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The function of Node 22.8 and later, as far as it is used here. */
type EnableCompileCache = (directory: string) => unknown;

/**
 * Lets Node keep the compiled code of the modules that are imported from now on, in a directory of the user: that of
 * Node's default, in the directory for temporary files, belongs to whoever creates it first. Does nothing on older
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
