import type { Metadata, NodeId, Totals } from '../backend.js';
import { joinPath, utf8Length } from '../paths.js';
import { type ContentNode, ContentStore } from './content.js';
import type { MapWhole } from './entries.js';
import {
  ABSENT,
  ABSENT_NODE,
  type ChangeId,
  type CopyTimes,
  DIRECTORY,
  DirectoryNode,
  FILE,
  FileNode,
  type Inode,
  LINKED,
  LinkedNode,
  type Node,
  SYMLINK,
  SymlinkNode,
  type TreeNode,
  Unloaded,
} from './node.js';
import { Owner } from './owner.js';

/** State shared by all trees that share parts: contents, and counters whose values must be unique among these trees. */
export class SharedStore {
  readonly contents = new ContentStore();
  #id = 1;
  #version = 0;
  readonly newId: () => NodeId;

  constructor(newId?: () => NodeId) {
    this.newId = newId ?? (() => ++this.#id);
  }

  newVersion(): number {
    return ++this.#version;
  }
}

/** A complete tree at one point in time, which shares parts with others. Its parts must not be changed. */
export interface TreeState {
  readonly root: DirectoryNode;
  readonly inodes: ReadonlyMap<NodeId, Inode>;
  /** Bytes of the nodes in `inodes` that the size of `root` does not count. */
  readonly linkedSize: number;
  /** Version of `inodes`; undefined if no other state shares the table. */
  readonly inodesVersion?: number;
}

/** A directory at its position in a tree. Changes of the tree keep `directory` current. */
export class Location {
  constructor(
    readonly path: string,
    readonly parent: Location | null,
    readonly name: string,
    public directory: DirectoryNode,
  ) {}
}

/** Maximum number of locations cached between operations. */
const MAX_CACHED_LOCATIONS = 16_384;

/**
 * A persistent tree with one current state. Parts that carry its owner mark are changed in place, all others are copied
 * on the way down; `freeze` changes the mark, so that a checkpoint or a fork is O(1) and shares everything. It keeps
 * structure and totals correct and implements no rule of the filesystem.
 */
export class Tree {
  root: DirectoryNode;
  inodes: Map<NodeId, Inode>;
  linkedSize: number;
  owner: Owner;
  #inodesOwned = false;
  #inodesVersion: number;
  #rootLocation: Location;
  /**
   * Directories by path. Joining a path from this map with a name from its directory gives a normalized path, so it
   * need not be checked.
   */
  #locations = new Map<string, Location>();

  constructor(
    readonly shared: SharedStore,
    state: TreeState,
    /** Mark of the parts of the state that may be changed in place. */
    owner = new Owner(),
  ) {
    this.owner = owner;
    this.root = state.root;
    this.inodes = state.inodes as Map<NodeId, Inode>;
    this.linkedSize = state.linkedSize;
    this.#inodesVersion = state.inodesVersion ?? shared.newVersion();
    this.#rootLocation = new Location('/', null, '', this.root);
  }

  static empty(shared: SharedStore, meta: Metadata): Tree {
    return new Tree(shared, Tree.emptyState(meta));
  }

  static emptyState(meta: Metadata): TreeState {
    return { root: DirectoryNode.empty(new Owner(), 1, meta), inodes: new Map(), linkedSize: 0 };
  }

  get rootLocation(): Location {
    return this.#rootLocation;
  }

