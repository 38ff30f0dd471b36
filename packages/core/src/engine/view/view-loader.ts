import { type Check, type NodeRecord, UNKNOWN_VERSION, type Version } from '../../backend.js';
import { joinPath } from '../../paths.js';
import type { Entries } from '../../tree/entries.js';
import { entriesFromSorted } from '../../tree/entries-build.js';
import {
  ABSENT,
  ABSENT_NODE,
  type CopyTimes,
  DIRECTORY,
  type DirectoryNode,
  type FileNode,
  LinkedNode,
  type Node,
  type Origin,
  type SymlinkNode,
  type TreeNode,
  type Unloaded,
} from '../../tree/node.js';
import { nodeFromRecord, originOf, refreshDirectory } from '../../tree/stored-nodes.js';
import { countDirectory, type Location, metaMaker } from '../../tree/tree.js';
import type { CachedListing } from '../remote/cached-listing.js';
import { NotLoaded, type Source } from '../source.js';
import { LoadRecord } from './load-record.js';
import type { Loader, ViewState } from './view-state.js';

/**
 * Bytes up to which a content is requested together with its path. Reading a range loads at least as many, if so many
 * follow in the file.
 */
const MAX_INLINE_BYTES = 65_536;

/** Loads from a source into the tree of a view. */
export class ViewLoader implements Loader {
  readonly #view: ViewState;
  readonly #source: Source;
  readonly #record: LoadRecord;

  constructor(view: ViewState, source: Source) {
    this.#view = view;
    this.#source = source;
    this.#record = new LoadRecord(view.tree);
  }

