import type { DirectoryRecord, LoadRequest, NodeId, NodeRecord } from '../backend.js';
import type { Cursor } from '../engine/cursor.js';
import { NotLoaded } from '../engine/source.js';
import type { View } from '../engine/view.js';
import { FsError } from '../errors.js';
import { isWithin, joinPath } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import type { Entries } from '../tree/entries.js';
import { entriesFromSorted } from '../tree/entries-build.js';
import {
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
} from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import { countDirectory, type Location, type SharedStore, type TreeState } from '../tree/tree.js';
import { sameMeta } from './same-state.js';
import type { Scope } from './scope.js';
import type { Versions } from './versions.js';

/** Approximate number of bytes loaded per request. */
const REQUEST_BYTES = 8 * 2 ** 20;
/** Maximum number of directories that are requested together, each alone or with what is under it. */
const MAX_REQUESTED_DIRECTORIES = 64;
/** Estimated size of a name's record in a response. */
const ESTIMATED_NAME_BYTES = 150;

export interface TreeLoadOptions {
  /** Store of the working copy, to which the loaded state belongs. */
  readonly shared: SharedStore;
  readonly versions: Versions;
  readonly scope: Scope;
  /** Limit of content in bytes. */
  readonly budget: number;
  /** A state that was loaded before; unchanged parts are taken from it. */
  readonly base: TreeState | undefined;
}

interface Frame {
  readonly location: Location;
  readonly record: NodeRecord;
  /** The same directory in the base state. */
  readonly base: DirectoryNode | undefined;
  readonly parent: Frame | undefined;
  /** Position of the directory among the names of its parent. */
  readonly slot: number;
  listed: boolean;
  readonly names: string[];
  readonly nodes: (TreeNode | undefined)[];
  /** Files whose content is not loaded yet. */
  unread: Unread[];
}

interface Unread {
  readonly node: FileNode;
  readonly from: Unloaded;
  /** Undefined until the first piece arrives. */
  bytes: Uint8Array<ArrayBuffer> | undefined;
  done: number;
}

/**
 * Loads the part of a storage that is in scope as a state in memory, contents included. The items are null after each
 * step, and the state at the end. Parts that the base has in the same version are taken from it without a visit.
 */
export class TreeLoad implements Cursor<TreeState | null> {
  readonly #view: View;
  readonly #options: TreeLoadOptions;
  readonly #owner = new Owner();
  readonly #frames: Frame[] = [];
  readonly #inodes = new Map<NodeId, Inode>();
  readonly #index: () => ReadonlyMap<NodeId, Node>;
  #at = 0;
  #reading = 0;
  #closing: number | undefined;
  #size = 0;
  #root: TreeNode | undefined;
  #ended = false;

  constructor(view: View, options: TreeLoadOptions) {
    this.#view = view;
    this.#options = options;
    this.#index = lazy(() => indexOf(options.base));
  }

  next(): TreeState | null | undefined {
    if (this.#ended) return undefined;
    if (this.#frames.length === 0) return this.#begin();
    const frame = this.#frames[this.#at];
    if (frame !== undefined) {
      if (!frame.listed) this.#list(frame);
      this.#take(frame);
      this.#at += 1;
      return null;
    }
    if (this.#reading < this.#frames.length) {
      this.#read(this.#frames[this.#reading] as Frame);
      this.#reading += 1;
      return null;
    }
    this.#closing ??= this.#frames.length;
    this.#closing -= 1;
    if (this.#closing >= 0) {
      this.#close(this.#frames[this.#closing] as Frame);
      return null;
    }
    return this.#finish();
  }

  #begin(): null {
    const { rootLocation } = this.#view.tree;
    const record = this.#recordOf(rootLocation.directory.id);
    const { base } = this.#options;
    const known = base?.root.id === record.id ? base.root : undefined;
    this.#frames.push(newFrame(rootLocation, record, known, undefined, 0));
    return null;
  }

  /** Returns the newest known record of a node. */
  #recordOf(id: NodeId): NodeRecord {
    const record = this.#view.source?.current?.(id);
    if (record === undefined) throw new Error('A node that was met is known');
    return record;
  }

