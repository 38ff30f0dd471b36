import type { EntryKind } from '@scratchfs/core';

/** State of a path, in an attempt or on the disk. */
export interface EntryState {
  readonly kind: EntryKind;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of a file's content or of a link's target; 0 for a directory. */
  readonly size: number;
  /** SHA-256 of a file's content, 64 hexadecimal digits. Undefined if the content is not known. */
  readonly hash?: string | undefined;
  /** Target of a symlink. */
  readonly target?: string | undefined;
}

/** One side of a change: a state, `null` for a path that does not exist, `disk` for whatever the disk has now. */
export type ChangeSide = EntryState | null | 'disk';

/** Effect of an operation on one path. */
export interface OperationChange {
  /** Absolute path in the attempt. */
  readonly path: string;
  /** Old path of an entry that was moved here. */
  readonly from?: string | undefined;
  readonly before: ChangeSide;
  readonly after: ChangeSide;
  /**
   * For a directory that an operation created or removed on the disk, if it is known: the number of files and links in
   * it.
   */
  readonly files?: number | undefined;
}

/** A change as a person counts and lists it. */
export interface MainChange extends OperationChange {
  readonly type: 'added' | 'removed' | 'changed' | 'moved';
  /** Defined for a directory whose contents are not listed: the number of files and links in it, if it is known. */
  readonly files?: number | undefined;
}

/** One step of an attempt, such as a tool call, a command, an undo or an accept. */
export interface Operation {
  /** Counts from 1 within the attempt. */
  readonly id: number;
  /** Name of the attempt. */
  readonly attempt: string;
  /** Epoch milliseconds of its entry in the log. */
  readonly at: number;
  /** Name of the agent or person, such as `claude` or `user`. */
  readonly actor: string;
  /** Name of the tool; or `edit`, `run` for a command, `undo`, `redo`, `restore`, `resolve`, `refresh`, `accept`. */
  readonly tool: string;
  /** One line for a person, such as `Replace 1 occurrence in /src/a.ts`. */
  readonly summary: string;
  /** False if the tool or command reported a failure. It may have changed files nevertheless. */
  readonly ok: boolean;
  /** Duration in milliseconds. */
  readonly ms: number;
  /**
   * What the operation changed in the attempt. For an `accept`, and an `undo` or `redo` of one, what it changed on the
   * disk: none if it only made a commit. Sorted by path.
   */
  readonly changes: readonly OperationChange[];
  /** How an `accept` brought the changes: `apply` and `merge` change the disk, `branch` only makes a commit. */
  readonly as?: 'apply' | 'merge' | 'branch' | undefined;
  /** The operation that an `undo` took back, or that a `redo` made again. */
  readonly target?: number | undefined;
}

/** Description of an operation, given before it is made. */
export interface OperationLabel {
  /** Default `user`. */
  readonly actor?: string | undefined;
  /** Default `edit`. */
  readonly tool?: string | undefined;
  /** Default: a sentence made from the changes. */
  readonly summary?: string | undefined;
  /** Default true. */
  readonly ok?: boolean | undefined;
  /** Epoch milliseconds. Default: now. */
  readonly startedAt?: number | undefined;
}

/** A path whose changes in the attempt and on the disk cannot be merged, or whose change an accept cannot write. */
export interface Conflict {
  readonly path: string;
  /**
   * `content`: both changed the same or adjacent lines, or the target of a link; `binary`: both changed a content that
   * is not text, or the one that they began from is not known; `kind`: the entry, or one above it, became another kind;
   * `removed`: one side removed what the other changed; `exists`: both created the path; `mode`: both changed the mode;
   * `case`: the disk has the name in another case; `directory`: the directory that a move came from is gone or is
   * another one; `not-empty`: a file or link replaces a directory with entries that an accept leaves alone, such as
   * ignored directories and hidden files; `refused`: an accept cannot write the path at all, such as a link that leads
   * out of the directory.
   */
  readonly code:
    | 'content'
    | 'binary'
    | 'kind'
    | 'removed'
    | 'exists'
    | 'mode'
    | 'case'
    | 'directory'
    | 'not-empty'
    | 'refused';
  /** State that both sides began from. */
  readonly base: EntryState | null;
  readonly disk: EntryState | null;
  /** State that reads in the attempt return. */
  readonly attempt: EntryState | null;
}