  lookup(location: Location, name: string, rest: readonly string[] = []): TreeNode | undefined {
    const { origin } = location.directory;
    if (origin === undefined) return undefined;
    const path = joinPath(origin.address.path, name);
    const record = this.#source.entry(origin.address, name);
    if (record === undefined)
      throw new NotLoaded([{ kind: 'path', path: joinRest(path, rest), content: MAX_INLINE_BYTES }], this.#source);
    this.#rely({ kind: 'entry', path: origin.address.path, id: origin.address.id });
    const { tree } = this.#view;
    if (record === null) {
      this.#rely({ kind: 'entry', path, id: null });
      tree.own(location).entries.set(tree.owner, name, ABSENT_NODE);
      return undefined;
    }
    this.#rely({ kind: 'entry', path, id: record.id, version: this.#record.versionOf(record) });
    return this.#admit(tree.own(location), name, record, path, origin);
  }

  list(location: Location): Entries<TreeNode> {
    const { entries, origin } = location.directory;
    if (origin === undefined) return entries;
    const { address } = origin;
    const listing = this.#source.listing(address);
    if (listing === undefined) {
      const limit = Number.MAX_SAFE_INTEGER;
      throw new NotLoaded([{ kind: 'list', at: address, after: undefined, limit }], this.#source);
    }
    this.#rely({ kind: 'listing', path: address.path, id: address.id, version: listing.version });
    const own = this.#view.tree.own(location);
    this.#takeNames(own, listing, origin);
    own.complete = true;
    return own.entries;
  }

  /** Merges the names of a listing into the directory, except names that were changed here or are already known. */
  #takeNames(own: DirectoryNode, listing: CachedListing, { address, copied }: Origin): void {
    const { owner } = this.#view.tree;
    const { names, records } = listing;
    const nodeAt = (i: number): Node =>
      nodeFromRecord(owner, records[i] as NodeRecord, joinPath(address.path, names[i] as string));
    const nodes: TreeNode[] = listing.nodes.slice();
    const known = own.entries;
    if (copied === undefined) {
      own.entries = listing.entries.clone();
      for (const i of listing.linked) nodes[i] = this.#admitLinked(records[i] as NodeRecord, nodeAt(i));
    } else {
      for (let i = 0; i < nodes.length; i++) nodes[i] = this.#asCopy(nodeAt(i), copied);
      own.entries = entriesFromSorted(owner, names, nodes);
    }
    known.forEach((entry, name) => {
      if (entry.kind === ABSENT) own.entries.delete(owner, name);
      else own.entries.set(owner, name, entry);
    });
    if (this.#view.recorder !== undefined) this.#record.take({ address, names, records, nodes });
  }

  range(data: Unloaded, offset: number, length: number): Uint8Array {
    const bytes = this.#source.range(data, offset, length);
    if (bytes !== undefined) return bytes;
    const ahead = Math.min(data.size - offset, Math.max(length, MAX_INLINE_BYTES));
    throw new NotLoaded([{ kind: 'content', at: data.address, offset, length: ahead }], this.#source);
  }

  read(data: Unloaded, into: Uint8Array, position: number): void {
    const length = Math.max(0, Math.min(keptBytes(data) - position, into.length));
    if (length > 0) into.set(this.range(data, position, length));
    applyEdits(data, into, position);
  }

  loadTotals(top: Location): void {
    const { context, recorder } = this.#view;
    const { maxTotalSize, maxNodeCount } = context.quota.limits;
    const isAsked = maxTotalSize !== undefined || maxNodeCount !== undefined;
    if (recorder === undefined || isAsked || this.#isCounted()) this.count(top);
  }

  /** Returns true if the totals come from the storage or were counted since. */
  #isCounted(): boolean {
    return this.#view.tree.rootLocation.directory.origin?.uncounted !== true;
  }

  count(top: Location): void {
    if (top.directory.origin?.uncounted !== true) return;
    const view = this.#view;
    const found = [top];
    for (let from = 0; from < found.length; ) {
      const level = found.slice(from);
      from = found.length;
      view.all(level, (location) => view.list(location));
      for (const location of level) {
        location.directory.entries.forEach((entry, name) => {
          if (entry.kind === DIRECTORY && entry.origin?.uncounted === true)
            found.push(view.tree.childLocation(location, name, entry));
        });
      }
    }
    for (const location of found.reverse()) countDirectory(view.tree.own(location));
  }

  learnMeta(directory: DirectoryNode): void {
    this.#learn(directory, metaVersionOf);
  }

  relyOnMeta(directory: DirectoryNode): void {
    this.#relyOn(directory, 'entry', metaVersionOf);
  }

  relyOnTotals(): void {
    const { rootLocation } = this.#view.tree;
    if (!this.#isCounted()) this.count(rootLocation);
    else this.#view.relyOnTree(rootLocation.directory);
  }

  relyOnTree(directory: DirectoryNode): void {
    this.#relyOn(directory, 'tree', (origin) => origin.tree);
  }

  relyOnNode(node: Node): void {
    const check = this.#record.checkOfListed(node);
    if (check === undefined) return;
    this.#source.current?.(node.id);
    this.#rely(check);
  }

  #relyOn(directory: DirectoryNode, kind: 'entry' | 'tree', versionOf: (origin: Origin) => Version): void {
    const origin = this.#learn(directory, versionOf);
    if (origin !== undefined) this.#rely({ kind, ...origin.address, version: versionOf(origin) });
  }

  #rely(check: Check): void {
    this.#view.recorder?.checks.push(check);
  }

  #learn(directory: DirectoryNode, versionOf: (origin: Origin) => Version): Origin | undefined {
    const { origin } = directory;
    if (origin === undefined || this.#view.recorder === undefined) return undefined;
    const { path, id } = origin.address;
    // Called even if the version is known: it records that the node's latest record was used, which may be from another
    // load than the listing.
    const record = this.#source.current?.(id);
    if (versionOf(origin) !== UNKNOWN_VERSION) return origin;
    if (record === undefined || versionOf(originOf(record, origin.address)) === UNKNOWN_VERSION) {
      throw new NotLoaded([{ kind: 'path', path, content: 0 }], this.#source);
    }
    refreshDirectory(directory, origin, record);
    return directory.origin;
  }

  #admit(directory: DirectoryNode, name: string, record: NodeRecord, path: string, origin: Origin): TreeNode {
    const { owner } = this.#view.tree;
    let node = nodeFromRecord(owner, record, path);
    let entry: TreeNode = node;
    if (origin.copied !== undefined) entry = node = this.#asCopy(node, origin.copied);
    else if (record.links > 1 && node.kind !== DIRECTORY) {
      entry = new LinkedNode(node.id);
      this.#admitLinked(record, node);
    }
    directory.entries.set(owner, name, entry);
    return entry;
  }

  /**
   * Adds a file or link with several names to the tree's inode table, if it is absent there, and returns the node in
   * the table.
   */
  #admitLinked(record: NodeRecord, node: Node): Node {
    const { tree } = this.#view;
    const known = tree.inodes.get(node.id);
    if (known !== undefined) return known.node;
    this.#record.admitLinked(record);
    tree.admitInode(node.id, node as FileNode | SymlinkNode, record.links, this.#isCounted());
    return node;
  }

  /** Returns a copy, with an id of its own, of a node that was loaded under a copied directory. */
  #asCopy(node: Node, times: CopyTimes): Node {
    const { tree, context } = this.#view;
    const meta = metaMaker(times)(node.meta);
    if (node.kind === DIRECTORY) return tree.copyDirectory(node, context.newId(), meta, times);
    return tree.copyLeaf(node, context.newId(), meta);
  }
}

function metaVersionOf(origin: Origin): Version {
  return origin.metaVersion;
}

/** Returns the number of stored bytes that no edit has cut off. */
function keptBytes({ size, edits }: Unloaded): number {
  return edits.reduce((kept, edit) => ('cut' in edit ? Math.min(kept, edit.cut) : kept), size);
}

/** Applies the edits of a content to a range of its stored bytes. `start`: offset of the range in the content. */
function applyEdits({ edits }: Unloaded, range: Uint8Array, start: number): void {
  for (const edit of edits) {
    if ('cut' in edit) range.fill(0, Math.max(0, edit.cut - start));
    else {
      const from = Math.max(start, edit.offset);
      const to = Math.min(start + range.length, edit.offset + edit.bytes.length);
      if (from < to) range.set(edit.bytes.subarray(from - edit.offset, to - edit.offset), from - start);
    }
  }
}

function joinRest(path: string, rest: readonly string[]): string {
  let joined = path;
  for (let i = rest.length - 1; i >= 0; i--) {
    const name = rest[i] as string;
    if (name === '..') break;
    if (name !== '' && name !== '.') joined += `/${name}`;
  }
  return joined;
}