  #list(frame: Frame): void {
    const { location } = frame;
    const { scope, versions } = this.#options;
    const isWay = scope.isWay(location.path);
    if (isWay) this.#look(frame);
    else {
      if (frame.parent === undefined || scope.isWay(frame.parent.location.path)) this.#relyOnAll(frame);
      if (isUnchanged(frame, versions)) {
        frame.listed = true;
        return;
      }
      let entries: Entries<TreeNode>;
      try {
        entries = this.#view.list(location);
      } catch (error) {
        throw error instanceof NotLoaded && !error.isKnown ? new NotLoaded(this.#ahead(), error.source) : error;
      }
      entries.forEach((entry, name) => {
        this.#meet(frame, name, entry);
      });
    }
    frame.listed = true;
  }

  /**
   * Returns requests for a directory that is missing and for those that come next, as far as they fit into one request:
   * a listing if the base has the directory, else as much of its subtree as fits, with contents.
   */
  #ahead(): LoadRequest[] {
    const requests: LoadRequest[] = [];
    let bytes = 0;
    for (
      let i = this.#at;
      i < this.#frames.length && requests.length < MAX_REQUESTED_DIRECTORIES && bytes < REQUEST_BYTES;
      i++
    ) {
      const frame = this.#frames[i] as Frame;
      const { listed, record, base, location } = frame;
      const at = { path: location.path, id: record.id };
      if (listed || isUnchanged(frame, this.#options.versions) || this.#options.scope.isWay(location.path)) continue;
      if (base !== undefined) {
        requests.push({ kind: 'list', at, after: undefined, limit: Number.MAX_SAFE_INTEGER });
        bytes += (record.directory?.count ?? 0) * ESTIMATED_NAME_BYTES;
        continue;
      }
      const beneath = bytesBeneath(record.directory);
      // A directory that does not fit is left for the next request.
      if (bytes > 0 && beneath > REQUEST_BYTES - bytes) break;
      const budget = Math.min(REQUEST_BYTES, beneath);
      requests.push({ kind: 'tree', at, budget, contents: true });
      bytes += budget;
    }
    return requests;
  }

  /** Looks up only the names that lead to paths of the scope. */
  #look(frame: Frame): void {
    const { location } = frame;
    const { scope } = this.#options;
    const names = scope.namesIn(location.path);
    const entries = this.#view.all(names, (name) => this.#view.lookup(location, name));
    names.forEach((name, i) => {
      const entry = entries[i];
      if (entry !== undefined) this.#meet(frame, name, entry);
    });
  }

