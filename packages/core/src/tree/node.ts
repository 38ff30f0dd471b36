import type { Metadata, NodeAddress, NodeId, Part, Totals, Version } from '../backend.js';
import type { EntryKind } from '../entry.js';
import type { ContentNode, Data } from './content.js';
import { Entries } from './entries.js';
import type { Owner } from './owner.js';

// Kinds of tree nodes, as small integers for fast comparison. `LINKED` and `ABSENT` exist only as values of names.

export const FILE = 0;
export const DIRECTORY = 1;
export const SYMLINK = 2;
export const LINKED = 3;
export const ABSENT = 4;

/** The value of a name in a directory. */
export type TreeNode = FileNode | DirectoryNode | SymlinkNode | LinkedNode | AbsentNode;
/** The node that a name leads to. */
export type Node = FileNode | DirectoryNode | SymlinkNode;

/** A change to content that is not loaded: a cut (or extension by zeros), or bytes written over it. */
export type Edit = { readonly cut: number } | Part;

/** Placeholder for content that is not loaded: the address of its `size` stored bytes, and the changes made since. */
export class Unloaded {
  constructor(
    readonly address: NodeAddress,
    readonly version: Version,
    readonly size: number,
    readonly edits: readonly Edit[] = [],
  ) {}

  /** Set for content that a caller's function returns; see `PendingData`. */
  bytes?(path?: string): Uint8Array;

  with(edit: Edit): Unloaded {
    return new Unloaded(this.address, this.version, this.size, [...this.edits, edit]);
  }
}

/** Times that a copy gets. */
export interface CopyTimes {
  /** The copy's ctime and birthtime. */
  readonly time: number;
  /** True if the copy keeps the other times of its source; otherwise they are `time` too. */
  readonly keep: boolean;
}

/**
 * The stored directory that a directory of a tree was loaded from, with its versions at the load. Names that the tree
 * does not know yet are loaded from there.
 */
export interface Origin {
  readonly address: NodeAddress;
  readonly metaVersion: Version;
  readonly meta: Metadata;
  readonly totals: Totals;
  readonly listing: Version;
  readonly tree: Version;
  /** Set if the directory is a copy of the stored one: loaded nodes get a new identity and new times. */
  readonly copied?: CopyTimes;
  /** True if the storage has no totals and they were not counted here: the node's totals are local changes only. */
  readonly uncounted?: boolean;
}

/**
 * A value that identifies the state of a node, as the change attribute of NFSv4 does. A changed file or symlink is
 * another node, and a changed directory loses its value. A negative number was drawn by this client when it was first
 * read, 0 is none, and everything else is the version of a loaded record.
 */
export type ChangeId = Version;

/**
 * A file at one point in time: a change creates a new node with the same id. Only two things are set in place: where
 * the content lies, when it is loaded or compacted, and the change id, when it is first read.
 */
export class FileNode implements ContentNode {
  declare readonly kind: typeof FILE;
  declare data: Data | Unloaded;
  declare start: number;
  declare size: number;
  declare changeId: ChangeId;
  constructor(
    readonly id: NodeId,
    readonly meta: Metadata,
  ) {
    // Assigned here, because V8 compiles field initializers as a separate function, which it may not inline.
    this.data = null;
    this.start = 0;
    this.size = 0;
    this.changeId = 0;
  }
}

export class SymlinkNode {
  declare readonly kind: typeof SYMLINK;
  changeId: ChangeId = 0;
  constructor(
    readonly id: NodeId,
    readonly meta: Metadata,
    readonly target: string,
    readonly size: number,
    /** True if the link leads out of the filesystem, so that it must not be followed. */
    readonly outside = false,
  ) {}
}

/**
 * A directory, changed in place by the tree that owns it and copied by other trees. Its totals count everything under
 * it, except that `size` leaves out files with several names.
 */
export class DirectoryNode {
  declare readonly kind: typeof DIRECTORY;
  size = 0;
  files = 0;
  directories = 0;
  /** Number of names under it that lead into the inode table. */
  linked = 0;
  /**
   * Number of levels under it, and greatest number of UTF-16 units that a path under it adds to its own path. Both are
   * upper bounds, infinite if unknown.
   */
  height = 0;
  reach = 0;
  /** Versions as in `DirectoryRecord`: of everything at and under it, and of its own listing. */
  version: Version = 0;
  listing: Version = 0;
  /** {@link ChangeId} of its metadata and its names. */
  changeId: ChangeId = 0;
  /** True if every name is known; an unknown name is looked up at the origin. */
  complete = true;
  origin: Origin | undefined = undefined;
  constructor(
    readonly owner: Owner,
    readonly id: NodeId,
    public meta: Metadata,
    public entries: Entries<TreeNode>,
  ) {}

  static empty(owner: Owner, id: NodeId, meta: Metadata): DirectoryNode {
    return new DirectoryNode(owner, id, meta, Entries.empty());
  }

  clone(owner: Owner, id: NodeId = this.id, meta: Metadata = this.meta): DirectoryNode {
    const copy = new DirectoryNode(owner, id, meta, this.entries.clone());
    copy.size = this.size;
    copy.files = this.files;
    copy.directories = this.directories;
    copy.linked = this.linked;
    copy.height = this.height;
    copy.reach = this.reach;
    copy.version = this.version;
    copy.listing = this.listing;
    if (id === this.id && meta === this.meta) copy.changeId = this.changeId;
    copy.complete = this.complete;
    copy.origin = this.origin;
    return copy;
  }

  /** Extends `height` and `reach` to include a node under a name. They never shrink. */
  holds(name: string, node: TreeNode): void {
    const isDirectory = node.kind === DIRECTORY;
    this.stretch(isDirectory ? node.height + 1 : 1, name.length + 1 + (isDirectory ? node.reach : 0));
  }

  stretch(height: number, reach: number): void {
    if (height > this.height) this.height = height;
    if (reach > this.reach) this.reach = reach;
  }
}

/** A name of a file or symlink with several names: the node itself is in the tree's inode table. */
export class LinkedNode {
  declare readonly kind: typeof LINKED;
  constructor(readonly id: NodeId) {}
}

/** A name known to be missing, in a directory whose names are not all known. */
export class AbsentNode {
  declare readonly kind: typeof ABSENT;
}

/**
 * A file or symlink in the inode table: it has several names, or had them, or is about to have them (`links` may be 1).
 */
export interface Inode {
  readonly node: FileNode | SymlinkNode;
  readonly links: number;
}

export const ABSENT_NODE = Object.freeze(new AbsentNode());

for (const [type, kind] of [
  [FileNode, FILE],
  [DirectoryNode, DIRECTORY],
  [SymlinkNode, SYMLINK],
  [LinkedNode, LINKED],
  [AbsentNode, ABSENT],
] as const) {
  Object.defineProperty(type.prototype, 'kind', { value: kind });
}

const KIND_NAMES: readonly EntryKind[] = ['file', 'directory', 'symlink'];

export function kindName(node: Node): EntryKind {
  return KIND_NAMES[node.kind] as EntryKind;
}
