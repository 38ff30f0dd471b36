import { compareNames } from '@scratchfs/core';
import type { VersionEntry } from './diff.js';
import type { Stages } from './merge-stages.js';

/** What two sides did to one path that does not go together. */
export type ConflictKind =
  /** Both changed the same lines; the result has conflict markers. */
  | 'content'
  /** Both made it, differently. */
  | 'add/add'
  /** One changed what the other removed; the changed one is in the result. */
  | 'modify/delete'
  /** Both changed what is no text; ours is in the result. */
  | 'binary'
  /** One side has a file or link where the other has a directory, or another kind; the result has both, one under a name with `~`. */
  | 'type'
  /** Both renamed it, to different paths; the result has both. */
  | 'rename/rename'
  /** One renamed what the other removed; the renamed one is in the result. */
  | 'rename/delete'
  /** Both moved another repository to different commits; ours is in the result. */
  | 'submodule'
  /** One side put it into a directory that the other renamed: the result has it in the renamed one, or where it was if that cannot be. */
  | 'location'
  /** One side put a file into a directory whose files the other spread over several; the result has it where it was. */
  | 'directory split';

export interface MergeConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly base: VersionEntry | undefined;
  readonly ours: VersionEntry | undefined;
  readonly theirs: VersionEntry | undefined;
}

/** Collects what did not go together. */
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