  /**
   * Adds the precondition that nothing at or under a directory changes during the load, if the storage has a version
   * for all of it. @throws FsError EFBIG if the content exceeds the budget
   */
  #relyOnAll({ location, record }: Frame): void {
    if (record.directory?.counted !== false) this.#view.relyOnTree(location.directory);
    this.#refuse(this.#size + (record.directory?.totals.size ?? 0));
  }

  #refuse(size: number): void {
    const { budget } = this.#options;
    if (size <= budget) return;
    const hint = 'That is more than may be loaded: name the paths that are needed, or give a larger budget';
    throw new FsError('EFBIG', { syscall: 'load', limit: 'budget', used: 0, requested: size, allowed: budget, hint });
  }

  #meet(frame: Frame, name: string, entry: TreeNode): void {
    const node = this.#view.tree.resolve(entry) as Node;
    const record = this.#recordOf(node.id);
    const path = joinPath(frame.location.path, name);
    const { scope } = this.#options;
    frame.names.push(name);
    if (node.kind === DIRECTORY) {
      const location = this.#view.tree.childLocation(frame.location, name, node);
      const base = this.#baseOf(frame, name, record.id);
      const slot = frame.nodes.push(undefined) - 1;
      this.#frames.push(newFrame(location, record, base?.kind === DIRECTORY ? base : undefined, frame, slot));
      return;
    }
    if (scope.isWay(frame.location.path) && !scope.holds(path)) {
      frame.names.pop();
      return;
    }
    this.#view.relyOnNode(node);
    if (entry.kind !== LINKED && record.links === 1) frame.nodes.push(this.#leaf(frame, name, record, node));
    else {
      const known = this.#inodes.get(record.id);
      if (known === undefined)
        this.#inodes.set(record.id, { node: this.#leaf(frame, name, record, node), links: record.links });
      const before = frame.base?.entries.get(name);
      frame.nodes.push(before?.kind === LINKED && before.id === record.id ? before : new LinkedNode(record.id));
    }
  }

  /** Returns the file or link: the base's node if that has the same version. */
  #leaf(frame: Frame, name: string, record: NodeRecord, node: FileNode | SymlinkNode): FileNode | SymlinkNode {
    const { versions } = this.#options;
    this.#size += record.size;
    this.#refuse(this.#size);
    const known = this.#baseOf(frame, name, record.id);
    if (known !== undefined && known.kind !== DIRECTORY && versions.isVersion(known, record.version)) return known;
    if (node.kind === SYMLINK) {
      const link = new SymlinkNode(record.id, record.meta, node.target, node.size, node.outside);
      versions.note(link, record.version);
      return link;
    }
    const file = new FileNode(record.id, record.meta);
    versions.note(file, record.version);
    if (node.data instanceof Unloaded) frame.unread.push({ node: file, from: node.data, bytes: undefined, done: 0 });
    return file;
  }

  /** Returns the base's node with an id, or undefined. Looks under the same name first. */
  #baseOf(frame: Frame, name: string, id: NodeId): Node | undefined {
    const { base } = this.#options;
    if (base === undefined) return undefined;
    const entry = frame.base?.entries.get(name);
    const node = entry?.kind === LINKED ? base.inodes.get(entry.id)?.node : (entry as Node | undefined);
    return node?.id === id ? node : this.#index().get(id);
  }

  /** Takes the contents that are loaded already. */
  #take(frame: Frame): void {
    frame.unread = frame.unread.filter((unread) => !this.#takeWhole(unread));
  }

  /** Requests missing contents together with those that will be needed next. */
  #read(frame: Frame): void {
    this.#take(frame);
    if (frame.unread.length > 0) throw new NotLoaded(this.#unreadFrom(this.#reading), this.#view.source);
  }

  #unreadFrom(first: number): LoadRequest[] {
    const requests: LoadRequest[] = [];
    let bytes = 0;
    for (let i = first; i < this.#frames.length && bytes < REQUEST_BYTES; i++) {
      for (const { from, done } of (this.#frames[i] as Frame).unread) {
        if (bytes >= REQUEST_BYTES) break;
        const length = Math.min(REQUEST_BYTES, from.size - done);
        requests.push({ kind: 'content', at: from.address, offset: done, length });
        bytes += length + ESTIMATED_NAME_BYTES;
      }
    }
    return requests;
  }

  /** Stores the loaded pieces of a file. Returns true once its content is complete. */
  #takeWhole(unread: Unread): boolean {
    const { node, from } = unread;
    while (unread.done < from.size && this.#takePiece(unread));
    if (unread.done < from.size) return false;
    this.#options.shared.contents.fromBytes(node as ContentNode, unread.bytes ?? new Uint8Array(0));
    return true;
  }

  #takePiece(unread: Unread): boolean {
    const { from, done } = unread;
    const { source } = this.#view;
    const length = Math.min(REQUEST_BYTES, from.size - done);
    const piece = (done === 0 ? source?.range?.(from, 0, from.size) : undefined) ?? source?.range?.(from, done, length);
    if (piece === undefined) return false;
    unread.bytes ??= new Uint8Array(from.size);
    unread.bytes.set(piece, done);
    unread.done += piece.length;
    return true;
  }

  /** Creates the directory of a frame after everything under it was created. */
  #close(frame: Frame): void {
    const node = this.#build(frame);
    const { versions, scope } = this.#options;
    const { version, directory } = frame.record;
    const isWhole = scope.holds(frame.location.path) && directory?.counted !== false && node.linked === 0;
    versions.note(node, version, isWhole ? directory?.tree : undefined);
    if (frame.parent === undefined) this.#root = node;
    else frame.parent.nodes[frame.slot] = node;
  }

  #build(frame: Frame): DirectoryNode {
    const { base, record, names, nodes } = frame;
    if (base !== undefined && isUnchanged(frame, this.#options.versions)) {
      this.#size += base.size;
      return base;
    }
    const all = nodes as TreeNode[];
    if (base !== undefined && sameMeta(base.meta, record.meta) && isSameListing(base.entries, names, all)) return base;
    const node = new DirectoryNode(this.#owner, record.id, record.meta, entriesFromSorted(this.#owner, names, all));
    all.forEach((child, i) => {
      node.holds(names[i] as string, child);
    });
    countDirectory(node);
    node.version = node.listing = this.#options.shared.newVersion();
    return node;
  }

  #finish(): TreeState {
    this.#ended = true;
    this.#dropCovered();
    let linkedSize = 0;
    for (const { node } of this.#inodes.values()) linkedSize += node.size;
    const { base } = this.#options;
    const same = base !== undefined && isSameInodes(base.inodes, this.#inodes);
    return {
      root: this.#root as DirectoryNode,
      inodes: same ? base.inodes : this.#inodes,
      linkedSize,
      ...(same && base.inodesVersion !== undefined ? { inodesVersion: base.inodesVersion } : {}),
    };
  }

  /** Drops preconditions that are implied by one on the whole subtree. */
  #dropCovered(): void {
    const checks = this.#view.recorder?.checks ?? [];
    const covered = checks.filter(({ kind }) => kind === 'tree').map(({ path }) => path);
    for (const check of checks.splice(0)) {
      if (check.kind === 'tree' || !covered.some((top) => isWithin(check.path, top))) checks.push(check);
    }
  }
}

