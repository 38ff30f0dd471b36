/** The directories that a path of a tree lies in, the innermost first, without the top. */
export function* directoriesAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at);
}
