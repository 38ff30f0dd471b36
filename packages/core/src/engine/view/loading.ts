import {
  type Check,
  type NodeAddress,
  type NodeId,
  type NodeRecord,
  UNKNOWN_VERSION,
  type Version,
} from '../../backend.js';
import { joinPath } from '../../paths.js';
import { Entries } from '../../tree/entries.js';
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
  originOf,
  type SymlinkNode,
  type TreeNode,
} from '../../tree/node.js';
import { countDirectory, type Location, metaMaker, nodeFromRecord } from '../../tree/tree.js';
import type { CachedListing } from '../remote/cached-listing.js';
import { type Need, NotLoaded } from '../source.js';
import { BaseView } from './base.js';

/** Content up to this size in bytes is loaded together with its path. */
export const INLINE_CONTENT = 65_536;

/** A listing from which the names of a directory were taken. */
interface Taken {
  readonly address: NodeAddress;
  readonly names: readonly string[];
  readonly records: readonly NodeRecord[];
  /** The nodes in the tree: copies, and files with several names, are separate nodes. */
  readonly nodes: readonly TreeNode[];
}

interface Listed {
  readonly taken: Taken;
  readonly at: number;
}

/** A tree whose parts are loaded on first use, with a record of what an operation relied on. */
export abstract class LoadingView extends BaseView {
  /** Listings whose names were taken and that no operation has relied on yet. */
  readonly #taken: Taken[] = [];
  /**
   * Positions of nodes in the other listings. The version of a listing does not cover the versions of its files and
   * links.
   */
  #listed: Map<NodeId, Listed> | undefined;
  /** The probable position of the next node, because nodes are usually read in order. */
  #next: Listed | undefined;
  /**
   * The version with which each file or link with several names entered the table of the tree. It keeps that version.
   */
  #admitted: Map<NodeId, Version> | undefined;

  /**
   * Returns the node under a name of a directory; loads it if unknown. `rest`: the names looked up next, last first.
   */
  lookup(location: Location, name: string, rest: readonly string[] = []): TreeNode | undefined {
    const directory = location.directory;
    const entry = directory.entries.get(name);
    if (entry !== undefined) return entry.kind === ABSENT ? undefined : entry;
    const origin = directory.origin;
    if (directory.complete || origin === undefined || this.source === undefined) return undefined;
    const path = joinPath(origin.address.path, name);
    const record = this.source.entry(origin.address, name);
    if (record === undefined)
      throw new NotLoaded([{ kind: 'path', path: joinRest(path, rest), content: INLINE_CONTENT }], this.source);
    this.#rely({ kind: 'entry', path: origin.address.path, id: origin.address.id });
    if (record === null) {
      this.#rely({ kind: 'entry', path, id: null });
      this.tree.own(location).entries.set(this.tree.owner, name, ABSENT_NODE);
      return undefined;
    }
    this.#rely({ kind: 'entry', path, id: record.id, version: this.#versionIn(record) });
    return this.#admit(this.tree.own(location), name, record, path, origin);
  }

  /** Returns all names of a directory; loads them if unknown. */
  list(location: Location): Entries<TreeNode> {
    const directory = location.directory;
    if (directory.complete) return directory.entries;
    const origin = directory.origin;
    if (origin === undefined || this.source === undefined) return directory.entries;
    const listing = this.source.listing(origin.address);
    if (listing === undefined) {
      const limit = Number.MAX_SAFE_INTEGER;
      throw new NotLoaded([{ kind: 'list', at: origin.address, after: undefined, limit }], this.source);
    }
    this.#rely({ kind: 'listing', path: origin.address.path, id: origin.address.id, version: listing.version });
    const own = this.tree.own(location);
    this.#takeNames(own, listing, origin);
    own.complete = true;
    return own.entries;
  }

