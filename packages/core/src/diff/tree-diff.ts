import type { Cursor } from '../engine/cursor.js';
import { isPending } from '../engine/function-files.js';
import { isSameBeneath, isSameContent } from '../engine/remote/same-stored.js';
import { NotLoaded } from '../engine/source.js';
import { loadedFile, loadedIfPending, MAX_ARRAY_BYTES } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { compareNames, joinPath } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import type { Entries } from '../tree/entries.js';
import {
  DIRECTORY,
  type DirectoryNode,
  FILE,
  type FileNode,
  LINKED,
  type Node,
  type TreeNode,
  Unloaded,
} from '../tree/node.js';
import type { Location } from '../tree/tree.js';

/** One name that differs between two trees; a side is undefined if the name does not exist there. */
export interface TreeChange {
  /** Path in the two trees. */
  readonly path: string;
  /** Path in the filesystem that is compared. */
  readonly outer: string;
  readonly before: Node | undefined;
  readonly after: Node | undefined;
  /** True if content, link target or kind differ, or a side is missing. */
  readonly content: boolean;
}

/** Translates a path of the trees for the compared filesystem; undefined for a path that this filesystem hides. */
export type Outer = (path: string) => string | undefined;

interface Side {
  readonly location: Location;
  readonly entries: Entries<TreeNode>;
}

interface Pair {
  readonly before: Location | undefined;
  readonly after: Location | undefined;
}

interface Frame {
  readonly path: string;
  readonly before: Side | undefined;
  readonly after: Side | undefined;
  readonly names: readonly string[];
  at: number;
}

/**
 * The differences of two trees, parents first, siblings in UTF-8 order. Parts that both trees share are mostly skipped,
 * so comparing two checkpoints mostly visits the directories on the paths to the changes.
 *
 * Names that differ in times only are not reported. If a directory became a file, or the other way round, that name is
 * a change, and everything under it is removed or added.
 */
export class TreeDiff implements Cursor<TreeChange | null> {
  readonly #frames: Frame[] = [];
  #pending: (Pair & { readonly path: string }) | undefined;
  /** Directories of one level whose listings may not be loaded yet. */
  #level: Pair[] = [];
  /**
   * True if the tables of files with several names are the same on both sides. Then shared directories need not be
   * searched for such files.
   */
  readonly #sameInodes: boolean;
  /** True if both are states of one storage, whose versions can be compared. */
  readonly #areRelated: boolean;

  constructor(
    readonly before: View,
    readonly after: View,
    readonly outer?: Outer,
  ) {
    this.#sameInodes = before.tree.inodes === after.tree.inodes;
    this.#areRelated = before.tree.shared === after.tree.shared;
    const [a, b] = [before.tree.rootLocation, after.tree.rootLocation];
    if (!this.#mayDiffer(a.directory, b.directory)) return;
    this.#pending = { path: '/', before: a, after: b };
    if (before.source !== undefined || after.source !== undefined) this.#level = [this.#pending];
  }

  next(): TreeChange | null | undefined {
    if (this.#level.length > 0) {
      this.#level = this.#nextLevel();
      return null;
    }
    if (this.#pending !== undefined) {
      const { path, before, after } = this.#pending;
      // Missing listings throw here, before the diff has advanced.
      this.#frames.push(this.#frame(path, before, after));
      this.#pending = undefined;
    }
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      const name = frame.names[frame.at];
      if (name === undefined) {
        this.#frames.pop();
        continue;
      }
      const change = this.#compare(frame, name);
      frame.at++;
      if (change !== undefined || this.#pending !== undefined) return change ?? null;
    }
    return undefined;
  }

  /** Loads the listings of a level, both sides together, and returns the directories below that have to be compared. */
  #nextLevel(): Pair[] {
    const pairs = this.#level;
    const missing = [
      missingFrom(
        this.before,
        pairs.flatMap(({ before }) => before ?? []),
      ),
      missingFrom(
        this.after,
        pairs.flatMap(({ after }) => after ?? []),
      ),
    ].filter((one) => one !== undefined);
    const [first, second] = missing;
    if (first !== undefined) throw second === undefined ? first : new NotLoaded(first.needs, first.source, second);
    return pairs.flatMap((pair) => {
      const a = pair.before && { location: pair.before, entries: this.before.list(pair.before) };
      const b = pair.after && { location: pair.after, entries: this.after.list(pair.after) };
      const below: Pair[] = [];
      for (const name of this.#names(a?.entries, b?.entries)) {
        const before = childOf(this.before, a, name, this.before.tree.resolve(a?.entries.get(name)));
        const after = childOf(this.after, b, name, this.after.tree.resolve(b?.entries.get(name)));
        if (before !== undefined || after !== undefined) below.push({ before, after });
      }
      return below;
    });
  }

