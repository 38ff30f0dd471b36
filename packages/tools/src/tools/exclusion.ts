import { normalizePath } from '@scratchfs/core';
import { compileGlob } from '@scratchfs/core/search';
import type { PropertySchema } from '../tool.js';
import { path } from './define.js';

export const exclude: PropertySchema = path(
  'Files and directories to leave out, with everything in them, by their name: node_modules or {dist,*.min.js}.',
);

/** Returns the pattern for a name anywhere in the directory that is searched. */
export function anywhere(name: string): string {
  return `**/${name}`;
}

/**
 * Returns a function that reports whether a path is excluded, by its own name or by that of a directory between it and
 * `directory`.
 * @throws RangeError for an invalid pattern
 */
export function exclusion(name: string | undefined, directory: string): (shown: string) => boolean {
  if (name === undefined) return () => false;
  const glob = compileGlob(anywhere(name), { dot: true });
  const top = normalizePath(directory);
  const prefix = top === '/' ? 1 : top.length + 1;
  return (shown) => {
    const names = normalizePath(shown).slice(prefix).split('/');
    return names.some((_, i) => glob.matches(names.slice(0, i + 1).join('/'), true));
  };
}