function newFrame(
  location: Location,
  record: NodeRecord,
  base: DirectoryNode | undefined,
  parent: Frame | undefined,
  slot: number,
): Frame {
  return { location, record, base, parent, slot, listed: false, names: [], nodes: [], unread: [] };
}

/** Reports whether the storage's versions say that nothing at or under a directory changed since the base. */
function isUnchanged({ base, record }: Frame, versions: Versions): boolean {
  if (base === undefined || record.directory === undefined) return false;
  // A file with several names also changes through its other names.
  if (record.directory.totals.linked > 0 || base.linked > 0) return false;
  return versions.isVersion(base, record.version) && versions.isTree(base, record.directory.tree);
}

function bytesBeneath(directory: DirectoryRecord | undefined): number {
  if (directory === undefined || directory.counted === false) return REQUEST_BYTES;
  const { size, files, directories } = directory.totals;
  return size + (files + directories + 1) * ESTIMATED_NAME_BYTES;
}

function isSameListing(entries: Entries<TreeNode>, names: readonly string[], nodes: readonly TreeNode[]): boolean {
  if (entries.size !== names.length) return false;
  return names.every((name, i) => entries.get(name) === nodes[i]);
}

function isSameInodes(a: ReadonlyMap<NodeId, Inode>, b: ReadonlyMap<NodeId, Inode>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, { node, links }] of b) {
    const other = a.get(id);
    if (other?.node !== node || other.links !== links) return false;
  }
  return true;
}

/** Returns all nodes of a state by id. */
function indexOf(state: TreeState | undefined): Map<NodeId, Node> {
  const index = new Map<NodeId, Node>();
  if (state === undefined) return index;
  for (const [id, { node }] of state.inodes) index.set(id, node);
  const pending: DirectoryNode[] = [state.root];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    index.set(at.id, at);
    at.entries.forEach((entry) => {
      if (entry.kind === DIRECTORY) pending.push(entry);
      else if (entry.kind === FILE || entry.kind === SYMLINK) index.set(entry.id, entry);
    });
  }
  return index;
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
