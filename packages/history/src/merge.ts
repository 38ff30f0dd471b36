import type { VersionEntry } from './diff.js';
import { editTree } from './edit-tree.js';
import { Conflicts, type MergeConflict } from './merge-conflicts.js';
import { ContentMerge } from './merge-content.js';
import type { MergeOptions } from './merge-options.js';
import { RenameMerge } from './merge-renames.js';
import {
  type LocatedFile,
  type MergeSide,
  moveWithDirectories,
  renamesOf,
  type SideRenames,
  sideOf,
  sideWithin,
} from './merge-sides.js';
import { type Entry, entryOf, isSame, kindOf, type MergePath, pathsOf } from './merge-stages.js';
import { nameAside } from './name-aside.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { NamedObject } from './repository.js';
import { directoriesAbove } from './tree-path.js';
import { entryAt } from './tree-walk.js';

/** Result of a merge. Conflicts are values: the tree exists in any case, with markers in conflicting texts. */
export interface Merge {
  readonly clean: boolean;
  readonly tree: ObjectId;
  /** Sorted by path. */
  readonly conflicts: readonly MergeConflict[];
}

/**
 * Merges trees three-way. Returns the merge and the objects that it created.
 * @param depth 0 for the requested merge; above 0 for a merge of common ancestors, one more for each level of nesting
 */
export async function mergeTrees(
  reader: ObjectReader,
  base: ObjectId | undefined,
  ours: ObjectId,
  theirs: ObjectId,
  options: MergeOptions = {},
  depth = 0,
): Promise<{ readonly merge: Merge; readonly objects: readonly NamedObject[] }> {
  const left = await sideOf(reader, base, ours, options);
  const right = await sideOf(reader, base, theirs, options);
  const { paths } = options;
  const taken = paths === undefined ? right : sideWithin(right, paths);
  return new TreeMerge(reader, left, taken, options, depth).run();
}

class TreeMerge {
  readonly #edits = new Map<string, VersionEntry | undefined>();
  readonly #conflicts = new Conflicts();
  readonly #content: ContentMerge;
  /** Directories of the result that contain an entry that the merge has placed. */
  readonly #directories = new Set<string>();
  #paths: ReadonlyMap<string, MergePath> = new Map();

  constructor(
    readonly reader: ObjectReader,
    readonly left: MergeSide,
    readonly right: MergeSide,
    readonly options: MergeOptions,
    readonly depth: number,
  ) {
    this.#content = new ContentMerge(reader, options, depth);
  }

  async run(): Promise<{ readonly merge: Merge; readonly objects: readonly NamedObject[] }> {
    await this.#readPaths();
    // The contents of a directory are placed before a file that may be in its way.
    for (const path of [...this.#paths.keys()].sort().reverse())
      await this.#place(path, this.#paths.get(path) as MergePath);
    const { id, objects } = await editTree(this.reader, this.left.tree, this.#edits, this.options);
    const conflicts = this.#conflicts.inOrder();
    return {
      merge: { clean: conflicts.length === 0, tree: id, conflicts },
      objects: [...this.#content.objects, ...objects],
    };
  }

  async #readPaths(): Promise<void> {
    if (this.options.renames === false) {
      this.#paths = pathsOf(this.left, this.right);
      return;
    }
    const byUs = await renamesOf(this.reader, this.left, this.right, this.options);
    const byThem = await renamesOf(this.reader, this.right, this.left, this.options);
    const isFollowing = this.depth === 0 && this.options.directoryRenames !== false;
    const moved = isFollowing ? await this.#followDirectories(byUs, byThem) : [];
    this.#paths = pathsOf(this.left, this.right);
    for (const { from, path, side } of moved) {
      const arrived = this.#paths.get(path);
      if (arrived !== undefined) arrived.names = { ...arrived.names, [side === this.left ? 'ours' : 'theirs']: from };
    }
    await new RenameMerge(this.#paths, this.#content, this.#conflicts).follow(byUs, byThem);
  }

  async #followDirectories(byUs: SideRenames, byThem: SideRenames): Promise<LocatedFile[]> {
    for (const path of [...byUs.split, ...byThem.split]) this.#conflicts.add(path, 'directory split');
    const { moved, refused } = await moveWithDirectories(
      this.reader,
      [this.left, byUs],
      [this.right, byThem],
      this.options,
    );
    for (const file of refused) this.#locationConflict(file);
    for (const file of moved) {
      const { from, path, entry, side } = file;
      if (side === this.left) {
        // The result starts as our tree, in which the file is still at its old path.
        this.#edits.set(from, undefined);
        this.#edits.set(path, entry);
      }
      if (this.options.directoryRenames !== true) this.#locationConflict(file);
    }
    return moved;
  }

  #locationConflict({ path, entry, side }: LocatedFile): void {
    const of = (tree: MergeSide): Entry => (side === tree ? entryOf(entry) : undefined);
    this.#conflicts.add(path, 'location', { base: undefined, ours: of(this.left), theirs: of(this.right) });
  }

  async #place(path: string, stages: MergePath): Promise<void> {
    const entry = await this.#merged(path, stages);
    const isDirectory = this.#directories.has(path);
    if (entry === undefined) {
      if (stages.kept !== undefined && !isDirectory) this.#edits.set(path, undefined);
    } else if (isDirectory) await this.#placeBesideDirectory(path, entry, stages);
    else this.#put(path, entry, stages.kept);
  }

  async #placeBesideDirectory(path: string, entry: VersionEntry, { base, ours, theirs }: MergePath): Promise<void> {
    const there = await entryAt(this.reader, this.left.tree, path, this.options);
    const isOurs = there?.mode === '40000';
    await this.#putAside(path, entry, isOurs ? 'theirs' : 'ours');
    const directory = isOurs ? there : await entryAt(this.reader, this.right.tree, path, this.options);
    const stages = isOurs ? { base, ours: entryOf(directory), theirs } : { base, ours, theirs: entryOf(directory) };
    this.#conflicts.add(path, 'type', stages);
  }

