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

/** Changes of one side of a merge against the base. */
export interface MergeSide {
  readonly tree: ObjectId;
  readonly changes: Map<string, EntryChange>;
  /** Directories of the base that this side does not have. */
  readonly gone: ReadonlySet<string>;
}

/** Renames of one side, from old to new paths. */
export interface SideRenames {
  /** Renamed files. Those that do not matter for the merge are included only if their content is unchanged. */
  readonly files: Map<string, string>;
  readonly directories: Map<string, string>;
  /** Directories whose files went to several directories equally often. */
  readonly split: readonly string[];
}

/** A file that moves with a directory, or that would move with one. */
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

/** Returns a side with only its changes to some paths and everything in them. */
export function sideWithin(side: MergeSide, paths: readonly string[]): MergeSide {
  const wanted = paths.map((path) => normalizePath(`/${path}`).slice(1));
  const isWanted = (path: string) => wanted.some((top) => top === '' || path === top || path.startsWith(`${top}/`));
  const changes = new Map<string, EntryChange>();
  const gone = new Set(side.gone);
  for (const [path, change] of side.changes) {
    if (isWanted(path)) changes.set(path, change);
    else if (change.after === undefined) {
      // Their removal is not wanted, so the file stays. It is listed, because a wanted change may need its place.
      changes.set(path, { ...change, after: change.before });
      let directory = directoryOf(path);
      while (gone.delete(directory)) directory = directoryOf(directory);
    }
  }
  return { ...side, changes, gone };
}

/** Finds the renames of a side that matter for the other side's changes. */
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
 * Sorts paths as git's merge visits them, because the first of equally good candidates wins. Directories that the other
 * side left alone come last, in the order of git's hash table.
 */
function inOrder(paths: readonly PathSide[], side: MergeSide, other: MergeSide): PathSide[] {
  // A file in place of a directory counts as a change of the directory by the other side.
  const touched = new Set<string>(['', ...other.changes.keys()]);
  for (const path of side.changes.keys()) if (!side.gone.has(path)) touched.add(path);
  for (const path of other.changes.keys())
    for (let at = directoryOf(path); !touched.has(at); at = directoryOf(at)) touched.add(at);
  /** Returns the outermost directory on the way to a path in which the other side changed nothing. */
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
  // git inserts at the front of a bucket.
  buckets.reverse().sort((a, b) => a.bucket - b.bucket);
  return [...paths.filter(({ path }) => lateAt(path) === undefined), ...buckets.flatMap(({ inside }) => inside)];
}

/** Returns the hash of git's maps: FNV-1 with 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash, 0x01000193) ^ byte;
  return hash >>> 0;
}

const encoder = new TextEncoder();

/** git's limit: 49 million pairs. */
const MERGE_RENAME_LIMIT = 7_000;

/**
 * Finds the directories that one side does not have and whose new place matters: those to which the other side added a
 * file, and all directories in them.
 */
class Reach {
  readonly #states = new Map<string, 'here' | 'gone' | 'wanted'>();
  /** Directories to which the other side added a file that this side did not add. */
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
 * If one side added files to a directory that the other renamed, moves them to the new path of the directory. Updates
 * the changes and renames of both sides. Files that cannot move stay and are returned as `refused`.
 */
export async function moveWithDirectories(
  reader: ObjectReader,
  ours: readonly [MergeSide, SideRenames],
  theirs: readonly [MergeSide, SideRenames],
  call: RepositoryCall,
): Promise<{ readonly moved: LocatedFile[]; readonly refused: LocatedFile[] }> {
  // If both sides renamed a directory, neither rename moves files of the other side.
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

/** Returns the files that a side added and that would move with a directory that the other renamed, by new path. */
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
