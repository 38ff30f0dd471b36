/** Turns a path of the disk at or under the directory into a path of the attempt. Returns any other path unchanged. */
export function attemptPath(path: string, directory: string): string {
  if (path === directory) return '/';
  return path.startsWith(`${directory}/`) ? path.slice(directory.length) : path;
}
