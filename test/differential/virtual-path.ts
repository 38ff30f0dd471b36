/**
 * Resolves a path by a second implementation of the path rules, independent of core: `\` separates, `.` and `..` are
 * resolved lexically and stop at the root, a trailing `/` is ignored, relative paths start at the root. The empty path
 * stays empty.
 */
export function lexical(path: string): string {
  if (path === '') return '';
  const names: string[] = [];
  for (const name of path.split(/[/\\]/)) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}

/** Returns the names of a lexically resolved path. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function isIllFormed(text: string): boolean {
  return !text.isWellFormed();
}