  /** Merges the names of a listing into the directory, except names that were changed here or are already known. */
  #takeNames(own: DirectoryNode, listing: CachedListing, { address, copied }: Origin): void {
    const { owner } = this.tree;
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
      own.entries = Entries.fromSorted(owner, names, nodes);
    }
    known.forEach((entry, name) => {
      if (entry.kind === ABSENT) own.entries.delete(owner, name);
      else own.entries.set(owner, name, entry);
    });
    if (this.recorder === undefined) return;
    this.#next = { taken: { address, names, records, nodes }, at: 0 };
    this.#taken.push(this.#next.taken);
  }

  /**
   * Makes uncertain totals exact by loading and counting everything under the directory, level by level. Must be called
   * before a directory is moved, copied or removed as a whole. Costs nothing if the storage knows its totals, or if it
   * does not and no limit needs them: then a change of a directory is one write, however much is in it.
   */
  loadTree(top: Location): void {
    const { maxTotalSize, maxNodeCount } = this.context.quota.limits;
    const isAsked = maxTotalSize !== undefined || maxNodeCount !== undefined;
    if (this.recorder === undefined || isAsked || this.#isCounted()) this.#countTree(top);
  }

  /** Returns true if the totals come from the storage or were counted since. */
  #isCounted(): boolean {
    return this.tree.rootLocation.directory.origin?.uncounted !== true;
  }

  #countTree(top: Location): void {
    const found = top.directory.origin?.uncounted === true ? [top] : [];
    for (let from = 0; from < found.length; ) {
      const level = found.slice(from);
      from = found.length;
      this.all(level, (location) => this.list(location));
      for (const location of level) {
        location.directory.entries.forEach((entry, name) => {
          if (entry.kind === DIRECTORY && entry.origin?.uncounted === true)
            found.push(this.tree.childLocation(location, name, entry));
        });
      }
    }
    for (const location of found.reverse()) countDirectory(this.tree.own(location));
  }

  isEmpty(location: Location): boolean {
    const empty = this.list(location).size === 0;
    if (empty && location.directory.origin?.uncounted === true) countDirectory(this.tree.own(location));
    return empty;
  }

  /** Records that the outcome depends on the metadata of a directory. Call before reading it. */
  relyOnMeta(directory: DirectoryNode): void {
    this.#relyOn(directory, 'entry', (origin) => origin.metaVersion);
  }

  /** Loads the metadata of a directory as this client last changed it, without waiting for changes by others. */
  learnMeta(directory: DirectoryNode): void {
    this.#learn(directory, (origin) => origin.metaVersion);
  }

  /** Records that the outcome depends on the totals of the storage. Call before reading them. */
  relyOnTotals(): void {
    const { rootLocation } = this.tree;
    if (!this.#isCounted()) this.#countTree(rootLocation);
    else this.relyOnTree(rootLocation.directory);
  }

  /** Records that the outcome depends on everything under a directory. */
  relyOnTree(directory: DirectoryNode): void {
    this.#relyOn(directory, 'tree', (origin) => origin.tree);
  }

  #relyOn(directory: DirectoryNode, kind: 'entry' | 'tree', versionOf: (origin: Origin) => Version): void {
    const origin = this.#learn(directory, versionOf);
    if (origin !== undefined) this.#rely({ kind, ...origin.address, version: versionOf(origin) });
  }

  #learn(directory: DirectoryNode, versionOf: (origin: Origin) => Version): Origin | undefined {
    const { origin } = directory;
    if (origin === undefined || this.recorder === undefined) return undefined;
    const { path, id } = origin.address;
    // Requested even if it is known, because a listing may be from another load.
    const record = this.source?.current?.(id);
    if (versionOf(origin) !== UNKNOWN_VERSION) return origin;
    if (record === undefined || versionOf(originOf(record, origin.address)) === UNKNOWN_VERSION) {
      throw new NotLoaded([{ kind: 'path', path, content: 0 }], this.source);
    }
    directory.refresh(origin, record);
    return directory.origin;
  }

  /** Runs `load` for each item and requests all missing ones together. */
  all<T, R>(items: readonly T[], load: (item: T, index: number) => R): R[] {
    const needs: Need[] = [];
    const results: R[] = [];
    for (let i = 0; i < items.length; i++) {
      try {
        results.push(load(items[i] as T, i));
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        needs.push(...error.needs);
      }
    }
    if (needs.length > 0) throw new NotLoaded(needs, this.source);
    return results;
  }

  #admit(directory: DirectoryNode, name: string, record: NodeRecord, path: string, origin: Origin): TreeNode {
    let node = nodeFromRecord(this.tree.owner, record, path);
    let entry: TreeNode = node;
    if (origin.copied !== undefined) entry = node = this.#asCopy(node, origin.copied);
    else if (record.links > 1 && node.kind !== DIRECTORY) {
      entry = new LinkedNode(node.id);
      this.#admitLinked(record, node);
    }
    directory.entries.set(this.tree.owner, name, entry);
    return entry;
  }

  /**
   * Adds a file or link with several names to the table of the tree, if it is absent, and returns the node in the
   * table.
   */
  #admitLinked(record: NodeRecord, node: Node): Node {
    const known = this.tree.inodes.get(node.id);
    if (known !== undefined) return known.node;
    this.#admitted ??= new Map();
    this.#admitted.set(node.id, record.version);
    this.tree.admitInode(node.id, node as FileNode | SymlinkNode, record.links, this.#isCounted());
    return node;
  }

  /** Returns the version of a file or link in the tree: with several names, that of the name looked up first. */
  #versionIn({ kind, id, version }: NodeRecord): Version | undefined {
    if (kind === 'directory') return undefined;
    return this.tree.inodes.has(id) ? (this.#admitted?.get(id) ?? version) : version;
  }

  /** Returns a node loaded under a copied directory as a separate node. */
  #asCopy(node: Node, times: CopyTimes): Node {
    const meta = metaMaker(times)(node.meta);
    if (node.kind === DIRECTORY) return this.tree.copyDirectory(node, this.context.newId(), meta, times);
    return this.tree.copyLeaf(node, this.context.newId(), meta);
  }

  /** Records that the outcome depends on more than the name and id of a file or link from a listing. */
  relyOnNode(node: Node): void {
    if (this.source === undefined) return;
    const check = this.#checkOfListed(node);
    if (check === undefined) return;
    this.source.current?.(node.id);
    this.#rely(check);
  }

  #checkOfListed(node: Node): Check | undefined {
    if (node.kind === DIRECTORY) return undefined;
    const found = this.#listedNext(node) ?? this.#listedAnywhere(node);
    // Another node of the same file means that it changed since.
    if (found?.taken.nodes[found.at] !== node) return undefined;
    this.#next = { taken: found.taken, at: found.at + 1 };
    const { address, names, records } = found.taken;
    const record = records[found.at] as NodeRecord;
    const path = joinPath(address.path, names[found.at] as string);
    return { kind: 'entry', path, id: record.id, version: this.#versionIn(record) };
  }

  #listedNext(node: Node): Listed | undefined {
    if (this.#next === undefined) return undefined;
    const { taken } = this.#next;
    let { at } = this.#next;
    while (taken.nodes[at]?.kind === DIRECTORY) at += 1;
    return taken.nodes[at] === node ? { taken, at } : undefined;
  }

  #listedAnywhere(node: Node): Listed | undefined {
    for (const taken of this.#taken.splice(0)) {
      this.#listed ??= new Map();
      for (const [at, listed] of taken.nodes.entries()) this.#listed.set((listed as Node).id, { taken, at });
    }
    return this.#listed?.get(node.id);
  }

  #rely(check: Check): void {
    this.recorder?.checks.push(check);
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
