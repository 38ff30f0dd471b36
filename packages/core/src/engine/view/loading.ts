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
import { countDirectory, type Location, metaMaker, nodeFromFact } from '../../tree/tree.js';
import type { KnownListing } from '../known-listing.js';
import { type Need, NotLoaded } from '../source.js';
import { BaseView } from './base.js';

/** Content up to this size comes along with a path. */
export const INLINE_CONTENT = 65_536;

/** A listing that the names of a directory were taken from. */
interface Taken {
  readonly place: NodeAddress;
  readonly names: readonly string[];
  readonly facts: readonly NodeRecord[];
  /** What is in the tree: copies, and what has several names, are nodes of their own. */
  readonly nodes: readonly TreeNode[];
}

interface Listed {
  readonly taken: Taken;
  readonly at: number;
}

/** A tree whose parts are loaded where they are touched, and a record of what was relied on. */
export abstract class LoadingView extends BaseView {
  /** Listings that names were taken from and nobody has asked about yet. */
  readonly #taken: Taken[] = [];
  /** Where in the others a node is. The versions of files and links are not covered by the listing's own. */
  #listed: Map<NodeId, Listed> | undefined;
  /** Where the next one is likely to be: they are asked about in their order. */
  #next: Listed | undefined;
  /** The versions with which files and links with several names were put into the tree's table: by them it stays. */
  #admitted: Map<NodeId, Version> | undefined;

  /** What a directory holds under a name; loads it where it is not known. `rest`: the names that will be asked for next, last first. */
  lookup(location: Location, name: string, rest: readonly string[] = []): TreeNode | undefined {
    const directory = location.directory;
    const entry = directory.entries.get(name);
    if (entry !== undefined) return entry.kind === ABSENT ? undefined : entry;
    const origin = directory.origin;
    if (directory.complete || origin === undefined || this.source === undefined) return undefined;
    const path = joinPath(origin.place.path, name);
    const fact = this.source.entry(origin.place, name);
    if (fact === undefined)
      throw new NotLoaded([{ kind: 'path', path: joinRest(path, rest), content: INLINE_CONTENT }], this.source);
    this.#rely({ kind: 'entry', path: origin.place.path, id: origin.place.id });
    if (fact === null) {
      this.#rely({ kind: 'entry', path, id: null });
      this.tree.own(location).entries.set(this.tree.owner, name, ABSENT_NODE);
      return undefined;
    }
    this.#rely({ kind: 'entry', path, id: fact.id, version: this.#versionIn(fact) });
    return this.#admit(this.tree.own(location), name, fact, path, origin);
  }

  /** All names of a directory; loads them where they are not known. */
  list(location: Location): Entries<TreeNode> {
    const directory = location.directory;
    if (directory.complete) return directory.entries;
    const origin = directory.origin;
    if (origin === undefined || this.source === undefined) return directory.entries;
    const listing = this.source.listing(origin.place);
    if (listing === undefined) {
      const limit = Number.MAX_SAFE_INTEGER;
      throw new NotLoaded([{ kind: 'list', at: origin.place, after: undefined, limit }], this.source);
    }
    this.#rely({ kind: 'listing', path: origin.place.path, id: origin.place.id, version: listing.version });
    const own = this.tree.own(location);
    this.#takeNames(own, listing, origin);
    own.complete = true;
    return own.entries;
  }

