import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

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
    const inside = relative(top, physical(isAbsolute(path) ? path : `${top}${sep}${path}`));
    return inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside));
  } catch {
    return false;
  }
}

/** The real path; of names that do not exist, beneath the real path of what does. A dangling link is none. */
function physical(path: string): string {
  const missing: string[] = [];
  // `..` behind a name that does not exist, or behind a link, is for the system to say, not for text.
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(at)) return missing.length === 0 ? realpathSync(at) : join(realpathSync(at), ...missing.reverse());
    if (isLink(at) || basename(at) === '..' || dirname(at) === at) throw new Error('No such place');
    missing.push(basename(at));
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
