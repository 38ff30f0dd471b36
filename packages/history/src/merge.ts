import { compareNames } from '@scratchfs/core';
import type { VersionEntry } from './diff.js';
import { editTree } from './edit-tree.js';
import {
  type LocatedFile,
  type MergeSide,
  moveWithDirectories,
  renamesOf,
  type SideRenames,
  sideOf,
} from './merge-sides.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { idOf } from './objects/git-object.js';
import type { TreeEntry, TreeMode } from './objects/tree.js';
import type { NamedObject, RepositoryCall } from './repository.js';
import { isBinary } from './text/is-binary.js';
import { mergeText } from './text/merge-text.js';
import { type EntryChange, entryAt } from './tree-walk.js';

/** Whose change is taken where both sides changed the same. */
export type Favor = 'ours' | 'theirs' | 'union';

/** What two sides did to one path that does not go together. */
export type ConflictKind =
  /** Both changed the same lines; the result has conflict markers. */
  | 'content'
  /** Both made it, differently. */
  | 'add/add'
  /** One changed what the other removed; the changed one is in the result. */
  | 'modify/delete'
  /** Both changed what is no text; ours is in the result. */
  | 'binary'
  /** One side has a file or link where the other has a directory, or another kind; the result has both, one under a name with `~`. */
  | 'type'
  /** Both renamed it, to different paths; the result has both. */
  | 'rename/rename'
  /** One renamed what the other removed; the renamed one is in the result. */
  | 'rename/delete'
  /** Both moved another repository to different commits; ours is in the result. */
  | 'submodule'
  /** One side put it into a directory that the other renamed: the result has it in the renamed one, or where it was if that cannot be. */
  | 'location'
  /** One side put a file into a directory whose files the other spread over several; the result has it where it was. */
  | 'directory split';

export interface MergeConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly base: VersionEntry | undefined;
  readonly ours: VersionEntry | undefined;
  readonly theirs: VersionEntry | undefined;
}

export interface MergeOptions extends RepositoryCall {
  /** Settles conflicts of content: for all paths, or each on its own (undefined leaves the conflict). Default: none. */
  readonly favor?: Favor | ((path: string) => Favor | undefined) | undefined;
  /** Only what theirs did at or beneath these paths is taken. Default: everything. */
  readonly paths?: readonly string[] | undefined;
  /** Follow files that one side renamed and the other changed. Default true. */
  readonly renames?: boolean | undefined;
  /**
   * Files that one side puts into a directory that the other renamed: `conflict` puts them into the renamed one and says so, true
   * does it silently, false leaves them. Default `conflict`, as in git.
   */
  readonly directoryRenames?: boolean | 'conflict' | undefined;
  /** What stands behind the conflict markers. Default `ours` and `theirs`. */
  readonly labels?: { readonly ours: string; readonly theirs: string } | undefined;
}

/** What a merge came to. Conflicts are values: the tree is there in any case, with markers where texts conflict. */
export interface Merge {
  readonly clean: boolean;
  readonly tree: ObjectId;
  /** In the order of paths. */
  readonly conflicts: readonly MergeConflict[];
}

/** Three-way merge of trees; answers the merge and the objects that it made. */
export async function mergeTrees(
  reader: ObjectReader,
  base: ObjectId | undefined,
  ours: ObjectId,
  theirs: ObjectId,
  options: MergeOptions = {},
): Promise<{ readonly merge: Merge; readonly objects: readonly NamedObject[] }> {
  const left = await sideOf(reader, base, ours, options);
  const right = await sideOf(reader, base, theirs, options);
  const { paths } = options;
  if (paths !== undefined) {
    const wanted = paths.map((path) => path.replace(/^\/+|\/+$/g, ''));
    const isWanted = (path: string) => wanted.some((top) => top === '' || path === top || path.startsWith(`${top}/`));
    for (const path of right.changes.keys()) if (!isWanted(path)) right.changes.delete(path);
  }
  return new TreeMerge(reader, left, right, options).run();
}

class TreeMerge {
  readonly #edits = new Map<string, VersionEntry | undefined>();
  readonly #conflicts: MergeConflict[] = [];
  readonly #objects: NamedObject[] = [];

  constructor(
    readonly reader: ObjectReader,
    readonly left: MergeSide,
    readonly right: MergeSide,
    readonly options: MergeOptions,
  ) {}

