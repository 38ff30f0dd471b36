import type { ObjectStore } from './object-store.js';
import { inParallel, type StoreCalls } from './store-calls.js';

/** Prefix of the objects that list garbage to be deleted later. */
export const PENDING_DELETES = 'trash/';

/**
 * Name of a list of garbage. The whole name must match: the keys of a filesystem with a longer prefix may begin with
 * this prefix too.
 */
const LIST_NAME = /^trash\/[0-9a-z]{20}$/;
/** Maximum number of names per list. */
const MAX_NAMES_PER_LIST = 10_000;
/** Bytes of a list without names, at most. */
const LIST_OVERHEAD_BYTES = 100;
/** Upper bound of a list's size in bytes, at the greatest length of names. */
const MAX_LIST_BYTES = 64 * 2 ** 20;
const MAX_CONCURRENT_LISTS = 4;

/** Reports whether a name is that of a list of this filesystem. */
export function isPendingList(name: string): boolean {
  return LIST_NAME.test(name);
}

export interface PendingDeleteList {
  /** Name of the list's object. */
  readonly name: string;
  readonly names: readonly string[];
}

export interface PendingDeletes {
  readonly lists: readonly PendingDeleteList[];
  /** Epoch milliseconds by object, by the clock of its first finder. */
  readonly foundAt: ReadonlyMap<string, number>;
}

/** Reads the lists of earlier collectors. A damaged list counts as empty, because its garbage is found again. */
export async function readPendingDeletes(
  store: ObjectStore,
  calls: StoreCalls,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<PendingDeletes> {
  const read: PendingDeleteList[] = [];
  const foundAt = new Map<string, number>();
  const lists = names.filter(isPendingList);
  await inParallel(lists, MAX_CONCURRENT_LISTS, async (name) => {
    const bytes = await calls.retrying(signal, (call) => store.get(name, 0, MAX_LIST_BYTES, call));
    const { at, names } = parse(bytes);
    read.push({ name, names });
    for (const garbage of names) foundAt.set(garbage, Math.min(at, foundAt.get(garbage) ?? at));
  });
  return { lists: read, foundAt };
}

export interface PendingDeletesOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly newId: () => string;
  /** Greatest size of a list in bytes. */
  readonly maxBytes: number;
}

/** Writes as many lists as necessary. */
export async function writePendingDeletes(
  { store, calls, newId, maxBytes }: PendingDeletesOptions,
  at: number,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const lists: string[][] = [];
  let bytes = Infinity;
  for (const name of names) {
    // Quotes and a comma.
    const added = name.length + 3;
    if (bytes + added > maxBytes || lists.at(-1)?.length === MAX_NAMES_PER_LIST) {
      lists.push([]);
      bytes = LIST_OVERHEAD_BYTES;
    }
    lists.at(-1)?.push(name);
    bytes += added;
  }
  await inParallel(lists, MAX_CONCURRENT_LISTS, async (list) => {
    const json = new TextEncoder().encode(JSON.stringify({ at, names: list }));
    const name = `${PENDING_DELETES}${newId()}`;
    await calls.retrying(signal, (call) => store.put(name, json, call));
  });
}

function parse(bytes: Uint8Array | undefined): { readonly at: number; readonly names: readonly string[] } {
  try {
    const { at, names } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const isList = typeof at === 'number' && Array.isArray(names) && names.every((name) => typeof name === 'string');
    if (isList) return { at, names };
  } catch {
    // A damaged list counts as empty.
  }
  return { at: 0, names: [] };
}
