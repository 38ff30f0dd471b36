/**
 * What an operation is about to do with a path: `look` (that it exists, its metadata), `read` (content, listing),
 * `write` (create, change, anything beneath counts on its own), `remove` (take the name away).
 */
export type Access = 'look' | 'read' | 'write' | 'remove';

/**
 * A policy on paths, asked by the engine for every path an operation arrives at, after links and at each hop, so that
 * no method can go round it.
 */
export interface Guard {
  /** Throws where the access is refused. `path` is normalized and free of links; `given` is what the caller wrote. */
  check(path: string, access: Access, syscall: string, given: string): void;
  /** The same for everything beneath a directory, for operations that take a whole tree. */
  checkTree(path: string, access: Access, syscall: string, given: string): void;
  /** Whether a listing shows the name. */
  isVisible(path: string): boolean;
}