  /** Freezes and returns the current state: O(1). */
  freeze(): TreeState {
    this.owner = new Owner();
    this.#inodesOwned = false;
    const { root, inodes, linkedSize } = this;
    return { root, inodes, linkedSize, inodesVersion: this.#inodesVersion };
  }

  /** Returns an independent tree with the same state: O(1). */
  fork(): Tree {
    return new Tree(this.shared, this.freeze());
  }

  /** Makes a frozen state the current one: O(1). */
  reset(state: TreeState): void {
    this.owner = new Owner();
    this.#inodesOwned = false;
    this.root = state.root;
    this.inodes = state.inodes as Map<NodeId, Inode>;
    this.linkedSize = state.linkedSize;
    this.#inodesVersion = state.inodesVersion ?? this.shared.newVersion();
    this.forgetLocations();
  }

  /** Equal to an earlier value if nothing has changed since. */
  get stamp(): string {
    return `${this.root.version}:${this.#inodesVersion}`;
  }

  /**
   * Version of the inode table, new with each call of `setInode`. Dropping a name gives no new version by itself, but
   * changes the directory of that name.
   */
  get inodesVersion(): number {
    return this.#inodesVersion;
  }

  totals(): Totals {
    const { size, files, directories, linked } = this.root;
    return { size: size + this.linkedSize, files, directories, linked };
  }

  cachedLocation(path: string): Location | undefined {
    return this.#locations.get(path);
  }

  /** Returns the location of a directory named `name` in `parent`. */
  childLocation(parent: Location, name: string, directory: DirectoryNode): Location {
    const path = joinPath(parent.path, name);
    const known = this.#locations.get(path);
    if (known !== undefined && known.directory === directory) return known;
    const location = new Location(path, parent, name, directory);
    this.#locations.set(path, location);
    return location;
  }

  /**
   * Bounds the cache. Call it only between operations: within one, a directory must have a single location, because a
   * second would miss copies made through the first.
   */
  trimLocations(): void {
    if (this.#locations.size > MAX_CACHED_LOCATIONS) this.#locations = new Map();
  }

  /** Clears the cache. Call it when a directory has moved or was removed. */
  forgetLocations(): void {
    this.#locations = new Map();
    this.#rootLocation = new Location('/', null, '', this.root);
  }

  /** Returns the node that an entry leads to, through the inode table. */
  resolve(node: TreeNode | undefined): Node | undefined {
    if (node === undefined || node.kind <= 2) return node as Node | undefined;
    return node.kind === LINKED ? this.inodes.get(node.id)?.node : undefined;
  }

  /** Returns the value that identifies the state of a node. No other state of the node, past or future, has it. */
  changeIdOf(node: Node): ChangeId {
    if (node.changeId === 0) node.changeId = -this.shared.newVersion();
    return node.changeId;
  }

  linksOf(node: TreeNode): number {
    return node.kind === LINKED ? (this.inodes.get(node.id)?.links ?? 0) : 1;
  }

  /** Returns the directory at a location, owned, so that it can be changed in place. */
  own(location: Location): DirectoryNode {
    const directory = location.directory;
    if (directory.owner === this.owner) return directory;
    const copy = directory.clone(this.owner);
    if (location.parent === null) this.root = copy;
    else this.own(location.parent).entries.set(this.owner, location.name, copy);
    location.directory = copy;
    return copy;
  }

  /** Puts a node under a free name. */
  insert(location: Location, name: string, node: TreeNode): void {
    const directory = this.own(location);
    directory.entries.set(this.owner, name, node);
    directory.listing = this.shared.newVersion();
    directory.changeId = 0;
    directory.holds(name, node);
    let { height, reach } = directory;
    for (let at: Location = location; at.parent !== null; at = at.parent) {
      reach += at.name.length + 1;
      height += 1;
      at.parent.directory.stretch(height, reach);
    }
    this.#add(location, node, 1);
  }

  /** Removes a name. Files with several names under it stay in the inode table. */
  detach(location: Location, name: string, node: TreeNode): void {
    const directory = this.own(location);
    if (directory.complete) directory.entries.delete(this.owner, name);
    else directory.entries.set(this.owner, name, ABSENT_NODE);
    directory.listing = this.shared.newVersion();
    directory.changeId = 0;
    this.#add(location, node, -1);
    if (node.kind === DIRECTORY) this.forgetLocations();
    else if (node.kind === FILE && !(node.data instanceof Unloaded))
      this.shared.contents.noteReleased(node as ContentNode);
  }

  /** Replaces the node under a name in use. A file or symlink with several names is replaced under all of them. */
  replace(location: Location, name: string, before: TreeNode, node: Node): void {
    const directory = this.own(location);
    if (before.kind === LINKED) {
      this.setInode(before.id, node as FileNode | SymlinkNode, this.linksOf(before));
      this.#add(location, before, 0);
      return;
    }
    directory.entries.set(this.owner, name, node);
    const growth = sizeOf(node) - sizeOf(before);
    const version = this.shared.newVersion();
    for (let at: Location | null = location; at !== null; at = at.parent) {
      at.directory.size += growth;
      at.directory.version = version;
    }
  }

  /** Replaces the metadata of a directory, without a new version for it and the directories above. */
  putDirectoryMeta(location: Location, meta: Metadata): void {
    const directory = this.own(location);
    directory.meta = meta;
    directory.changeId = 0;
  }

  /** Replaces the metadata of a directory. */
  setDirectoryMeta(location: Location, meta: Metadata): void {
    this.putDirectoryMeta(location, meta);
    const version = this.shared.newVersion();
    for (let at: Location | null = location; at !== null; at = at.parent) at.directory.version = version;
  }

  /** Adds a file with several names that the storage knows. `isCounted`: the storage's totals include it already. */
  admitInode(id: NodeId, node: FileNode | SymlinkNode, links: number, isCounted: boolean): void {
    this.#ownInodes().set(id, { node, links });
    if (!isCounted) this.linkedSize += node.size;
  }

  setInode(id: NodeId, node: FileNode | SymlinkNode, links: number): void {
    const inodes = this.#ownInodes();
    this.#inodesVersion = this.shared.newVersion();
    this.linkedSize += node.size - (inodes.get(id)?.node.size ?? 0);
    inodes.set(id, { node, links });
  }

  /** Drops one name of an inode. The last one moves the inode into `orphans`. */
  dropLink(id: NodeId, orphans: Map<NodeId, Node>): void {
    const inodes = this.#ownInodes();
    const inode = inodes.get(id);
    if (inode === undefined) return;
    if (inode.links > 1) inodes.set(id, { node: inode.node, links: inode.links - 1 });
    else {
      inodes.delete(id);
      orphans.set(id, inode.node);
      this.linkedSize -= inode.node.size;
    }
  }

  /** Converts the file under a name into one that may have several. Returns its new entry. */
  promote(location: Location, name: string, node: FileNode | SymlinkNode): LinkedNode {
    const linked = new LinkedNode(node.id);
    const directory = this.own(location);
    directory.entries.set(this.owner, name, linked);
    this.setInode(node.id, node, 1);
    this.#add(location, node, -1);
    this.#add(location, linked, 1);
    return linked;
  }

  /**
   * Drops the names of files with several names under a directory that is about to be removed. Returns the ids of the
   * files that keep other names.
   */
  dropLinksBeneath(directory: DirectoryNode, orphans: Map<NodeId, Node>): Set<NodeId> {
    const touched = new Set<NodeId>();
    const pending = directory.linked > 0 ? [directory] : [];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      at.entries.forEach((child) => {
        if (child.kind === LINKED) {
          this.dropLink(child.id, orphans);
          touched.add(child.id);
        } else if (child.kind === DIRECTORY && child.linked > 0) pending.push(child);
      });
    }
    for (const id of orphans.keys()) touched.delete(id);
    return touched;
  }

  /** Sets the ctime of a file that lost or gained a name. */
  touchInode(id: NodeId, time: number): void {
    const inode = this.inodes.get(id);
    if (inode !== undefined)
      this.setInode(id, this.withMeta(inode.node, { ...inode.node.meta, ctime: time }), inode.links);
  }

  /** Copies a directory and everything under it, with new identities; contents are shared. Works without recursion. */
  copyDirectory(source: DirectoryNode, id: NodeId, meta: Metadata, times: CopyTimes): DirectoryNode {
    const fresh = metaMaker(times);
    const top = source.clone(this.owner, id, meta);
    const copies = [top];
    for (let i = 0; i < copies.length; i++) {
      const copy = copies[i] as DirectoryNode;
      const copied = (child: TreeNode): TreeNode => {
        const node = this.#copyNode(child, fresh);
        if (node.kind === DIRECTORY) copies.push(node);
        return node;
      };
      copy.entries = copy.entries.map(this.owner, copied, this.copiedWhole(copy, times));
      copy.version = copy.listing = this.shared.newVersion();
      if (copy.origin !== undefined) copy.origin = { ...copy.origin, copied: times };
    }
    // The copy of a file with several names has one name, so its directory counts its size. Totals are computed again
    // from the leaves up.
    for (const copy of copies.reverse()) if (copy.linked > 0) recount(copy);
    return top;
  }

  /** Returns a function that copies whole parts of a directory without copying each node, if possible. */
  protected copiedWhole(_source: DirectoryNode, _times: CopyTimes): MapWhole<TreeNode> | undefined {
    return undefined;
  }

  /** Copies a file or symlink, with a new identity and one name. */
  copyLeaf(node: FileNode | SymlinkNode, id: NodeId, meta: Metadata): FileNode | SymlinkNode {
    if (node.kind !== FILE) return new SymlinkNode(id, meta, node.target, node.size, node.outside);
    const copy = new FileNode(id, meta);
    if (node.data instanceof Unloaded) {
      copy.data = node.data;
      copy.size = node.size;
    } else this.shared.contents.share(copy as ContentNode, node as ContentNode);
    return copy;
  }

  /** Returns the same file or symlink with other metadata. */
  withMeta<N extends FileNode | SymlinkNode>(node: N, meta: Metadata): N;
  withMeta(node: FileNode | SymlinkNode, meta: Metadata): FileNode | SymlinkNode {
    if (node.kind === SYMLINK) return new SymlinkNode(node.id, meta, node.target, node.size, node.outside);
    const copy = new FileNode(node.id, meta);
    copy.data = node.data;
    copy.start = node.start;
    copy.size = node.size;
    return copy;
  }

  #copyNode(child: TreeNode, fresh: (meta: Metadata) => Metadata): TreeNode {
    if (child.kind === DIRECTORY) return child.clone(this.owner, this.shared.newId(), fresh(child.meta));
    const node = this.resolve(child) as FileNode | SymlinkNode | undefined;
    return node === undefined ? child : this.copyLeaf(node, this.shared.newId(), fresh(node.meta));
  }

