import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The used part of `module.enableCompileCache()`, which Node has from 22.8 on. */
type EnableCompileCache = (directory: string) => unknown;

/**
 * Returns the directory for compiled code, which belongs to the user. Node's default is a directory among the temporary
 * files, which another user could create first. Undefined for a user without a home directory.
 */
export function compiledCodeDirectory(): string | undefined {
  try {
    const given = process.env['XDG_CACHE_HOME'];
    const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
    return join(cache, 'scratchfs', 'compiled');
  } catch {
    return undefined;
  }
}

/**
 * Lets Node keep the compiled code of the modules that are imported from now on. Does nothing on older versions of Node,
 * or without a directory: the program only starts more slowly.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: EnableCompileCache };
  const directory = compiledCodeDirectory();
  if (directory !== undefined) enableCompileCache?.(directory);
}
