import type { Metadata, NodeId } from '../backend.js';
import { metaMaker } from '../tree/tree.js';
import { parseObjectName } from './object-name.js';
import type { Ref } from './ref.js';

/** Number of base-36 digits of a {@link Copying}'s id. */
const ID_LENGTH = 20;

/**
 * A copy of a directory, or several nested ones: the subtree is stored once, and appears with other ids, versions and
 * times in the copy.
 */
export interface Copying {
  /** Random for every copying: the prefix of all ids under it. */
  readonly id: string;
  /** The version of everything under it. */
  readonly commit: number;
  /** The ctime and birthtime of everything under it. */
  readonly time: number;
  /** The atime and mtime of everything under it; undefined if each keeps its own. */
  readonly touched: number | undefined;
}

export function isCopyingId(id: string): boolean {
  return id.length === ID_LENGTH && /^[0-9a-z]*$/.test(id);
}

/**
 * Combines a copying with an outer one into a single one. Ids are added, which is associative, so a page can be written
 * with any of the copyings already applied.
 */
export function seenThrough(inner: Copying | undefined, outer: Copying | undefined): Copying | undefined {
  if (inner === undefined || outer === undefined) return inner ?? outer;
  return { ...outer, id: sum(inner.id, outer.id), touched: outer.touched ?? inner.touched };
}

/** Adds digit by digit without carry. Ids are random, so equal sums are as unlikely as equal ids. */
function sum(a: string, b: string): string {
  let digits = '';
  for (let i = 0; i < ID_LENGTH; i++)
    digits += ((Number.parseInt(a.charAt(i), 36) + Number.parseInt(b.charAt(i), 36)) % 36).toString(36);
  return digits;
}

/** Makes the ids and metadata of the nodes of one page, as they appear in a copy. */
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

  /**
   * Returns the id of the page's next node, made of the copying's id, the page's location and the node's number in the
   * page. It is unique within the copying.
   */
  nextId(): NodeId {
    this.#count += 1;
    return `${this.#prefix}.${this.#count.toString(36)}`;
  }

  meta(stored: Metadata): Metadata {
    return { ...this.#copied(stored), ...this.#touched };
  }
}
