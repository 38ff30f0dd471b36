import type { Metadata, NodeId } from '../../backend.js';
import { FsError } from '../../errors.js';
import { compareNames, joinPath, parentPath } from '../../paths.js';
import type { ContentNode } from '../../tree/content.js';
import type { Entries } from '../../tree/entries.js';
import { DIRECTORY, DirectoryNode, FILE, FileNode, LINKED, type Node, type TreeNode } from '../../tree/node.js';
import { type Location, symlinkNode } from '../../tree/tree.js';
import type { ComposedGuard } from '../composed-guard.js';
import type { Access } from '../guard.js';
import { isSameBeneath, isSameContent } from '../remote/same-stored.js';
import { fileBytes, loadedFile } from '../view/contents.js';
import { checkFileSize, reserve } from '../view/limits.js';
import type { View } from '../view.js';
import { linkGroups } from './link-groups.js';

/** A name on one side of the comparison: the node under it, and its location if it is a directory. */
interface Side {
  readonly location: Location | undefined;
  readonly node: Node | undefined;
}

type Leaf = Exclude<Node, DirectoryNode>;

/** A name to compare, in the current state (`before`) and in the wanted one (`after`). */
interface Met {
  readonly path: string;
  readonly before: Side;
  readonly after: Side;
  readonly entry: TreeNode | undefined;
}

/** A directory in the current and in the wanted state, as far as it exists there. */
export interface Pair {
  readonly path: string;
  readonly now: Location | undefined;
  readonly wanted: Location | undefined;
}

/**
 * Makes the state equal to another one, as far as {@link ComposedGuard.restore} says; `wanted` is a view of the other
 * state without guards. First everything is compared and checked, parents before their entries. Then superfluous names
 * and those to be replaced are removed, missing ones are created, and differing ones are changed. If anything is
 * refused or exceeds a limit, nothing has changed.
 */
export function restoreAllowed(view: View, guard: RestoreGuard, wanted: View, syscall: string, isWhole: boolean): void {
  view.atomic(() => new Restore(view, guard, wanted, syscall, isWhole).run());
}

/**
 * Like {@link restoreAllowed}, for one name in a directory, and everything under it. `way`: the directories on its
 * path, from the root. Those that are missing are created as they were.
 */
export function restoreName(
  view: View,
  guard: RestoreGuard,
  wanted: View,
  syscall: string,
  way: readonly Pair[],
  name: string,
): RestoredPaths {
  return view.atomic(() => new Restore(view, guard, wanted, syscall, false).runAt(way, name));
}

/** The methods of a guard that a restore calls. */
export type RestoreGuard = Pick<ComposedGuard, 'check' | 'allows' | 'isVisible' | 'checkTree'>;

/** The paths that a restore has changed. */
export interface RestoredPaths {
  /** Created entries. */
  readonly added: readonly string[];
  /** Removed entries; a directory stands for everything that was in it. */
  readonly removed: readonly string[];
  /**
   * Entries that got other content or metadata. A directory counts only if its mode or owner differed, not its times
   * alone. A file or symlink with several names is listed by one of them.
   */
  readonly changed: readonly string[];
}

class Restore {
  /**
   * {@link linkGroups} of both states, once a node with several names was compared: they depend on the whole state. A
   * path without a group stands for itself alone.
   */
  #groups: ReadonlyMap<string, string> | undefined;
  #groupsWanted: ReadonlyMap<string, string> | undefined;
  readonly #removals: string[] = [];
  readonly #added: string[] = [];
  readonly #changed: string[] = [];
  readonly #steps: (() => void)[] = [];
  readonly #metas: { readonly path: string; readonly meta: Metadata }[] = [];
  /** First path of each created file or symlink with several names, by its id in the other state. */
  readonly #made = new Map<NodeId, string>();
  readonly #updated = new Set<string>();

  constructor(
    readonly view: View,
    readonly guard: RestoreGuard,
    readonly wanted: View,
    readonly syscall: string,
    readonly isWhole: boolean,
  ) {}

  run(): void {
    const { view } = this;
    const top = { path: '/', now: view.tree.rootLocation, wanted: this.wanted.tree.rootLocation };
    this.#directory('/', top.now.directory, top.wanted.directory);
    this.#compareAll([top]);
    this.#apply();
  }

