import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, sep } from 'node:path';

/**
 * Reports whether a path of the host (a relative one starts at the root) lies at or under a root, with every link on
 * the way resolved. The last names of the path need not exist. Returns false if that cannot be told, as for a dangling
 * link or a path with a backslash. The result holds only at this moment, for messages and early checks: a caller that
 * then opens the path by name can be raced. Use `hostFileSystem` for the work itself.
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

/**
 * Returns the real path of the path, or of its deepest ancestor if it does not exist; missing names under that cannot
 * lead elsewhere. @throws if a dangling link or a `..` that cannot be resolved is on the way
 */
function nearest(path: string): string {
  let at = path;
  // The system, not the text, decides what `..` after a missing name or a link means.
  for (; !existsSync(at); at = dirname(at)) {
    if (isLink(at) || basename(at) === '..' || dirname(at) === at) throw new Error('The path cannot be resolved');
  }
  return realpathSync(at);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
