import type { NodeId } from '@scratchfs/core';
import type { Conflict, EntryState } from '../operation.js';

/** Permission bits that an accept compares and sets: all but set-user-ID and set-group-ID. */
export const MODE_BITS = 0o1777;

/**
 * Difference at one path between an attempt and the state that it began from. A move is two changes: one at the new path,
 * with `from` or `source`, and the removal of the old path. A moved directory is one such pair for each entry in it.
 */
export interface AttemptChange {
  readonly path: string;
  /** Old path of an entry that was moved here. */
  readonly from?: string | undefined;
  /** Removed old path of an entry that was moved over another one. Undefined for a file with several names. */
  readonly source?: string | undefined;
  /** State of `path` that the attempt began from. Null if nothing existed there. */
  readonly base: EntryState | null;
  /** State in the attempt. Null if it removed the path. */
  readonly now: EntryState | null;
  /** Id of a file with several names, which are accepted together. */
  readonly link?: NodeId | undefined;
  /** Defined if it is known already that the change cannot be accepted. */
  readonly conflict?: Conflict | undefined;
}

/** Contents of files by their SHA-256, 64 hexadecimal digits. */
export interface Contents {
  /** Rejects if no content has the hash. */
  read(hash: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** Stores a content and returns its hash. */
  write(content: Uint8Array, signal?: AbortSignal): Promise<string>;
}

/**
 * Reports whether two states are equal. Of modes only {@link MODE_BITS} count, and that of a symlink does not count.
 */
export function sameState(a: EntryState | null, b: EntryState | null): boolean {
  if (a === null || b === null) return a === b;
  if (!sameContent(a, b)) return false;
  return a.kind === 'symlink' || permissionsOf(a) === permissionsOf(b);
}

/** Reports whether two states have the same kind, and the same content or target. */
export function sameContent(a: EntryState, b: EntryState): boolean {
  return a.kind === b.kind && a.hash === b.hash && a.target === b.target;
}

export function permissionsOf({ mode }: EntryState): number {
  return mode & MODE_BITS;
}

/** Returns the content of a file, and no bytes for every other state. */
export async function contentOf(
  state: EntryState | null,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  if (state?.kind !== 'file') return new Uint8Array();
  if (state.hash === undefined) throw new TypeError('The state of a file needs the hash of its content');
  return contents.read(state.hash, signal);
}

/**
 * Returns the changes sorted by path. `from` stays only for moves whose old path is removed: an entry that replaced
 * another one has `source` instead, and one whose old path exists again is a change like others.
 */
export function sortedChanges(changes: readonly AttemptChange[]): AttemptChange[] {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  return changes
    .map(({ path, from, base, now, link, conflict }) => {
      const old = from === undefined ? undefined : byPath.get(from);
      const isRenamed = old !== undefined && old.now === null && old.base?.kind === now?.kind;
      // For a file with several names, a removed name looks like one that was moved over another.
      const source = link === undefined ? from : undefined;
      const moved = !isRenamed ? {} : base === null ? { from } : { source };
      return { path, base, now, link, conflict, ...moved };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