  runAt(way: readonly Pair[], name: string): RestoredPaths {
    for (const { path, now, wanted } of way) {
      if (now !== undefined || wanted === undefined) continue;
      this.#check(path, 'write', wanted.directory);
      this.#create(path, wanted.directory, wanted.directory);
    }
    this.#compareAll(this.#compare(way.slice(-1), name));
    this.#apply();
    return { added: this.#added, removed: this.#removals, changed: this.#changed };
  }

  #compareAll(level: readonly Pair[]): void {
    for (let next = level; next.length > 0; ) next = this.#compare(next);
  }

  #apply(): void {
    const { view } = this;
    for (const path of this.#removals) view.remove(...this.#place(path));
    for (const step of this.#steps) step();
    for (const { path, meta } of this.#metas) view.restoreMeta(this.#locationOf(path), meta);
  }

  /**
   * Reports whether the restore covers a name: one that this view may see or change. With `isWhole`, the other state is
   * a snapshot: the restore covers visible directories and visible entries that may be read, and other entries stay if
   * the snapshot lacks them.
   */
  #counts(path: string, node: Node | undefined): boolean {
    if (node === undefined) return false;
    const { guard, syscall } = this;
    if (!this.isWhole) return guard.isVisible(path, node) || guard.allows(path, 'write', syscall, node);
    return guard.isVisible(path, node) && (node.kind === DIRECTORY || guard.allows(path, 'read', syscall, node));
  }

  #check(path: string, access: Access, node: Node): void {
    this.guard.check(path, access, this.syscall, this.#shown(path, node), node);
  }

  /**
   * Returns the path that an error about an entry names: the entry's own if it is visible, otherwise that of the
   * nearest visible directory above. With `isWhole` it is the entry's own, because the entry is visible or in the
   * snapshot.
   */
  #shown(path: string, node: Node): string {
    if (this.isWhole || path === '/' || this.guard.isVisible(path, node)) return path;
    // Visibility depends on the path and the kind, so the root stands for any directory.
    return this.#shown(parentPath(path), this.view.tree.root);
  }

  /** Compares directories, or only one name of each. */
  #compare(level: readonly Pair[], only?: string): Pair[] {
    const listed = this.view.all(level, ({ now }) => now && listing(this.view, now, only));
    const listedWanted = this.wanted.all(level, ({ wanted }) => wanted && listing(this.wanted, wanted, only));
    const met: Met[] = [];
    for (const [i, pair] of level.entries()) {
      const [now, wanted] = [listed[i], listedWanted[i]];
      const names = new Set([...(now?.names() ?? []), ...(wanted?.names() ?? [])]);
      for (const name of [...names].sort(compareNames)) {
        const path = joinPath(pair.path, name);
        const before = side(this.view, pair.now, name, now?.get(name));
        const after = side(this.wanted, pair.wanted, name, wanted?.get(name));
        if (before.node === undefined && after.node === undefined) continue;
        if (!this.#counts(path, before.node)) {
          if (after.node === undefined || !(this.isWhole || this.#counts(path, after.node))) continue;
          // The check comes first, because even the equality of the entries may be secret.
          this.#check(path, 'write', after.node);
        }
        met.push({ path, before, after, entry: wanted?.get(name) });
      }
    }
    this.#load(met);
    return met
      .filter(({ path, before, after, entry }) => this.#name(path, before.node, after.node, entry))
      .map(({ path, before, after }) => ({ path, now: before.location, wanted: after.location }));
  }

  /** Loads the contents that are compared or restored, all together. */
  #load(met: readonly Met[]): void {
    const files = met.flatMap(({ before: { node: before }, after: { node: after } }) => {
      if (after?.kind !== FILE) return [];
      const same = before?.kind === FILE && before.size === after.size ? before : undefined;
      return same !== undefined && isSameContent(same, after) ? [] : [{ same, after }];
    });
    this.wanted.all(files, ({ after }) => loadedFile(this.wanted, after));
    this.view.all(files, ({ same }) => same && loadedFile(this.view, same));
  }

  /** Plans the changes of a name. Returns true if the entries under it must be compared. */
  #name(path: string, before: Node | undefined, after: Node | undefined, entry: TreeNode | undefined): boolean {
    if (before !== undefined && after !== undefined && this.#isKept(path, before, after)) {
      if (before.kind === DIRECTORY) return this.#directory(path, before, after as DirectoryNode);
      this.#update(path, before, after as Leaf);
      return false;
    }
    if (before !== undefined) this.#remove(path, before);
    if (after === undefined) return false;
    this.#check(path, 'write', after);
    this.#create(path, after, entry as TreeNode);
    return after.kind === DIRECTORY;
  }

