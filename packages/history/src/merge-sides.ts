import { normalizePath } from '@scratchfs/core';
import { DirectoryRenames, movedWith, type Relevance } from './directory-renames.js';
import { groupBy } from './group-by.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { TreeEntry } from './objects/tree.js';
import { findRenames, type PathSide } from './renames.js';
import type { RepositoryCall } from './repository.js';
import { directoryOf } from './tree-path.js';
import { changesBetween, type EntryChange, entryAt } from './tree-walk.js';

/** What one side of a merge did to the base. */
export interface MergeSide {
  readonly tree: ObjectId;
  readonly changes: Map<string, EntryChange>;
  /** Directories of the base that it does not have. */
  readonly gone: ReadonlySet<string>;
}

/** Renames of one side, new paths by old ones. */
export interface SideRenames {
  /** Files that the other side did something to. */
  readonly files: Map<string, string>;
  readonly directories: Map<string, string>;
  /** Directories whose files went to several others without a majority. */
  readonly split: readonly string[];
}

/** A file that goes with a directory, or should have. */
export interface LocatedFile {
  readonly side: MergeSide;
  readonly from: string;
  readonly path: string;
  readonly entry: TreeEntry;
}

export async function sideOf(
  reader: ObjectReader,
  base: ObjectId | undefined,
  tree: ObjectId,
  { signal }: RepositoryCall,
): Promise<MergeSide> {
  const changes = new Map<string, EntryChange>();
  const gone = new Set<string>();
  for await (const change of changesBetween(reader, base, tree, { signal, gone })) changes.set(change.path, change);
  return { tree, changes, gone };
}

/** A side as if it had done only what it did at or beneath some paths. */
export function sideWithin(side: MergeSide, paths: readonly string[]): MergeSide {
  const wanted = paths.map((path) => normalizePath(`/${path}`).slice(1));
  const isWanted = (path: string) => wanted.some((top) => top === '' || path === top || path.startsWith(`${top}/`));
  const changes = new Map<string, EntryChange>();
  const gone = new Set(side.gone);
  for (const [path, change] of side.changes) {
    if (isWanted(path)) changes.set(path, change);
    else if (change.after === undefined) {
      // What stays after all is named: something that is taken may be about to come in its place.
      changes.set(path, { ...change, after: change.before });
      let directory = directoryOf(path);
      while (gone.delete(directory)) directory = directoryOf(directory);
    }
  }
  return { ...side, changes, gone };
}

/** What a side renamed, as far as it matters for what the other side did. */
export async function renamesOf(
  reader: ObjectReader,
  side: MergeSide,
  other: MergeSide,
  { signal }: RepositoryCall,
): Promise<SideRenames> {
  const reach = new Reach(side, other);
  const relevant = new Map<string, 'content' | 'location'>();
  const removed: PathSide[] = [];
  const added: PathSide[] = [];
  for (const { path, before, after } of side.changes.values()) {
    if (before === undefined && after !== undefined) added.push({ path, entry: after });
    if (before === undefined || after !== undefined) continue;
    removed.push({ path, entry: before });
    if (other.changes.has(path)) relevant.set(path, 'content');
    else if (reach.isWanted(directoryOf(path))) relevant.set(path, 'location');
  }
  if (relevant.size === 0 || added.length === 0) return { files: new Map(), directories: new Map(), split: [] };
  const directories = new DirectoryRenames(reach.relevances());
  const options = { signal, limit: MERGE_RENAME_LIMIT };
  const merge = { relevant, directories };
  const renames = await findRenames(reader, inOrder(removed, side, other), inOrder(added, side, other), options, merge);
  const files = new Map(renames.map(({ from, to }) => [from.path, to.path]));
  const { renames: moved, split } = directories.decide();
  return { files, directories: moved, split };
}

/**
 * Of equal candidates the first one counts, in the order in which git's merge comes by them: directories that the other side left
 * alone come last, and among them it goes by a hash table.
 */
function inOrder(paths: readonly PathSide[], side: MergeSide, other: MergeSide): PathSide[] {
  // A file in the place of a directory is a change of it too, by the other side.
  const touched = new Set<string>(['', ...other.changes.keys()]);
  for (const path of side.changes.keys()) if (!side.gone.has(path)) touched.add(path);
  for (const path of other.changes.keys())
    for (let at = directoryOf(path); !touched.has(at); at = directoryOf(at)) touched.add(at);
  /** The first directory on the way to a path that the other side left alone. */
  const lateAt = (path: string): string | undefined => {
    let late: string | undefined;
    for (let at = directoryOf(path); !touched.has(at); at = directoryOf(at)) late = at;
    return late;
  };
  const directories = new Set<string>();
  for (const path of side.changes.keys()) directories.add(lateAt(path) ?? '');
  let size = 64;
  while (directories.size > size * 0.8) size *= 4;
  const late = groupBy(paths, ({ path }) => lateAt(path));
  const buckets = [...late].map(([directory, inside]) => ({ bucket: hashOf(directory) % size, inside }));
  // Who came last into a bucket is its first.
  buckets.reverse().sort((a, b) => a.bucket - b.bucket);
  return [...paths.filter(({ path }) => lateAt(path) === undefined), ...buckets.flatMap(({ inside }) => inside)];
}

