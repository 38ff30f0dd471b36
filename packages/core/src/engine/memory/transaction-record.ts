import type { NodeId } from '../../backend.js';
import { FsError } from '../../errors.js';
import { joinPath, pathSegments } from '../../paths.js';
import { ABSENT, DIRECTORY, type DirectoryNode, LINKED, type Node, type TreeNode } from '../../tree/node.js';
import type { Location, Tree, TreeState } from '../../tree/tree.js';
import type { View } from '../view.js';

/** Bytes of contents that the steps of one transaction may hold beyond the total size of its tree. */
const MAX_REPLACED = 64 * 2 ** 20;

/** The parts of a directory that a transaction relied on. */
class Relied {
  readonly names = new Set<string>();
  listing = false;
  meta = false;
  /** True if the transaction relied on the directory and everything under it. */
  tree = false;
}

interface Step {
  readonly now: number;
  readonly run: (view: View) => void;
}

/**
 * The nodes that a transaction in memory relied on in its first state, by node id, and the steps that it ran. If those
 * nodes are the same in the current state, the steps can be applied to the current state.
 */
export class TransactionRecord {
  readonly #base: TreeState;
  readonly #directories = new Map<NodeId, Relied>();
  /** Ids of files and links whose metadata or content was relied on, under any name. */
  readonly #nodes = new Set<NodeId>();
  readonly #steps: Step[] = [];
  #held = 0;
  /**
   * True if the steps were dropped, because they held too many bytes of contents. Then the transaction can be committed
   * only if no other writer has changed the state.
   */
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

  /** Records a step. `bytes`: size of the content that the step holds; `size`: total size of the tree. */
  did(now: number, run: (view: View) => void, bytes: number, size: number): void {
    if (this.#isForgotten) return;
    this.#steps.push({ now, run });
    this.#held += bytes;
    if (this.#held <= MAX_REPLACED + size) return;
    this.#isForgotten = true;
    this.#steps.length = 0;
  }
  /** Number of recorded steps, for a later `undo`, which removes the later steps but keeps what was relied on. */
  get done(): number {
    return this.#steps.length;
  }
  undo(done: number): void {
    this.#steps.length = Math.min(this.#steps.length, done);
  }

  /** Applies all steps to another state. @throws FsError if a step is impossible there */
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

  /** Returns true if everything relied on is unchanged and the steps were not dropped. */
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

  /** Returns the names to compare: those that were looked up, and those of nodes that were relied on. */
  #namesIn(directory: DirectoryNode, { names }: Relied): Iterable<string> {
    const all = new Set(names);
    directory.entries.forEach((entry, name) => {
      if (entry.kind !== ABSENT && (this.#nodes.has(entry.id) || this.#directories.has(entry.id))) all.add(name);
    });
    return all;
  }
}

/** Returns true if an incompletely known directory, or something under it, has changed. */
function isChangedUnknown(before: DirectoryNode, after: DirectoryNode): boolean {
  return !before.complete && before.version !== after.version;
}

/**
 * Returns true if a name has the same entry in both directories, or is absent from both. A name that is unknown in both
 * counts as unchanged; one that is unknown in only one of them, if the directories have the same version.
 */
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

/**
 * Returns the directory at a path without links.
 * @throws FsError ENOENT if it is missing, ESTALE if another kind of node is there. Both can happen although `holds` saw
 * no change, because the filesystem under an overlay may change without a new version
 */
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

/**
 * Returns the node under a name. `kind`: the kind that the transaction found there. @throws FsError like
 * {@link locationAt}
 */
export function nodeAt(view: View, location: Location, name: string, kind?: Node['kind']): Node {
  const node = view.tree.resolve(view.lookup(location, name));
  if (node !== undefined && (kind === undefined || node.kind === kind)) return node;
  throw new FsError(node === undefined ? 'ENOENT' : 'ESTALE', { path: joinPath(location.path, name) });
}
