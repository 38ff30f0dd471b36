import { type Check, type NodeRecord, UNKNOWN_VERSION, type Version } from '../../backend.js';
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
import { NotLoaded } from '../source.js';
import { LoadRecord } from './load-record.js';
import type { ViewState } from './view-state.js';

/** Content up to this size is loaded together with its path. */
export const MAX_INLINE_BYTES = 65_536;

/** Returns the node under a name of a directory; loads it if unknown. `rest`: the names looked up next, last first. */
export function lookup(
  view: ViewState,
  location: Location,
  name: string,
  rest: readonly string[] = [],
): TreeNode | undefined {
  const directory = location.directory;
  const entry = directory.entries.get(name);
  if (entry !== undefined) return entry.kind === ABSENT ? undefined : entry;
  const origin = directory.origin;
  if (directory.complete || origin === undefined || view.source === undefined) return undefined;
  const path = joinPath(origin.address.path, name);
  const record = view.source.entry(origin.address, name);
  if (record === undefined)
    throw new NotLoaded([{ kind: 'path', path: joinRest(path, rest), content: MAX_INLINE_BYTES }], view.source);
  rely(view, { kind: 'entry', path: origin.address.path, id: origin.address.id });
  if (record === null) {
    rely(view, { kind: 'entry', path, id: null });
    view.tree.own(location).entries.set(view.tree.owner, name, ABSENT_NODE);
    return undefined;
  }
  rely(view, { kind: 'entry', path, id: record.id, version: loadRecord(view).versionOf(record) });
  return admit(view, view.tree.own(location), name, record, path, origin);
}

/** Returns all names of a directory; loads them if unknown. */
export function list(view: ViewState, location: Location): Entries<TreeNode> {
  const directory = location.directory;
  if (directory.complete) return directory.entries;
  const origin = directory.origin;
  if (origin === undefined || view.source === undefined) return directory.entries;
  const listing = view.source.listing(origin.address);
  if (listing === undefined) {
    const limit = Number.MAX_SAFE_INTEGER;
    throw new NotLoaded([{ kind: 'list', at: origin.address, after: undefined, limit }], view.source);
  }
  rely(view, { kind: 'listing', path: origin.address.path, id: origin.address.id, version: listing.version });
  const own = view.tree.own(location);
  takeNames(view, own, listing, origin);
  own.complete = true;
  return own.entries;
}

/** Merges the names of a listing into the directory, except names that were changed here or are already known. */
function takeNames(view: ViewState, own: DirectoryNode, listing: CachedListing, { address, copied }: Origin): void {
  const { owner } = view.tree;
  const { names, records } = listing;
  const nodeAt = (i: number): Node =>
    nodeFromRecord(owner, records[i] as NodeRecord, joinPath(address.path, names[i] as string));
  const nodes: TreeNode[] = listing.nodes.slice();
  const known = own.entries;
  if (copied === undefined) {
    own.entries = listing.entries.clone();
    for (const i of listing.linked) nodes[i] = admitLinked(view, records[i] as NodeRecord, nodeAt(i));
  } else {
    for (let i = 0; i < nodes.length; i++) nodes[i] = asCopy(view, nodeAt(i), copied);
    own.entries = Entries.fromSorted(owner, names, nodes);
  }
  known.forEach((entry, name) => {
    if (entry.kind === ABSENT) own.entries.delete(owner, name);
    else own.entries.set(owner, name, entry);
  });
  if (view.recorder === undefined) return;
  loadRecord(view).take({ address, names, records, nodes });
}

/**
 * Makes uncertain totals exact by loading and counting everything under the directory, level by level. Must be called
 * before a directory is moved, copied or removed as a whole. Costs nothing if the storage knows its totals, or if it
 * does not and no limit needs them: then a change of a directory is one write, however much is in it.
 */
export function loadTree(view: ViewState, top: Location): void {
  const { maxTotalSize, maxNodeCount } = view.context.quota.limits;
  const isAsked = maxTotalSize !== undefined || maxNodeCount !== undefined;
  if (view.recorder === undefined || isAsked || isCounted(view)) countTree(view, top);
}

/** Returns true if the totals come from the storage or were counted since. */
function isCounted(view: ViewState): boolean {
  return view.tree.rootLocation.directory.origin?.uncounted !== true;
}

