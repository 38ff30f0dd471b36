import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, sep } from 'node:path';

/**
 * Whether a path of the host (relative ones start at the root) lies at or beneath a root, with every link on the way
 * resolved and also where its last names do not exist yet. An answer about this moment, for messages and early checks: who
 * then opens the path by name can be raced, so work goes through `hostFileSystem`, which cannot.
 */
export function isPathSafe(path: string, root: string): boolean {
  if (typeof path !== 'string' || typeof root !== 'string' || path.includes('\0') || root.includes('\0')) return false;
  if (path === '' || root === '' || !path.isWellFormed() || path.includes('\\')) return false;
  try {
    const top = realpathSync(root);
    const inside = relative(top, nearest(isAbsolute(path) ? path : `${top}${sep}${path}`));
    return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  } catch {
    return false;
  }
}

/** The real path of what exists on the way: names beneath it that do not exist lead nowhere else. A dangling link is none. */
function nearest(path: string): string {
  let at = path;
  // `..` behind a name that does not exist, or behind a link, is for the system to say, not for text.
  for (; !existsSync(at); at = dirname(at)) {
    if (isLink(at) || basename(at) === '..' || dirname(at) === at) throw new Error('No such place');
  }
  return realpathSync(at);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