  #ownInodes(): Map<NodeId, Inode> {
    if (!this.#inodesOwned) {
      this.inodes = new Map(this.inodes);
      this.#inodesOwned = true;
    }
    return this.inodes;
  }

  /**
   * Adds a node's share to the totals of a location and all its ancestors (`times` = 1), or subtracts it (-1). With 0,
   * only gives the directories a new version.
   */
  #add(location: Location, node: TreeNode, times: number): void {
    const version = this.shared.newVersion();
    let size = 0;
    let files = 0;
    let directories = 0;
    let linked = 0;
    if (node.kind === DIRECTORY) {
      size = node.size * times;
      files = node.files * times;
      directories = (node.directories + 1) * times;
      linked = node.linked * times;
    } else {
      files = times;
      if (node.kind === LINKED) linked = times;
      else size = sizeOf(node) * times;
    }
    for (let at: Location | null = location; at !== null; at = at.parent) {
      const directory = at.directory;
      directory.size += size;
      directory.files += files;
      directory.directories += directories;
      directory.linked += linked;
      directory.version = version;
    }
  }
}

export function symlinkNode(id: NodeId, meta: Metadata, target: string): SymlinkNode {
  return new SymlinkNode(id, meta, target, utf8Length(target));
}

/** Computes the totals of a directory whose names are all known and whose subdirectories have exact totals. */
export function countDirectory(directory: DirectoryNode): void {
  recount(directory);
  if (directory.origin !== undefined) directory.origin = { ...directory.origin, uncounted: false };
}

