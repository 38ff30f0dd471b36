import type { NodeId } from '../backend.js';
import { FsError } from '../errors.js';
import { joinPath, pathSegments } from '../paths.js';
import { ABSENT, DIRECTORY, type DirectoryNode, LINKED, type Node, type TreeNode } from '../tree/node.js';
import type { Location, Tree, TreeState } from '../tree/tree.js';
import type { View } from './view.js';

/** How many bytes of contents that were replaced again the steps of a transaction may hold. */
const MAX_REPLACED = 64 * 2 ** 20;

/** What of a directory was relied on. */
class Relied {
  readonly names = new Set<string>();
  listing = false;
  meta = false;
  /** All at and beneath it. */
  tree = false;
}

interface Step {
  readonly now: number;
  readonly run: (view: View) => void;
}

/**
 * What a transaction in memory looked at in the state it began with, by identity, and what it did. Where the first is
 * the same in the state as it is now, the second can be done there: as if all of it had happened just now.
 */
export class TransactionRecord {
  readonly #base: TreeState;
  readonly #directories = new Map<NodeId, Relied>();
  /** Files and links of which more than the name counts, whatever name they were found under. */
  readonly #nodes = new Set<NodeId>();
  readonly #steps: Step[] = [];
  #held = 0;
  /** The steps would hold too much that was replaced since: then only the same state as before will do. */
  #isForgotten = false;

  constructor(base: TreeState) {
    this.#base = base;
  }

  relyOnName(directory: DirectoryNode, name: string): void {
    this.#relied(directory).names.add(name);
  }
  relyOn(directory: DirectoryNode, part: 'listing' | 'meta' | 'tree'): void {
    this.#relied(directory)[part] = true;
  }
  relyOnNode(id: NodeId): void {
    this.#nodes.add(id);
  }

  /** `bytes` of content that the step holds; `size` is what the tree has at all. */
  did(now: number, run: (view: View) => void, bytes: number, size: number): void {
    if (this.#isForgotten) return;
    this.#steps.push({ now, run });
    this.#held += bytes;
    if (this.#held <= MAX_REPLACED + size) return;
    this.#isForgotten = true;
    this.#steps.length = 0;
  }
  /** How much was done; to be taken back to with `undo`. What was looked at stays. */
  get done(): number {
    return this.#steps.length;
  }
  undo(done: number): void {
    this.#steps.length = Math.min(this.#steps.length, done);
  }

  /** Does it all on another state. @throws FsError where something cannot be done there */
  apply(view: View): void {
    for (const { now, run } of this.#steps) {
      view.begin(now);
      run(view);
    }
  }

  #relied({ id }: DirectoryNode): Relied {
    let relied = this.#directories.get(id);
    if (relied === undefined) this.#directories.set(id, (relied = new Relied()));
    return relied;
  }

  /** Whether all that was relied on is still so. Costs what was relied on, and nothing where nothing has changed. */
  holds(now: Tree): boolean {
    if (this.#isForgotten) return false;
    const base = this.#base;
    const sameInodes = base.inodesVersion === now.inodesVersion;
    const isSameInode = (id: NodeId): boolean => sameInodes || base.inodes.get(id)?.node === now.inodes.get(id)?.node;
    for (const id of this.#nodes) if (!isSameInode(id)) return false;
    const pending: [DirectoryNode, DirectoryNode][] = [[base.root, now.root]];
    for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
      const [before, after] = pair;
      const relied = this.#directories.get(before.id);
      if (relied === undefined) continue;
      const mayHold = before.linked === 0 || sameInodes;
      if (before === after && mayHold) continue;
      if (relied.tree && (before.version !== after.version || !mayHold)) return false;
      if (relied.listing && (before.listing !== after.listing || isChangedUnknown(before, after))) return false;
      if (relied.meta && before.meta !== after.meta) return false;
      for (const name of relied.listing ? this.#namesIn(before, relied) : relied.names) {
        const [a, b] = [before.entries.get(name), after.entries.get(name)];
        if (a?.kind === DIRECTORY && b?.kind === DIRECTORY && a.id === b.id) pending.push([a, b]);
        else if (a?.kind === LINKED && b?.kind === LINKED && a.id === b.id) {
          if (!isSameInode(a.id)) return false;
        } else if (!isSameEntry(before, after, a, b)) return false;
      }
    }
    return true;
  }

  /** Of a directory that was listed also what else is known of the things in it. */
  #namesIn(directory: DirectoryNode, { names }: Relied): Iterable<string> {
    const all = new Set(names);
    directory.entries.forEach((entry, name) => {
      if (entry.kind !== ABSENT && (this.#nodes.has(entry.id) || this.#directories.has(entry.id))) all.add(name);
    });
    return all;
  }
}

/** Whether a directory of which not all names were known has changed, or something beneath it. */
function isChangedUnknown(before: DirectoryNode, after: DirectoryNode): boolean {
  return !before.complete && before.version !== after.version;
}

/** Whether entries say the same: also a name that is not there, or that the tree did not know and has not changed. */
function isSameEntry(
  before: DirectoryNode,
  after: DirectoryNode,
  a: TreeNode | undefined,
  b: TreeNode | undefined,
): boolean {
  if (a === b && (a !== undefined || before.complete === after.complete)) return true;
  const isKnown = (a !== undefined || before.complete) && (b !== undefined || after.complete);
  if (!isKnown) return before.version === after.version;
  return isAbsent(a) && isAbsent(b);
}

function isAbsent(entry: TreeNode | undefined): boolean {
  return entry === undefined || entry.kind === ABSENT;
}

/** The directory at a path without links. @throws FsError where it is gone from beneath an overlay, of which no version tells */
export function locationAt(view: View, path: string): Location {
  const known = path === '/' ? view.tree.rootLocation : view.tree.cachedLocation(path);
  if (known !== undefined) return known;
  let location = view.tree.rootLocation;
  for (const name of pathSegments(path)) {
    const directory = nodeAt(view, location, name, DIRECTORY) as DirectoryNode;
    location = view.tree.childLocation(location, name, directory);
  }
  return location;
}

/** What a transaction found under a name. @throws FsError like {@link locationAt} */
export function nodeAt(view: View, location: Location, name: string, kind?: Node['kind']): Node {
  const node = view.tree.resolve(view.lookup(location, name));
  if (node !== undefined && (kind === undefined || node.kind === kind)) return node;
  throw new FsError(node === undefined ? 'ENOENT' : 'ESTALE', { path: joinPath(location.path, name) });
}
