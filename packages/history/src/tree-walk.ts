import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { TreeEntry } from './objects/tree.js';
import type { RepositoryCall } from './repository.js';

/** An entry with its path, without a leading `/`. */
export interface PathEntry extends TreeEntry {
  readonly path: string;
}

/** One path that differs between two trees; undefined where a side does not have it. Directories are never named. */
export interface EntryChange {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

function isTree(entry: TreeEntry | undefined): boolean {
  return entry?.mode === '40000';
}

/** Everything in a tree but directories, in the order of git's index. */
export function listTree(reader: ObjectReader, tree: ObjectId, call?: RepositoryCall): AsyncGenerator<PathEntry> {
  return filesOf(reader, tree, '', call);
}

async function* filesOf(
  reader: ObjectReader,
  tree: ObjectId,
  path: string,
  call?: RepositoryCall,
): AsyncGenerator<PathEntry> {
  const pending = [{ path, entries: (await reader.tree(tree, call)).values() }];
  for (let frame = pending.at(-1); frame !== undefined; frame = pending.at(-1)) {
    const { value: entry } = frame.entries.next();
    if (entry === undefined) pending.pop();
    else if (isTree(entry)) {
      const entries = (await reader.tree(entry.id, call)).values();
      pending.push({ path: `${frame.path}${entry.name}/`, entries });
    } else yield { ...entry, path: frame.path + entry.name };
  }
}

/** What differs between two trees (undefined: an empty one), by path; subtrees with the same id are not looked into. */
export async function* changesBetween(
  reader: ObjectReader,
  before: ObjectId | undefined,
  after: ObjectId | undefined,
  call?: RepositoryCall,
): AsyncGenerator<EntryChange> {
  const pending: { path: string; names: IterableIterator<NamePair> }[] = [];
  const enter = async (path: string, a: ObjectId | undefined, b: ObjectId | undefined): Promise<void> => {
    const [left, right] = await Promise.all([a && reader.tree(a, call), b && reader.tree(b, call)]);
    pending.push({ path, names: pairsOf(left || [], right || []) });
  };
  if (before !== after) await enter('', before, after);
  for (let frame = pending.at(-1); frame !== undefined; frame = pending.at(-1)) {
    const { value: pair } = frame.names.next();
    if (pair === undefined) {
      pending.pop();
      continue;
    }
    const { name, a, b } = pair;
    const path = frame.path + name;
    const leafA = isTree(a) ? undefined : a;
    const leafB = isTree(b) ? undefined : b;
    if (leafA !== undefined || leafB !== undefined) yield { path, before: leafA, after: leafB };
    if (isTree(a) || isTree(b)) await enter(`${path}/`, isTree(a) ? a?.id : undefined, isTree(b) ? b?.id : undefined);
  }
}

interface NamePair {
  readonly name: string;
  readonly a: TreeEntry | undefined;
  readonly b: TreeEntry | undefined;
}

/** The names under which two trees differ. */
function* pairsOf(left: readonly TreeEntry[], right: readonly TreeEntry[]): Generator<NamePair, undefined> {
  const rest = new Map(right.map((entry) => [entry.name, entry]));
  for (const a of left) {
    const b = rest.get(a.name);
    rest.delete(a.name);
    if (b === undefined || b.id !== a.id || b.mode !== a.mode) yield { name: a.name, a, b };
  }
  for (const b of rest.values()) yield { name: b.name, a: undefined, b };
  return undefined;
}

/** What a tree holds at a path without a leading `/`, or undefined. */
export async function entryAt(
  reader: ObjectReader,
  tree: ObjectId,
  path: string,
  call?: RepositoryCall,
): Promise<TreeEntry | undefined> {
  let entry: TreeEntry = { mode: '40000', name: '', id: tree };
  for (const name of path.split('/')) {
    if (!isTree(entry)) return undefined;
    const next = (await reader.tree(entry.id, call)).find((candidate) => candidate.name === name);
    if (next === undefined) return undefined;
    entry = next;
  }
  return entry;
}