function sizeOf(node: TreeNode): number {
  return node.kind === FILE || node.kind === SYMLINK ? node.size : 0;
}

function recount(directory: DirectoryNode): void {
  directory.size = directory.files = directory.directories = directory.linked = 0;
  directory.entries.forEach((child) => {
    if (child.kind === ABSENT) return;
    if (child.kind !== DIRECTORY) {
      directory.files += 1;
      directory.size += sizeOf(child);
      if (child.kind === LINKED) directory.linked += 1;
      return;
    }
    directory.size += child.size;
    directory.files += child.files;
    directory.directories += child.directories + 1;
    directory.linked += child.linked;
  });
}

/** Returns the metadata with `time` as mtime and ctime: the same object if it has these times already. */
export function touched(meta: Metadata, time: number): Metadata {
  if (meta.mtime === time && meta.ctime === time) return meta;
  const { mode, uid, gid, atime, birthtime } = meta;
  return { mode, uid, gid, atime, mtime: time, ctime: time, birthtime };
}

/** Returns a function that makes the metadata of copies: uid and gid are 0. Equal results may share one object. */
export function metaMaker({ time, keep }: CopyTimes): (meta: Metadata) => Metadata {
  let from: Metadata | undefined;
  let made: Metadata | undefined;
  return (meta) => {
    if (made === undefined || from === undefined || (keep ? from !== meta : from.mode !== meta.mode)) {
      from = meta;
      const fresh = { mode: meta.mode, uid: 0, gid: 0, ctime: time, birthtime: time };
      made = keep ? { ...fresh, atime: meta.atime, mtime: meta.mtime } : { ...fresh, atime: time, mtime: time };
    }
    return made;
  };
}
