/** Yields the directories that contain a path, the innermost first, without the top. */
export function* directoriesAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at);
}
