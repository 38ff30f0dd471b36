import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { compareEntries, type TreeEntry } from './objects/tree.js';
import type { RepositoryCall } from './repository.js';

/** An entry with its path, without a leading `/`. */
export interface PathEntry extends TreeEntry {
  readonly path: string;
}

/**
 * A path that differs between two trees; undefined on a side that has nothing there, or a directory. Directories
 * themselves are not reported.
 */
export interface EntryChange {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

function isTree(entry: TreeEntry | undefined): boolean {
  return entry?.mode === '40000';
}

/**
 * Yields all entries of a tree except directories, in the order of git's index.
 * @throws HistoryError `too-large` if the tree has more entries than the reader allows
 */
export async function* listTree(reader: ObjectReader, tree: ObjectId, call?: WalkCall): AsyncGenerator<PathEntry> {
  const count = reader.countEntries();
  const load = async (path: string, id: ObjectId) => {
    const entries = await reader.tree(id, call);
    count.add(entries.length, path.length);
    call?.onEntries?.(entries.length);
    return { path, entries: entries.values() };
  };
  const pending = [await load('', tree)];
  for (let frame = pending.at(-1); frame !== undefined; frame = pending.at(-1)) {
    const { value: entry } = frame.entries.next();
    if (entry === undefined) pending.pop();
    else if (isTree(entry)) pending.push(await load(`${frame.path}${entry.name}/`, entry.id));
    else yield { ...entry, path: frame.path + entry.name };
  }
}

/** Options of a walk over trees. */
export interface WalkCall extends RepositoryCall {
  /**
   * Receives the number of entries, directories included, that were found in one directory: of a difference, those that
   * the second tree has. Called before the directory is entered; what it throws ends the walk.
   */
  readonly onEntries?: ((entries: number) => void) | undefined;
}

/**
 * Yields the differences between two trees (undefined: an empty one), sorted by path. Subtrees with the same id are
 * skipped.
 * @throws HistoryError `too-large` for more differences, directories included, than the reader allows entries
 */
export async function* changesBetween(
  reader: ObjectReader,
  before: ObjectId | undefined,
  after: ObjectId | undefined,
  call?: WalkCall & {
    /** Receives the directories that only the first tree has. */
    readonly gone?: Set<string> | undefined;
  },
): AsyncGenerator<EntryChange> {
  if (before === after) return;
  const count = reader.countEntries();
  const load: Load = async (path, a, b) => {
    const [left, right] = await Promise.all([a && reader.tree(a, call), b && reader.tree(b, call)]);
    const pairs = [...pairsOf(left || [], right || [])];
    count.add(pairs.length, path.length);
    call?.onEntries?.(pairs.filter((pair) => pair.b !== undefined).length);
    return pairs;
  };
  const frames = [new Level('', await load('', before, after))];
  for (let level = frames.at(-1); level !== undefined; level = frames.at(-1)) {
    level.readAhead(load);
    const pair = level.take();
    if (pair === undefined) {
      frames.pop();
      continue;
    }
    const { name, a, b } = pair;
    const path = level.path + name;
    if (isTree(a ?? b)) {
      if (b === undefined) call?.gone?.add(path);
      frames.push(new Level(`${path}/`, (await level.below()) as NamePair[]));
    } else yield { path, before: a, after: b };
  }
}

/** Maximum number of subdirectories to read ahead, so that a remote store can return them together. */
const READ_AHEAD_DIRECTORIES = 32;

type Load = (path: string, a: ObjectId | undefined, b: ObjectId | undefined) => Promise<NamePair[]>;

/** A step of the walk: a directory that differs between the trees, and its names that differ. */
class Level {
  readonly #reading: Promise<NamePair[]>[] = [];
  #at = 0;
  #read = 0;

  constructor(
    readonly path: string,
    readonly pairs: readonly NamePair[],
  ) {}

  take(): NamePair | undefined {
    return this.pairs[this.#at++];
  }

  /** Returns the differences in the directory that was taken last. */
  below(): Promise<NamePair[]> | undefined {
    return this.#reading.shift();
  }

  readAhead(load: Load): void {
    for (; this.#reading.length < READ_AHEAD_DIRECTORIES && this.#read < this.pairs.length; this.#read++) {
      const { name, a, b } = this.pairs[this.#read] as NamePair;
      if (!isTree(a ?? b)) continue;
      const reading = load(`${this.path}${name}/`, a?.id, b?.id);
      // The error is thrown to the caller that takes this level, if the walk gets that far.
      reading.catch(() => undefined);
      this.#reading.push(reading);
    }
  }
}

/** A name that differs between two trees. If both have it, it is a directory in both or in neither. */
interface NamePair {
  readonly name: string;
  readonly a: TreeEntry | undefined;
  readonly b: TreeEntry | undefined;
}

/**
 * Yields the names that differ. A name that is a directory in one tree and something else in the other is yielded
 * twice.
 */
function* pairsOf(left: readonly TreeEntry[], right: readonly TreeEntry[]): Generator<NamePair, undefined> {
  let [i, j] = [0, 0];
  for (;;) {
    const [a, b] = [left[i], right[j]];
    if (a === undefined && b === undefined) return undefined;
    const order = a === undefined ? 1 : b === undefined ? -1 : compareEntries(a, b);
    if (order <= 0) i += 1;
    if (order >= 0) j += 1;
    if (order < 0) yield { name: (a as TreeEntry).name, a, b: undefined };
    else if (order > 0) yield { name: (b as TreeEntry).name, a: undefined, b };
    else if (a?.id !== b?.id || a?.mode !== b?.mode) yield { name: (a as TreeEntry).name, a, b };
  }
}

/** Returns a tree's entry at a path without a leading `/`, or undefined. */
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