  /** Merges the entries of a path and records conflicts. */
  async #merged(path: string, stages: MergePath): Promise<Entry> {
    const { base, ours, theirs, names, contested } = stages;
    if (isSame(ours, theirs)) return ours;
    if (!contested && isSame(ours, base)) return theirs;
    if (!contested && isSame(theirs, base)) return ours;
    if (ours === undefined || theirs === undefined) {
      if (base === undefined) return ours ?? theirs;
      if (!contested) this.#conflicts.add(path, 'modify/delete', stages);
      return this.depth > 0 ? base : (ours ?? theirs);
    }
    if (kindOf(ours.mode) !== kindOf(theirs.mode)) {
      this.#conflicts.add(path, 'type', stages);
      return this.depth > 0 ? base : this.#bothKinds(path, ours, theirs);
    }
    const { entry, conflict } = await this.#content.merge(path, names, { base, ours, theirs });
    if (conflict !== undefined) this.#conflicts.add(path, conflict, stages);
    return entry;
  }

  /**
   * Resolves two kinds at one path. A file makes room for a link or submodule; of a link and a submodule neither keeps
   * the path.
   */
  async #bothKinds(path: string, ours: VersionEntry, theirs: VersionEntry): Promise<Entry> {
    const isOurs = kindOf(ours.mode) === 'file';
    const isTheirs = kindOf(theirs.mode) === 'file';
    if (!isTheirs) await this.#putAside(path, ours, 'ours');
    if (!isOurs) await this.#putAside(path, theirs, 'theirs');
    if (isOurs) return theirs;
    return isTheirs ? ours : undefined;
  }

  async #putAside(path: string, entry: VersionEntry, side: 'ours' | 'theirs'): Promise<void> {
    const label = this.#content.labelOf(side);
    let name = nameAside(path, label, '');
    for (let n = 0; await this.#isTaken(name); n++) name = nameAside(path, label, `_${n}`);
    this.#put(name, entry, undefined);
  }

  async #isTaken(path: string): Promise<boolean> {
    if (this.#paths.has(path) || this.#edits.has(path) || this.#directories.has(path)) return true;
    return (await entryAt(this.reader, this.left.tree, path, this.options)) !== undefined;
  }

  #put(path: string, entry: VersionEntry, kept: Entry): void {
    if (!isSame(entry, kept)) this.#edits.set(path, entry);
    for (const directory of directoriesAbove(path)) {
      if (this.#directories.has(directory)) return;
      this.#directories.add(directory);
    }
  }
}
