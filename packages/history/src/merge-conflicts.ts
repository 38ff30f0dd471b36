import { compareNames } from '@scratchfs/core';
import type { VersionEntry } from './diff.js';
import type { Stages } from './merge-stages.js';

/** Kinds of conflicts between the changes of two sides. */
export type ConflictKind =
  /** Both changed the same or adjacent lines; the result has conflict markers. */
  | 'content'
  /** Both created it, with different contents or modes. */
  | 'add/add'
  /** One side changed it and the other removed it; the changed one is in the result. */
  | 'modify/delete'
  /** Both changed or created a file that is not text, or a link; ours is in the result. */
  | 'binary'
  /**
   * One side has a file or link where the other has a directory or another kind. The result has both, if necessary
   * under names with `~`.
   */
  | 'type'
  /** Both renamed it, to different paths; the result has both. */
  | 'rename/rename'
  /** One side renamed it and the other removed it; the renamed one is in the result. */
  | 'rename/delete'
  /** Both moved a submodule to different commits; ours is in the result. */
  | 'submodule'
  /**
   * One side added it to a directory that the other renamed. The result has it in the renamed directory, or at its old
   * path if that is not possible.
   */
  | 'location'
  /**
   * One side added a file to a directory whose files the other moved to several directories in equal numbers. The
   * result has the file at its old path; `path` is the directory.
   */
  | 'directory split';

export interface MergeConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly base: VersionEntry | undefined;
  readonly ours: VersionEntry | undefined;
  readonly theirs: VersionEntry | undefined;
}

/** Collects the conflicts of a merge. */
export class Conflicts {
  readonly #list: MergeConflict[] = [];

  add(path: string, kind: ConflictKind, { base, ours, theirs }: Stages = NOTHING): void {
    this.#list.push({ path, kind, base, ours, theirs });
  }

  inOrder(): MergeConflict[] {
    return this.#list.sort((a, b) => compareNames(a.path, b.path));
  }
}

const NOTHING: Stages = { base: undefined, ours: undefined, theirs: undefined };
