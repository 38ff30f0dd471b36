import type { Metadata, NodeId } from '../backend.js';
import type { CopyTimes } from '../tree/node.js';
import { metaMaker } from '../tree/tree.js';
import { parseObjectName } from './object-name.js';
import type { Ref } from './ref.js';

/** One copying of a directory: what lies beneath is stored once, and seen as other nodes in the copy. */
export interface Copying extends CopyTimes {
  /** Drawn for every copying: what all ids beneath begin with. */
  readonly id: string;
  /** The version of everything beneath. */
  readonly commit: number;
}

/** Through which copyings pages are seen: the last is the outermost. */
export type Copyings = readonly Copying[];

export const AS_STORED: Copyings = [];

/** A copy of a copy of … is made of nodes of its own where it would be more. */
export const MAX_COPYINGS = 4;

export function copyingsKey(copyings: Copyings): string {
  return copyings.map(({ id }) => id).join('+');
}

/** Nodes of one page, as they are seen through copyings. */
export class CopiedNodes {
  readonly commit: number;
  readonly #prefix: string;
  readonly #metas: readonly ((meta: Metadata) => Metadata)[];
  #count = 0;

  constructor(page: Ref, copyings: Copyings) {
    const { id } = parseObjectName(page.object);
    this.commit = copyings.at(-1)?.commit ?? 0;
    this.#prefix = `${copyingsKey(copyings)}+${id}.${page.offset.toString(36)}`;
    this.#metas = copyings.map(metaMaker);
  }

  /** Of the next node: where it is stored, no other node of a copying is. */
  nextId(): NodeId {
    this.#count += 1;
    return `${this.#prefix}.${this.#count.toString(36)}`;
  }

  meta(stored: Metadata): Metadata {
    return { ...this.#metas.reduce((meta, copied) => copied(meta), stored) };
  }
}
