import type { StateKey } from '@scratchfs/core/states';
import type { ObjectFormat } from './object-id.js';
import { compareEntries, putEntry, roomForEntry, type TreeEntry } from './objects/tree.js';

/** A directory at the time its tree object was made. The lists have one element per name. */
export interface TreeRecord extends EncodedParts {
  /** Sorted by UTF-8 bytes. */
  readonly names: readonly string[];
  /** Keys of the entries' states; undefined if a state has no key or its key does not determine the tree. */
  readonly keys: readonly (StateKey | undefined)[];
  readonly below: readonly (TreeRecord | undefined)[];
}

/** An encoded tree object. */
export interface EncodedParts {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Start of each name's entry in the body. Equal to the end for a name without an entry. */
  readonly starts: Uint32Array;
  /** End of each name's entry in the body. */
  readonly ends: Uint32Array;
}

const NO_PLACES = new Uint32Array(0);

/** Record of an unknown directory. */
export const NO_RECORD: TreeRecord = {
  body: new Uint8Array(0),
  starts: NO_PLACES,
  ends: NO_PLACES,
  names: [],
  keys: [],
  below: [],
};

/** The new part of a name: an entry, the index of an entry in the previous record, or none. */
export type TreePart = TreeEntry | number | undefined;

const FIRST_OF_DIRECTORY = '40000'.charCodeAt(0);

/** Encodes a tree object from parts. Unchanged entries are copied from the previous record. */
export function encodeParts(
  names: readonly string[],
  parts: readonly TreePart[],
  before: TreeRecord,
  format: ObjectFormat,
): EncodedParts {
  return areInPlace(names, parts, before) ? encodeInPlace(parts, before) : encodeAnew(names, parts, before, format);
}

/** Reports whether every entry keeps its place and its length. */
function areInPlace(names: readonly string[], parts: readonly TreePart[], before: TreeRecord): boolean {
  if (names.length !== before.names.length) return false;
  return parts.every((part, at) => {
    if (typeof part === 'number') return part === at;
    if (part === undefined) return before.starts[at] === before.ends[at];
    return before.names[at] === part.name && modeAt(before, at)?.length === part.mode.length;
  });
}

function encodeInPlace(parts: readonly TreePart[], { body, starts, ends }: TreeRecord): EncodedParts {
  const copy = body.slice();
  parts.forEach((part, at) => {
    if (typeof part === 'object') putEntry(copy, starts[at] as number, part);
  });
  return { body: copy, starts, ends };
}

function encodeAnew(
  names: readonly string[],
  parts: readonly TreePart[],
  before: EncodedParts,
  format: ObjectFormat,
): EncodedParts {
  let room = 0;
  for (const part of parts) {
    if (typeof part === 'number') room += (before.ends[part] as number) - (before.starts[part] as number);
    else if (part !== undefined) room += roomForEntry(part, format);
  }
  const body = new Uint8Array(room);
  const starts = new Uint32Array(parts.length);
  const ends = new Uint32Array(parts.length);
  let end = 0;
  // Adjacent entries that stay adjacent are copied together.
  let from = 0;
  let to = 0;
  const copy = (): void => {
    if (to > from) body.set(before.body.subarray(from, to), end - (to - from));
  };
  for (const at of gitOrder(names, parts, before)) {
    const part = parts[at] as TreeEntry | number;
    starts[at] = end;
    if (typeof part === 'number') {
      const start = before.starts[part] as number;
      if (start !== to) {
        copy();
        from = start;
      }
      to = before.ends[part] as number;
      end += to - start;
    } else {
      copy();
      from = to;
      end = putEntry(body, end, part);
    }
    ends[at] = end;
  }
  copy();
  return { body: end === room ? body : body.slice(0, end), starts, ends };
}

/**
 * Returns `40000` for a directory and `100644` for every other entry, whose true mode has as many digits. Undefined for
 * a name without an entry.
 */
function modeAt({ body, starts, ends }: EncodedParts, at: number): TreeEntry['mode'] | undefined {
  if (starts[at] === ends[at]) return undefined;
  return body[starts[at] as number] === FIRST_OF_DIRECTORY ? '40000' : '100644';
}

/**
 * Returns the indexes of names that have a part, in git's order. It differs from the order of names only after a
 * directory whose name is a prefix of the next.
 */
function gitOrder(names: readonly string[], parts: readonly TreePart[], before: EncodedParts): number[] {
  const modeOf = (at: number): TreeEntry['mode'] => {
    const part = parts[at] as TreeEntry | number;
    if (typeof part !== 'number') return part.mode;
    return modeAt(before, part) as TreeEntry['mode'];
  };
  const order: number[] = [];
  let directory: string | undefined;
  let isOdd = false;
  for (let at = 0; at < parts.length; at++) {
    if (parts[at] === undefined) continue;
    const name = names[at] as string;
    isOdd ||= directory !== undefined && name.startsWith(directory);
    directory = modeOf(at) === '40000' ? name : undefined;
    order.push(at);
  }
  const named = (at: number) => ({ name: names[at] as string, mode: modeOf(at) });
  return isOdd ? order.sort((a, b) => compareEntries(named(a), named(b))) : order;
}