  /** The names of a listing are those of the directory now, but for what was done to them or is known already. */
  #takeNames(own: DirectoryNode, listing: KnownListing, { place, copied }: Origin): void {
    const { owner } = this.tree;
    const { names, facts } = listing;
    const nodeAt = (i: number): Node =>
      nodeFromFact(owner, facts[i] as NodeRecord, joinPath(place.path, names[i] as string));
    const nodes: TreeNode[] = listing.nodes.slice();
    const known = own.entries;
    if (copied === undefined) {
      own.entries = listing.entries.clone();
      for (const i of listing.linked) nodes[i] = this.#admitLinked(facts[i] as NodeRecord, nodeAt(i));
    } else {
      for (let i = 0; i < nodes.length; i++) nodes[i] = this.#asCopy(nodeAt(i), copied);
      own.entries = Entries.fromSorted(owner, names, nodes);
    }
    known.forEach((entry, name) => {
      if (entry.kind === ABSENT) own.entries.delete(owner, name);
      else own.entries.set(owner, name, entry);
    });
    if (this.recorder === undefined) return;
    this.#next = { taken: { place, names, facts, nodes }, at: 0 };
    this.#taken.push(this.#next.taken);
  }

  /**
   * Makes totals exact that are not: all beneath the directory is loaded, a level at a time, and counted. To be called
   * before a directory is moved, copied or removed whole. Costs nothing where the storage knows its totals, or where it
   * does not and nobody has to: then a change of a directory is one write of the storage, however much lies beneath.
   */
  loadTree(top: Location): void {
    const { maxTotalSize, maxNodeCount } = this.context.limits;
    const isAsked = maxTotalSize !== undefined || maxNodeCount !== undefined;
    if (this.recorder === undefined || isAsked || this.#isCounted()) this.#countTree(top);
  }

  /** Whether the storage said what the whole holds, or it was counted since. */
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

  /** Says that the outcome depends on a directory's own metadata, which is to be read after this. */
  relyOnMeta(directory: DirectoryNode): void {
    this.#relyOn(directory, 'entry', (origin) => origin.metaVersion);
  }

  /** Makes a directory's own metadata known, as it has been since this client changed it; another's change is not waited for. */
  learnMeta(directory: DirectoryNode): void {
    this.#learn(directory, (origin) => origin.metaVersion);
  }

  /** Says that the outcome depends on what the whole holds, which is to be read after this. */
  relyOnTotals(): void {
    const { rootLocation } = this.tree;
    if (!this.#isCounted()) this.#countTree(rootLocation);
    else this.relyOnTree(rootLocation.directory);
  }

  /** Says that the outcome depends on everything beneath a directory. */
  relyOnTree(directory: DirectoryNode): void {
    this.#relyOn(directory, 'tree', (origin) => origin.tree);
  }

  #relyOn(directory: DirectoryNode, kind: 'entry' | 'tree', versionOf: (origin: Origin) => Version): void {
    const origin = this.#learn(directory, versionOf);
    if (origin !== undefined) this.#rely({ kind, ...origin.place, version: versionOf(origin) });
  }

  #learn(directory: DirectoryNode, versionOf: (origin: Origin) => Version): Origin | undefined {
    const { origin } = directory;
    if (origin === undefined || this.recorder === undefined) return undefined;
    const { path, id } = origin.place;
    // Asked for also where it is known: what was found in a listing may be from another load.
    const fact = this.source?.current?.(id);
    if (versionOf(origin) !== UNKNOWN_VERSION) return origin;
    if (fact === undefined || versionOf(originOf(fact, origin.place)) === UNKNOWN_VERSION) {
      throw new NotLoaded([{ kind: 'path', path, content: 0 }], this.source);
    }
    directory.refresh(origin, fact);
    return directory.origin;
  }

  /** Runs `load` for every item and, where some are missing, asks for all of them at once. */
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

  #admit(directory: DirectoryNode, name: string, fact: NodeRecord, path: string, origin: Origin): TreeNode {
    let node = nodeFromFact(this.tree.owner, fact, path);
    let entry: TreeNode = node;
    if (origin.copied !== undefined) entry = node = this.#asCopy(node, origin.copied);
    else if (fact.links > 1 && node.kind !== DIRECTORY) {
      entry = new LinkedNode(node.id);
      this.#admitLinked(fact, node);
    }
    directory.entries.set(this.tree.owner, name, entry);
    return entry;
  }

  /** Puts a file or link with several names into the tree's table, where it is not there yet, and answers what is there. */
  #admitLinked(fact: NodeRecord, node: Node): Node {
    const known = this.tree.inodes.get(node.id);
    if (known !== undefined) return known.node;
    this.#admitted ??= new Map();
    this.#admitted.set(node.id, fact.version);
    this.tree.admitInode(node.id, node as FileNode | SymlinkNode, fact.links, this.#isCounted());
    return node;
  }

  /** The version of what stands in the tree for a file or link: where it has several names, of what was met first. */
  #versionIn({ kind, id, version }: NodeRecord): Version | undefined {
    if (kind === 'directory') return undefined;
    return this.tree.inodes.has(id) ? (this.#admitted?.get(id) ?? version) : version;
  }

  /** What was loaded beneath a directory that is a copy: a node of its own. */
  #asCopy(node: Node, times: CopyTimes): Node {
    const meta = metaMaker(times)(node.meta);
    if (node.kind === DIRECTORY) return this.tree.copyDirectory(node, this.context.newId(), meta, times);
    return this.tree.copyLeaf(node, this.context.newId(), meta);
  }

  /** Says that the outcome depends on a file or link that was found in a listing: on more than its name and id. */
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
    // Another node of the same file is what became of it since.
    if (found?.taken.nodes[found.at] !== node) return undefined;
    this.#next = { taken: found.taken, at: found.at + 1 };
    const { place, names, facts } = found.taken;
    const fact = facts[found.at] as NodeRecord;
    const path = joinPath(place.path, names[found.at] as string);
    return { kind: 'entry', path, id: fact.id, version: this.#versionIn(fact) };
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