function countTree(view: ViewState, top: Location): void {
  const found = top.directory.origin?.uncounted === true ? [top] : [];
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

export function isEmpty(view: ViewState, location: Location): boolean {
  const empty = view.list(location).size === 0;
  if (empty && location.directory.origin?.uncounted === true) countDirectory(view.tree.own(location));
  return empty;
}

/** Records that the outcome depends on the metadata of a directory. Call before reading it. */
export function relyOnMeta(view: ViewState, directory: DirectoryNode): void {
  relyOn(view, directory, 'entry', (origin) => origin.metaVersion);
}

/** Loads the metadata of a directory as this client last changed it, without waiting for changes by others. */
export function learnMeta(view: ViewState, directory: DirectoryNode): void {
  learn(view, directory, (origin) => origin.metaVersion);
}

/** Records that the outcome depends on the totals of the storage. Call before reading them. */
export function relyOnTotals(view: ViewState): void {
  const { rootLocation } = view.tree;
  if (!isCounted(view)) countTree(view, rootLocation);
  else view.relyOnTree(rootLocation.directory);
}

/** Records that the outcome depends on everything under a directory. */
export function relyOnTree(view: ViewState, directory: DirectoryNode): void {
  relyOn(view, directory, 'tree', (origin) => origin.tree);
}

function relyOn(
  view: ViewState,
  directory: DirectoryNode,
  kind: 'entry' | 'tree',
  versionOf: (origin: Origin) => Version,
): void {
  const origin = learn(view, directory, versionOf);
  if (origin !== undefined) rely(view, { kind, ...origin.address, version: versionOf(origin) });
}

function learn(view: ViewState, directory: DirectoryNode, versionOf: (origin: Origin) => Version): Origin | undefined {
  const { origin } = directory;
  if (origin === undefined || view.recorder === undefined) return undefined;
  const { path, id } = origin.address;
  // Requested even if it is known, because a listing may be from another load.
  const record = view.source?.current?.(id);
  if (versionOf(origin) !== UNKNOWN_VERSION) return origin;
  if (record === undefined || versionOf(originOf(record, origin.address)) === UNKNOWN_VERSION) {
    throw new NotLoaded([{ kind: 'path', path, content: 0 }], view.source);
  }
  directory.refresh(origin, record);
  return directory.origin;
}

function admit(
  view: ViewState,
  directory: DirectoryNode,
  name: string,
  record: NodeRecord,
  path: string,
  origin: Origin,
): TreeNode {
  let node = nodeFromRecord(view.tree.owner, record, path);
  let entry: TreeNode = node;
  if (origin.copied !== undefined) entry = node = asCopy(view, node, origin.copied);
  else if (record.links > 1 && node.kind !== DIRECTORY) {
    entry = new LinkedNode(node.id);
    admitLinked(view, record, node);
  }
  directory.entries.set(view.tree.owner, name, entry);
  return entry;
}

/**
 * Adds a file or link with several names to the table of the tree, if it is absent, and returns the node in the
 * table.
 */
function admitLinked(view: ViewState, record: NodeRecord, node: Node): Node {
  const known = view.tree.inodes.get(node.id);
  if (known !== undefined) return known.node;
  loadRecord(view).admitLinked(record);
  view.tree.admitInode(node.id, node as FileNode | SymlinkNode, record.links, isCounted(view));
  return node;
}

/** Returns a node loaded under a copied directory as a separate node. */
function asCopy(view: ViewState, node: Node, times: CopyTimes): Node {
  const meta = metaMaker(times)(node.meta);
  if (node.kind === DIRECTORY) return view.tree.copyDirectory(node, view.context.newId(), meta, times);
  return view.tree.copyLeaf(node, view.context.newId(), meta);
}

/** Records that the outcome depends on more than the name and id of a file or link from a listing. */
export function relyOnNode(view: ViewState, node: Node): void {
  if (view.source === undefined) return;
  const check = view.loaded?.checkOfListed(node);
  if (check === undefined) return;
  view.source.current?.(node.id);
  rely(view, check);
}

function rely(view: ViewState, check: Check): void {
  view.recorder?.checks.push(check);
}

function loadRecord(view: ViewState): LoadRecord {
  view.loaded ??= new LoadRecord(view.tree);
  return view.loaded;
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