  async run(): Promise<{ readonly merge: Merge; readonly objects: readonly NamedObject[] }> {
    if (this.options.renames !== false) await this.#followRenames();
    for (const [path, theirs] of this.right.changes) {
      const ours = this.left.changes.get(path);
      if (ours === undefined) await this.#take(path, theirs);
      else await this.#both(path, ours, theirs);
    }
    const { id, objects } = await editTree(this.reader, this.left.tree, this.#edits, this.options);
    const conflicts = this.#conflicts.sort((a, b) => compareNames(a.path, b.path));
    return { merge: { clean: conflicts.length === 0, tree: id, conflicts }, objects: [...this.#objects, ...objects] };
  }

  /** What only theirs changed. */
  async #take(path: string, { before, after }: EntryChange): Promise<void> {
    const blocked = after === undefined ? undefined : await this.#inTheWay(path);
    if (blocked === undefined) this.#edits.set(path, after);
    else {
      this.#edits.set(this.#aside(path, 'theirs'), after);
      this.#conflict(path, 'type', before, blocked, after);
    }
  }

  /** Something of ours that is not there in the base, and where theirs would have to go: a directory, or a file above. */
  async #inTheWay(path: string): Promise<TreeEntry | undefined> {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const above = this.left.changes.get(path.slice(0, at))?.after;
      if (above !== undefined) return above;
    }
    const there = await entryAt(this.reader, this.left.tree, path, this.options);
    if (there?.mode !== '40000') return undefined;
    for (const [other, change] of this.left.changes)
      if (other.startsWith(`${path}/`) && change.after !== undefined) return there;
    return undefined;
  }

