import type { EntryKind } from '../entry.js';

/**
 * An operation's use of a path: `look` (existence, metadata), `read` (content, listing, the target of a link), `write`
 * (create or change this entry; entries under it are asked about one by one), `remove` (remove the name).
 */
export type Access = 'look' | 'read' | 'write' | 'remove';

/** One request to a guard. */
export interface AccessRequest {
  /** Normalized and without links, as in the guarded filesystem. */
  readonly path: string;
  readonly access: Access;
  /** Kind of the existing entry, or of the one that the operation would create. Undefined if neither is known. */
  readonly kind: EntryKind | undefined;
  /** Size of the existing file, in bytes. Undefined for other entries, and if it is not known. */
  readonly size: number | undefined;
  /** The system call, as errors name it. */
  readonly syscall: string;
  /**
   * The path as the caller wrote it. If a call affects a whole directory, each entry in it is checked with the
   * directory's path here.
   */
  readonly given: string;
}

/** Operations on the state as a whole. */
export type StateCall = 'checkpoint' | 'rollback' | 'drop' | 'restore';

/**
 * A policy on paths. Operations ask it about each path that they reach, after links and at each hop, except under a
 * directory for which `coversTree` has returned true. It is asked at each use and may change its decision: open files
 * and watchers obey immediately. It may read the filesystem when it is asked, but must not change it.
 *
 * `isVisible` decides about each name on the way. If it returns false, or a path cannot be resolved any further,
 * `check` is asked about the whole path before an error reveals anything. `size` is undefined then, and `kind` is the
 * kind of entry that the operation would create, if any.
 */
export interface Guard {
  /** Throws if the access is refused; the caller gets its error. */
  check(request: AccessRequest): void;
  /**
   * Reports whether listings, walks, searches, watchers, statistics and snapshots show a name. Ancestors of a visible
   * entry must be visible.
   */
  isVisible(path: string, kind: EntryKind | undefined): boolean;
  /**
   * Reports whether the decision for a path holds for everything under it, of any name and kind, so that nothing there
   * has to be checked. Default: no.
   */
  coversTree?(path: string, access: Access): boolean;
  /**
   * Throws if the state as a whole must not be saved, restored or dropped. Default: no objection. A rollback or restore
   * also asks about each path that it changes, or fails with ENOTSUP if it cannot.
   */
  checkState?(call: StateCall): void;
}