/** The hash of git's maps: FNV-1 with 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash, 0x01000193) ^ byte;
  return hash >>> 0;
}

const encoder = new TextEncoder();

/** As in git's merge: 49 million pairs. */
const MERGE_RENAME_LIMIT = 7_000;

/**
 * For which directories that a side does not have it matters where they went: those into which the other side put a file, and
 * all beneath them.
 */
class Reach {
  readonly #states = new Map<string, 'here' | 'gone' | 'wanted'>();
  /** Directories into which the other side alone put a file. */
  readonly #filled = new Set<string>();

  constructor(
    readonly side: MergeSide,
    readonly other: MergeSide,
  ) {
    for (const { path, before, after } of other.changes.values())
      if (before === undefined && after !== undefined && side.changes.get(path)?.after === undefined)
        this.#filled.add(directoryOf(path));
  }

  isWanted(directory: string): boolean {
    return this.#at(directory) === 'wanted';
  }

  relevances(): Map<string, Relevance> {
    const result = new Map<string, Relevance>();
    for (const directory of this.side.gone)
      result.set(directory, this.isWanted(directoryOf(directory)) ? 'ancestor' : 'none');
    for (const directory of this.#filled) if (this.isWanted(directory)) result.set(directory, 'self');
    return result;
  }

  #at(directory: string): 'here' | 'gone' | 'wanted' {
    if (directory === '') return 'here';
    let state = this.#states.get(directory);
    if (state !== undefined) return state;
    state = this.#at(directoryOf(directory));
    if (state === 'here' && this.side.gone.has(directory) && !this.other.gone.has(directory)) state = 'gone';
    if (state === 'gone' && this.#filled.has(directory)) state = 'wanted';
    this.#states.set(directory, state);
    return state;
  }
}

/**
 * Moves what one side added into directories that the other renamed, on both sides, in their changes and in their renames. What
 * cannot be moved stays and is told.
 */
export async function moveWithDirectories(
  reader: ObjectReader,
  ours: readonly [MergeSide, SideRenames],
  theirs: readonly [MergeSide, SideRenames],
  call: RepositoryCall,
): Promise<{ readonly moved: LocatedFile[]; readonly refused: LocatedFile[] }> {
  // What both renamed is where both say.
  for (const directory of [...ours[1].directories.keys()])
    if (theirs[1].directories.delete(directory)) ours[1].directories.delete(directory);
  const plans = [arrivals(ours[0], theirs[1]), arrivals(theirs[0], ours[1])] as const;
  const moved: LocatedFile[] = [];
  const refused: LocatedFile[] = [];
  for (const [i, [side, renames]] of [ours, theirs].entries()) {
    const [other] = i === 0 ? theirs : ours;
    const [plan, otherPlan] = i === 0 ? plans : [plans[1], plans[0]];
    for (const [path, sources] of plan) {
      const going = sources.filter(
        ({ from, directory }) => !otherPlan.has(from) && !renames.directories.has(directory),
      );
      if (going.length === 0) continue;
      const files = going.map(({ from }): LocatedFile => {
        return { side, from, path, entry: side.changes.get(from)?.after as TreeEntry };
      });
      if (sources.length > 1 || (await isTaken(reader, side, path, call)))
        refused.push(...files.map((file) => ({ ...file, path: file.from })));
      else {
        for (const file of files) move(side, other, renames, file);
        moved.push(...files);
      }
    }
  }
  return { moved, refused };
}

/** Where files that a side added would go with directories that the other renamed: sources by targets. */
function arrivals(side: MergeSide, other: SideRenames): Map<string, Arrival[]> {
  const found: Arrival[] = [];
  if (other.directories.size > 0)
    for (const { path: from, before, after } of side.changes.values()) {
      const target = before === undefined && after !== undefined ? movedWith(other.directories, from) : undefined;
      if (target !== undefined) found.push({ from, to: target.path, directory: target.directory });
    }
  return groupBy(found, ({ to }) => to);
}

interface Arrival {
  readonly from: string;
  readonly to: string;
  readonly directory: string;
}

async function isTaken(reader: ObjectReader, side: MergeSide, path: string, call: RepositoryCall): Promise<boolean> {
  return side.changes.get(path)?.after !== undefined || (await entryAt(reader, side.tree, path, call)) !== undefined;
}

function move(side: MergeSide, other: MergeSide, renames: SideRenames, { from, path, entry }: LocatedFile): void {
  const before = side.changes.get(path)?.before ?? other.changes.get(path)?.before;
  side.changes.delete(from);
  side.changes.set(path, { path, before, after: entry });
  for (const [old, now] of renames.files) if (now === from) renames.files.set(old, path);
}