  async #both(path: string, left: EntryChange, right: EntryChange): Promise<void> {
    const { before: base, after: ours } = left;
    const { after: theirs } = right;
    // Also where they agree: a path that was renamed is not in our tree yet.
    if (same(ours, theirs)) return void this.#edits.set(path, ours);
    if (same(ours, base)) return void this.#edits.set(path, theirs);
    if (same(theirs, base)) return void this.#edits.set(path, ours);
    if (ours === undefined || theirs === undefined) {
      if (ours === undefined) this.#edits.set(path, theirs);
      this.#conflict(path, 'modify/delete', base, ours, theirs);
      return;
    }
    await this.#entries(path, base, ours, theirs);
  }

  async #entries(path: string, base: TreeEntry | undefined, ours: TreeEntry, theirs: TreeEntry): Promise<void> {
    const kinds = new Set([kindOf(ours.mode), kindOf(theirs.mode)]);
    if (kinds.size > 1) {
      this.#edits.set(path, ours);
      this.#edits.set(this.#aside(path, 'theirs'), theirs);
      this.#conflict(path, 'type', base, ours, theirs);
      return;
    }
    const mode = this.#mergeModes(base, ours, theirs);
    const of = base !== undefined && kindOf(base.mode) === kindOf(ours.mode) ? base : undefined;
    const before = this.#conflicts.length;
    const id = await this.#mergeIds(path, of, ours, theirs);
    this.#edits.set(path, { mode, id });
    // Made by both, executable by one of them: nobody can tell who is right.
    const isOpen = ours.mode !== theirs.mode && base?.mode !== ours.mode && base?.mode !== theirs.mode;
    if (isOpen && this.#conflicts.length === before) this.#conflict(path, 'add/add', base, ours, theirs);
  }

  #mergeModes(base: TreeEntry | undefined, ours: TreeEntry, theirs: TreeEntry): TreeMode {
    if (ours.mode === theirs.mode || base?.mode === theirs.mode) return ours.mode;
    return base?.mode === ours.mode ? theirs.mode : ours.mode;
  }

  async #mergeIds(path: string, base: TreeEntry | undefined, ours: TreeEntry, theirs: TreeEntry): Promise<ObjectId> {
    if (ours.id === theirs.id || base?.id === theirs.id) return ours.id;
    if (base?.id === ours.id) return theirs.id;
    const { favor } = this.options;
    const favored = typeof favor === 'function' ? favor(path) : favor;
    const whole = favored === 'theirs' ? theirs.id : ours.id;
    if (kindOf(ours.mode) !== 'file') {
      if (favored === undefined || favored === 'union')
        this.#conflict(path, ours.mode === '160000' ? 'submodule' : 'binary', base, ours, theirs);
      return whole;
    }
    const bodies = await Promise.all(
      [base, ours, theirs].map((entry) => (entry === undefined ? EMPTY : this.reader.blob(entry.id, this.options))),
    );
    const [o, a, b] = bodies as [Uint8Array, Uint8Array, Uint8Array];
    if (bodies.some(isBinary)) {
      if (favored === undefined || favored === 'union') this.#conflict(path, 'binary', base, ours, theirs);
      return whole;
    }
    const merged = mergeText(o, a, b, { favor: favored, labels: this.options.labels });
    if (merged.conflicts > 0) this.#conflict(path, base === undefined ? 'add/add' : 'content', base, ours, theirs);
    const object = { type: 'blob', body: merged.bytes } as const;
    const id = idOf(object, this.reader.store.format, this.reader.primitives);
    this.#objects.push({ ...object, id });
    return id;
  }

  /** Where one side renamed a file, what the other did to it is done under the new path. */
  async #followRenames(): Promise<void> {
    const byUs = await renamesOf(this.reader, this.left, this.right, this.options);
    const byThem = await renamesOf(this.reader, this.right, this.left, this.options);
    if (this.options.directoryRenames !== false) await this.#followDirectories(byUs, byThem);
    const [renamedByUs, renamedByThem] = [byUs.files, byThem.files];
    for (const [from, to] of renamedByUs) {
      const theirTo = renamedByThem.get(from);
      const base = this.left.changes.get(from)?.before as TreeEntry;
      const ours = this.left.changes.get(to)?.after as TreeEntry;
      if (theirTo !== undefined) {
        const theirs = this.right.changes.get(theirTo)?.after as TreeEntry;
        this.right.changes.delete(from);
        renamedByThem.delete(from);
        if (theirTo === to) this.#rebase(to, base, ours, theirs);
        else this.#conflict(from, 'rename/rename', base, ours, theirs);
        continue;
      }
      const theirs = this.right.changes.get(from);
      if (theirs === undefined) continue;
      this.right.changes.delete(from);
      const there = this.right.changes.get(to)?.after;
      if (theirs.after === undefined) this.#conflict(to, 'rename/delete', base, ours, undefined);
      else if (kindOf(ours.mode) !== kindOf(theirs.after.mode)) {
        // Their link stays where the file was.
        this.left.changes.delete(from);
        this.right.changes.set(from, { ...theirs, before: undefined });
        this.#conflict(to, 'type', base, ours, theirs.after);
      } else if (there === undefined) this.#rebase(to, base, ours, theirs.after);
      else if ((await this.#mergeIds(to, base, ours, theirs.after)) !== there.id)
        this.#conflict(to, 'add/add', base, ours, there);
    }
    for (const [from, to] of renamedByThem) {
      const ours = this.left.changes.get(from);
      if (ours === undefined || this.left.changes.get(to) !== undefined) continue;
      const base = this.right.changes.get(from)?.before as TreeEntry;
      const theirs = this.right.changes.get(to)?.after as TreeEntry;
      this.right.changes.delete(from);
      if (ours.after === undefined) {
        this.#conflict(to, 'rename/delete', base, undefined, theirs);
        continue;
      }
      if (kindOf(ours.after.mode) !== kindOf(theirs.mode)) {
        this.#conflict(to, 'type', base, ours.after, theirs);
        continue;
      }
      this.#edits.set(from, undefined);
      this.left.changes.set(from, { path: from, before: base, after: undefined });
      this.#rebase(to, base, ours.after, theirs);
    }
  }

  /** Makes a path one that both sides changed, from the same base. */
  #rebase(path: string, before: TreeEntry, ours: TreeEntry, theirs: TreeEntry): void {
    this.left.changes.set(path, { path, before, after: ours });
    this.right.changes.set(path, { path, before, after: theirs });
  }

  async #followDirectories(byUs: SideRenames, byThem: SideRenames): Promise<void> {
    for (const path of [...byUs.split, ...byThem.split])
      this.#conflict(path, 'directory split', undefined, undefined, undefined);
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
        // Not in our tree yet, which the result begins as.
        this.#edits.set(from, undefined);
        this.#edits.set(path, entry);
      }
      if (this.options.directoryRenames !== true) this.#locationConflict(file);
    }
  }

  #aside(path: string, side: 'ours' | 'theirs'): string {
    const label = (this.options.labels?.[side] ?? side).replaceAll('/', '_');
    let name = `${path}~${label}`;
    for (let n = 0; this.left.changes.has(name) || this.right.changes.has(name) || this.#edits.has(name); n++)
      name = `${path}~${label}_${n}`;
    return name;
  }

  #locationConflict({ path, entry, side }: LocatedFile): void {
    const [ours, theirs] = side === this.left ? [entry, undefined] : [undefined, entry];
    this.#conflict(path, 'location', undefined, ours, theirs);
  }

  #conflict(
    path: string,
    kind: ConflictKind,
    base: TreeEntry | undefined,
    ours: TreeEntry | undefined,
    theirs: TreeEntry | undefined,
  ): void {
    const [o, a, b] = [base, ours, theirs].map((entry) => entry && { id: entry.id, mode: entry.mode });
    this.#conflicts.push({ path, kind, base: o, ours: a, theirs: b });
  }
}

const EMPTY = new Uint8Array();

function same(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

function kindOf(mode: TreeMode): 'file' | 'link' | 'directory' | 'submodule' {
  if (mode === '120000') return 'link';
  if (mode === '40000') return 'directory';
  return mode === '160000' ? 'submodule' : 'file';
}
