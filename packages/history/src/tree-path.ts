/** Returns the directory of a path in a tree; empty for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Yields the directories of a path in a tree, innermost first, without the root. */
export function* directoriesAbove(path: string): Generator<string> {
  for (let at = directoryOf(path); at !== ''; at = directoryOf(at)) yield at;
}