  /**
   * Reports whether a name keeps its node: both nodes are directories, or of one other kind with the same other names.
   */
  #isKept(path: string, before: Node, after: Node): boolean {
    if (before.kind !== after.kind) return false;
    if (before.kind === DIRECTORY) return true;
    return this.#groupOf(path, before) === this.#groupWanted(path, after);
  }

  /** Returns the group of a path in the current state. */
  #groupOf(path: string, { id }: Node): string {
    if (!this.view.tree.inodes.has(id)) return path;
    this.#groups ??= linkGroups(this.view, (at, node) => this.#counts(at, node));
    return this.#groups.get(path) ?? path;
  }

  /** Returns the group of a path in the wanted state. */
  #groupWanted(path: string, { id }: Node): string {
    if (!this.wanted.tree.inodes.has(id)) return path;
    this.#groupsWanted ??= linkGroups(this.wanted, (at, node) => this.isWhole || this.#counts(at, node));
    return this.#groupsWanted.get(path) ?? path;
  }

  #remove(path: string, node: Node): void {
    this.#check(path, 'remove', node);
    if (node.kind === DIRECTORY) {
      const location = this.#locationOf(path);
      this.guard.checkTree(this.view, location, 'remove', this.syscall, this.#shown(path, node));
      this.view.loadTotals(location);
    }
    this.#removals.push(path);
  }

  /**
   * Plans a directory that stays: its metadata is restored if it may be written. Returns true if its entries may
   * differ.
   * @throws the guard's error if its mode or owner differs and may not be written
   */
  #directory(path: string, before: DirectoryNode, after: DirectoryNode): boolean {
    this.view.relyOnMeta(before);
    this.wanted.relyOnMeta(after);
    if (isOther(before.meta, after.meta)) this.#changed.push(path);
    if (this.guard.allows(path, 'write', this.syscall, before)) this.#metas.push({ path, meta: after.meta });
    else if (isOther(before.meta, after.meta)) this.#check(path, 'write', before);
    if (before.linked > 0) return true;
    if (before === after) return false;
    if (!isSameBeneath(before, after)) return true;
    this.view.relyOnTree(before);
    return false;
  }

  #update(path: string, before: Leaf, after: Leaf): void {
    if (before === after) return;
    this.view.relyOnNode(before);
    const sameContent = this.#sameContent(before, after);
    if (sameContent && sameMeta(before.meta, after.meta)) return;
    // Different times alone are not a reason to fail without write access.
    const mayBeLeft = sameContent && !isOther(before.meta, after.meta);
    if (mayBeLeft && !this.guard.allows(path, 'write', this.syscall, before)) return;
    const group = this.#groupOf(path, before);
    // A symlink cannot be changed, so it is created again under all its names.
    const names = after.kind === FILE ? [path] : group.split('\0');
    for (const name of names) this.#check(name, 'write', before);
    if (this.#updated.has(group)) return;
    this.#updated.add(group);
    this.#changed.push(path);
    this.#steps.push(() => this.#write(path, after, names));
  }

  #sameContent(before: Leaf, after: Leaf): boolean {
    if (before.kind !== FILE || after.kind !== FILE)
      return before.kind !== FILE && after.kind !== FILE && before.target === after.target;
    if (before.size !== after.size) return false;
    if (isSameContent(before, after)) return true;
    return this.view.tree.shared.contents.equal(loadedFile(this.view, before), loadedFile(this.wanted, after));
  }

  #write(path: string, after: Leaf, names: readonly string[]): void {
    const { view, syscall } = this;
    if (after.kind !== FILE) {
      for (const one of names) view.remove(...this.#place(one));
      for (const one of names) this.#createLeaf(one, after, names[0]);
      return;
    }
    const [parent, name] = this.#place(path);
    const before = view.tree.resolve(parent.directory.entries.get(name)) as FileNode;
    checkFileSize(view, after.size, before.size, syscall, path);
    reserve(view, after.size - before.size, 0, syscall, path);
    const next = this.#copy(after, before.id);
    const parts = view.recorder === undefined ? [] : [{ offset: 0, bytes: fileBytes(view, next, path) }];
    view.setContent(parent, name, before, next, parts);
  }

  #create(path: string, node: Node, entry: TreeNode): void {
    const { view } = this;
    this.#added.push(path);
    if (node.kind === DIRECTORY) {
      this.#steps.push(() => this.#insert(path, DirectoryNode.empty(view.tree.owner, view.context.newId(), node.meta)));
      this.#metas.push({ path, meta: node.meta });
      return;
    }
    // Loaded before anything changes.
    if (node.kind === FILE) loadedFile(this.wanted, node);
    const first = (entry.kind === LINKED && this.#made.get(entry.id)) || path;
    if (entry.kind === LINKED) this.#made.set(entry.id, first);
    this.#steps.push(() => this.#createLeaf(path, node, first));
  }

  /** Creates a file or symlink at `first`, and links its other names to it. */
  #createLeaf(path: string, node: Leaf, first = path): void {
    const { view } = this;
    if (first === path) {
      const id = view.context.newId();
      this.#insert(path, node.kind === FILE ? this.#copy(node, id) : symlinkNode(id, node.meta, node.target));
      return;
    }
    const [from, fromName] = this.#place(first);
    const [parent, name] = this.#place(path);
    const made = view.tree.resolve(from.directory.entries.get(fromName)) as Leaf;
    reserve(view, 0, 1, this.syscall, path);
    view.addLink(from, fromName, parent, name, made);
    view.setMeta(parent, name, view.tree.resolve(parent.directory.entries.get(name)) as Node, node.meta);
  }

  #copy(node: FileNode, id: NodeId): FileNode {
    const copy = new FileNode(id, node.meta);
    this.view.tree.shared.contents.share(copy as ContentNode, loadedFile(this.wanted, node));
    return copy;
  }

  #insert(path: string, node: Node): void {
    const { view, syscall } = this;
    const size = node.kind === DIRECTORY ? 0 : node.size;
    checkFileSize(view, size, 0, syscall, path);
    reserve(view, size, 1, syscall, path);
    view.create(...this.#place(path), node);
  }

  /** Resolves the path again each time, because removals change locations. */
  #place(path: string): [parent: Location, name: string] {
    const slash = path.lastIndexOf('/');
    return [this.#locationOf(path.slice(0, slash)), path.slice(slash + 1)];
  }

  #locationOf(path: string): Location {
    const { tree } = this.view;
    let location = tree.rootLocation;
    for (const name of path.split('/')) {
      if (name === '') continue;
      const node = location.directory.entries.get(name);
      if (node?.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: this.syscall, path });
      location = tree.childLocation(location, name, node);
    }
    return location;
  }
}

/** Returns the names in a directory, or only one of them. */
function listing(view: View, location: Location, only: string | undefined): Pick<Entries<TreeNode>, 'names' | 'get'> {
  if (only === undefined) return view.list(location);
  const entry = view.lookup(location, only);
  return { names: () => (entry === undefined ? [] : [only]), get: () => entry };
}

function side(view: View, parent: Location | undefined, name: string, entry: TreeNode | undefined): Side {
  const node = view.tree.resolve(entry);
  const isDirectory = parent !== undefined && node?.kind === DIRECTORY;
  return { node, location: isDirectory ? view.tree.childLocation(parent, name, node) : undefined };
}

/** Reports whether mode, uid or gid differ. */
function isOther(a: Metadata, b: Metadata): boolean {
  return a.mode !== b.mode || a.uid !== b.uid || a.gid !== b.gid;
}

function sameMeta(a: Metadata, b: Metadata): boolean {
  const times = a.atime === b.atime && a.mtime === b.mtime && a.ctime === b.ctime && a.birthtime === b.birthtime;
  return times && !isOther(a, b);
}
