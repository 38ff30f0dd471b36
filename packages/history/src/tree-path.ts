/** The directory that a path of a tree lies in: empty for the top. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The directories that a path of a tree lies in, the innermost first, without the top. */
export function* directoriesAbove(path: string): Generator<string> {
  for (let at = directoryOf(path); at !== ''; at = directoryOf(at)) yield at;
}
