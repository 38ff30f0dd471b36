import type { Metadata, NodeId } from '../backend.js';
import { metaMaker } from '../tree/tree.js';
import { parseObjectName } from './object-name.js';
import type { Ref } from './ref.js';

/** Digits of the id of a copying, each to the base of 36. */
const ID_LENGTH = 20;

/** One copying of a directory, or several on top of each other: what lies beneath is stored once, and seen as other nodes in the copy. */
export interface Copying {
  /** Drawn for every copying: what all ids beneath begin with. */
  readonly id: string;
  /** The version of everything beneath. */
  readonly commit: number;
  /** The ctime and birthtime of everything beneath. */
  readonly time: number;
  /** The atime and mtime of everything beneath; undefined where each keeps its own. */
  readonly touched: number | undefined;
}

export function isCopyingId(id: string): boolean {
  return id.length === ID_LENGTH && /^[0-9a-z]*$/.test(id);
}

/**
 * What is seen through a copying that is seen through another one. It has the size of one, however many there are, and is the
 * same in whatever order they are put together, because the sum of ids is: a page can be written with any of them added already.
 */
export function seenThrough(inner: Copying | undefined, outer: Copying | undefined): Copying | undefined {
  if (inner === undefined || outer === undefined) return inner ?? outer;
  return { ...outer, id: sum(inner.id, outer.id), touched: outer.touched ?? inner.touched };
}

/** Digit by digit, without carrying: of ids drawn at random, no two sums are the same. */
function sum(a: string, b: string): string {
  let digits = '';
  for (let i = 0; i < ID_LENGTH; i++)
    digits += ((Number.parseInt(a.charAt(i), 36) + Number.parseInt(b.charAt(i), 36)) % 36).toString(36);
  return digits;
}

/** Nodes of one page, as they are seen through a copying. */
export class CopiedNodes {
  readonly #prefix: string;
  readonly #copied: (meta: Metadata) => Metadata;
  readonly #touched: { readonly atime: number; readonly mtime: number } | undefined;
  #count = 0;

  constructor(page: Ref, { id, time, touched }: Copying) {
    this.#prefix = `${id}+${parseObjectName(page.object).id}.${page.offset.toString(36)}`;
    this.#copied = metaMaker({ time, keep: true });
    this.#touched = touched === undefined ? undefined : { atime: touched, mtime: touched };
  }

  /** Of the next node: where it is stored, no other node of a copying is. */
  nextId(): NodeId {
    this.#count += 1;
    return `${this.#prefix}.${this.#count.toString(36)}`;
  }

  meta(stored: Metadata): Metadata {
    return { ...this.#copied(stored), ...this.#touched };
  }
}
