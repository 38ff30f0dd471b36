/** Returns the path in an attempt of a path of the disk in its directory; any other path as it is. */
export function attemptPath(path: string, directory: string): string {
  if (path === directory) return '/';
  return path.startsWith(`${directory}/`) ? path.slice(directory.length) : path;
}