  #frame(path: string, before: Location | undefined, after: Location | undefined): Frame {
    const a = before && { location: before, entries: this.before.list(before) };
    const b = after && { location: after, entries: this.after.list(after) };
    const { outer } = this;
    const names = this.#names(a?.entries, b?.entries);
    const isGuarded = this.before.context.guard !== undefined || this.after.context.guard !== undefined;
    if (!isGuarded && outer === undefined) return { path, before: a, after: b, names, at: 0 };
    const isVisible = (name: string): boolean => {
      const at = joinPath(path, name);
      if (outer !== undefined && outer(at) === undefined) return false;
      return isShown(this.before, at, a?.entries.get(name)) || isShown(this.after, at, b?.entries.get(name));
    };
    return { path, before: a, after: b, names: names.filter(isVisible), at: 0 };
  }

  /**
   * Returns the node under a name of one side. If the sides have different guards, each guard hides the nodes of its
   * own side.
   */
  #nodeOf(view: View, side: Side | undefined, name: string, path: string): Node | undefined {
    const entry = side?.entries.get(name);
    const haveOneGuard = this.before.context.guard === this.after.context.guard;
    return haveOneGuard || isShown(view, path, entry) ? view.tree.resolve(entry) : undefined;
  }

  /** Returns, in order, the names that only one side has or whose nodes may differ. */
  #names(a: Entries<TreeNode> | undefined, b: Entries<TreeNode> | undefined): string[] {
    if (a === undefined || b === undefined) return (a ?? b)?.names() ?? [];
    const names: string[] = [];
    const left = a.cursor();
    const right = b.cursor();
    let hasLeft = left.next();
    let hasRight = right.next();
    while (hasLeft || hasRight) {
      const order = !hasLeft ? 1 : !hasRight ? -1 : compareNames(left.name, right.name);
      if (order !== 0 || this.#mayDiffer(left.value, right.value)) names.push(order <= 0 ? left.name : right.name);
      if (order <= 0) hasLeft = left.next();
      if (order >= 0) hasRight = right.next();
    }
    return names;
  }

  #mayDiffer(a: TreeNode, b: TreeNode): boolean {
    if (a !== b) {
      if (a.kind !== DIRECTORY || b.kind !== DIRECTORY || !this.#areRelated || !isSameBeneath(a, b)) return true;
      // What is known of the current state of a remote storage may be old.
      this.before.relyOnTree(a);
      this.after.relyOnTree(b);
      return false;
    }
    if (this.#sameInodes) return false;
    return a.kind === LINKED || (a.kind === DIRECTORY && a.linked > 0);
  }

  #compare(frame: Frame, name: string): TreeChange | undefined {
    const path = joinPath(frame.path, name);
    const before = this.#nodeOf(this.before, frame.before, name, path);
    const after = this.#nodeOf(this.after, frame.after, name, path);
    const change = this.#changeOf(path, before, after);
    const a = childOf(this.before, frame.before, name, before);
    const b = childOf(this.after, frame.after, name, after);
    if (a !== undefined || b !== undefined) this.#pending = { path, before: a, after: b };
    return change;
  }

  #changeOf(path: string, before: Node | undefined, after: Node | undefined): TreeChange | undefined {
    const outer = this.outer?.(path) ?? path;
    rely(this.before, before);
    rely(this.after, after);
    if (before === undefined || after === undefined) return { path, outer, before, after, content: true };
    const content = !this.#sameContent(before, after);
    const { meta: a } = before;
    const { meta: b } = after;
    if (!content && a.mode === b.mode && a.uid === b.uid && a.gid === b.gid) return undefined;
    return { path, outer, before, after, content };
  }

  #sameContent(before: Node, after: Node): boolean {
    if (before.kind !== after.kind) return false;
    if (before.kind === FILE) return this.#sameBytes(before, after as FileNode);
    return before.kind === DIRECTORY || before.target === (after as typeof before).target;
  }

  #sameBytes(before: FileNode, after: FileNode): boolean {
    if (isPending(before.data) || isPending(after.data)) {
      if (before.data === after.data) return true;
      return this.#sameBytes(loadedIfPending(this.before, before), loadedIfPending(this.after, after));
    }
    if (before.size !== after.size) return false;
    if (this.#areRelated && isSameContent(before, after)) return true;
    // Content that cannot be loaded as one array is not compared: it counts as changed.
    if (before.size > MAX_ARRAY_BYTES && (before.data instanceof Unloaded || after.data instanceof Unloaded))
      return false;
    const left: ContentNode = loadedFile(this.before, before);
    const right: ContentNode = loadedFile(this.after, after);
    return this.after.tree.shared.contents.equal(left, right);
  }
}

/** Records that the outcome depends on the node, but not on what is in a directory. */
function rely(view: View, node: Node | undefined): void {
  if (node?.kind === DIRECTORY) view.relyOnMeta(node);
  else if (node !== undefined) view.relyOnNode(node);
}

function isShown(view: View, path: string, entry: TreeNode | undefined): boolean {
  const node = view.tree.resolve(entry);
  return node !== undefined && (view.context.guard?.isVisible(path, node) ?? true);
}

function missingFrom(view: View, locations: readonly Location[]): NotLoaded | undefined {
  try {
    view.all(locations, (location) => view.list(location));
    return undefined;
  } catch (error) {
    if (error instanceof NotLoaded) return error;
    throw error;
  }
}

function childOf(view: View, side: Side | undefined, name: string, node: Node | undefined): Location | undefined {
  if (side === undefined || node?.kind !== DIRECTORY) return undefined;
  return view.tree.childLocation(side.location, name, node as DirectoryNode);
}
