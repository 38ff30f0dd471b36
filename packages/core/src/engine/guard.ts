import type { EntryKind } from '../entry.js';

/**
 * What an operation is about to do with a path: `look` (that it exists, its metadata), `read` (content, listing, the
 * target of a link), `write` (create, change, anything beneath counts on its own), `remove` (take the name away).
 */
export type Access = 'look' | 'read' | 'write' | 'remove';

/** One question to a guard. */
export interface AccessRequest {
  /** Normalized and free of links, as the filesystem beneath has it. */
  readonly path: string;
  readonly access: Access;
  /** What is there; where nothing is, what the operation would make. Undefined where neither is known. */
  readonly kind: EntryKind | undefined;
  /** Bytes of the file that is there. */
  readonly size: number | undefined;
  /** As errors name the call. */
  readonly syscall: string;
  /** The path as the caller wrote it; for what lies beneath a directory, that of the directory. */
  readonly given: string;
}

/** What concerns the state as a whole. */
export type StateCall = 'checkpoint' | 'rollback' | 'drop' | 'restore';

/**
 * A policy on paths, asked about every path an operation arrives at, after links and at each hop, so that no method can
 * go round it. It is asked at each use and may change its mind: open files and watchers obey at once. It may look at the
 * filesystem while it is asked, and must not change it.
 *
 * A name on the way is asked about by `isVisible`. Where that says no, or the way ends there, `check` is asked about the
 * whole path, as far as it goes down, before anything is said of what is there: `kind` and `size` are undefined then.
 */
export interface Guard {
  /** Throws where the access is refused; what it throws is what the caller gets. */
  check(request: AccessRequest): void;
  /**
   * Whether listings, walks, searches, watchers, statistics and snapshots show a name. What leads to something visible
   * has to be visible itself.
   */
  isVisible(path: string, kind: EntryKind | undefined): boolean;
  /**
   * Whether the answer for a path is the answer for everything beneath it, whatever its name and kind, so that nothing
   * there has to be asked about. Default: no.
   */
  coversTree?(path: string, access: Access): boolean;
  /** Throws where the state as a whole must not be held, put back or forgotten. Default: all that each path allows. */
  checkState?(call: StateCall): void;
}
