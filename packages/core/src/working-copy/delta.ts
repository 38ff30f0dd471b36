import type { NodeId } from '../backend.js';
import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import type { EntryKind } from '../entry.js';
import { compareNames, joinPath } from '../paths.js';
import { DIRECTORY, type DirectoryNode, kindName, LINKED, type Node, type TreeNode } from '../tree/node.js';
import { type SharedStore, Tree, type TreeState } from '../tree/tree.js';
import { sameMeta } from './same-state.js';

/** A name in a directory. */
export interface Spot {
  readonly directory: NodeId;
  readonly name: string;
}

/** A name that leads to another node than before, or that only one state has. */
export interface NameChange extends Spot {
  /** Id of the node that had the name; undefined if none had. */
  readonly before: NodeId | undefined;
  /** Id of the node that has the name now; undefined if none has. */
  readonly after: NodeId | undefined;
}

/** A node that changed. Of a directory only the metadata counts. */
export interface NodeChange {
  /** Undefined if the node did not exist. */
  readonly before: Node | undefined;
  /** Undefined if the node does not exist any more. */
  readonly after: Node | undefined;
}

/** A map whose keys are names in directories. */
export class Spots<T extends Spot> {
  readonly #byDirectory = new Map<NodeId, Map<string, T>>();

  get({ directory, name }: Spot): T | undefined {
    return this.#byDirectory.get(directory)?.get(name);
  }
  set(item: T): void {
    const names = this.#byDirectory.get(item.directory);
    if (names === undefined) this.#byDirectory.set(item.directory, new Map([[item.name, item]]));
    else names.set(item.name, item);
  }
  delete({ directory, name }: Spot): void {
    this.#byDirectory.get(directory)?.delete(name);
  }
  in(directory: NodeId): Iterable<T> {
    return this.#byDirectory.get(directory)?.values() ?? [];
  }
  *[Symbol.iterator](): Iterator<T> {
    for (const names of this.#byDirectory.values()) yield* names.values();
  }
}

/**
 * The difference of two states by identity: names that lead to other nodes, and nodes that changed. A renamed directory
 * is one removed and one added name. A directory that was removed and created again under its name counts as the same
 * one.
 */
export class Delta {
  readonly names = new Spots<NameChange>();
  readonly nodes = new Map<NodeId, NodeChange>();
  /**
   * New ids of recreated directories, by the id of the directory that was there before. That older id is used
   * everywhere else.
   */
  readonly remade = new Map<NodeId, NodeId>();
  /** Locations of the visited directories, before and after. */
  readonly before = new Map<NodeId, Spot>();
  readonly after = new Map<NodeId, Spot>();
  /** A name of each visited file or link, before and after. */
  readonly fileBefore = new Map<NodeId, Spot>();
  readonly fileAfter = new Map<NodeId, Spot>();

  /** Kinds of all nodes that a changed name led or leads to. */
  readonly kinds = new Map<NodeId, EntryKind>();

  get isEmpty(): boolean {
    for (const _ of this.names) return false;
    return this.nodes.size === 0;
  }

  /** Returns the new names of each node; `departures` returns the removed ones. */
  arrivals(): Map<NodeId, NameChange[]> {
    return groupBy(this.names, ({ after }) => after);
  }
  departures(): Map<NodeId, NameChange[]> {
    return groupBy(this.names, ({ before }) => before);
  }
}

function groupBy(
  names: Iterable<NameChange>,
  key: (change: NameChange) => NodeId | undefined,
): Map<NodeId, NameChange[]> {
  const groups = new Map<NodeId, NameChange[]>();
  for (const change of names) {
    const id = key(change);
    if (id === undefined) continue;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [change]);
    else group.push(change);
  }
  return groups;
}

/** Compares two states of one shared store. Most subtrees that both share are skipped. */
export function deltaOf(shared: SharedStore, before: TreeState, after: TreeState): Delta {
  return runSteps(deltaSteps(shared, before, after));
}

/** Like {@link deltaOf}, in slices. */
export function deltaSteps(shared: SharedStore, before: TreeState, after: TreeState): Steps<Delta> {
  return new Comparison(new Tree(shared, before), new Tree(shared, after)).run();
}

interface Side {
  readonly spot: Spot;
  readonly node: TreeNode;
}

class Comparison {
  readonly #delta = new Delta();
  /** Pairs of directory states to compare, with the id of the directory. */
  readonly #pairs: [id: NodeId, before: DirectoryNode, after: DirectoryNode][] = [];
  readonly #departed: Side[] = [];
  readonly #arrived: Side[] = [];
  /** Nodes at and under removed names. Files with several names are not included. */
  readonly #gone = new Map<NodeId, Node>();
  /** Ids of the nodes at and under added names. Files with several names are not included. */
  readonly #new = new Set<NodeId>();
  /** Files and links found in both states so far. */
  readonly #kept = new Set<NodeId>();
  readonly #sameInodes: boolean;

  constructor(
    readonly before: Tree,
    readonly after: Tree,
  ) {
    this.#sameInodes = before.inodes === after.inodes;
  }

  *run(): Steps<Delta> {
    const { root } = this.before;
    if (root !== this.after.root || !this.#sameInodes) this.#pairs.push([root.id, root, this.after.root]);
    yield* this.#pairAll();
    for (const { node } of this.#departed) {
      visit(this.before, node, (one) => this.#gone.set(one.id, one));
      yield;
    }
    for (const { node } of this.#arrived) {
      visit(this.after, node, (one) => this.#new.add(one.id));
      yield;
    }
    for (let i = 0; i < this.#arrived.length; i++) {
      this.#arrive(this.#arrived[i] as Side);
      yield* this.#pairAll();
      yield;
    }
    for (let i = 0; i < this.#departed.length; i++) {
      this.#depart(this.#departed[i] as Side);
      yield;
    }
    return this.#delta;
  }

  *#pairAll(): Steps<void> {
    // The loop appends pairs while it runs.
    for (const pair of this.#pairs) {
      this.#pair(...pair);
      yield;
    }
    this.#pairs.length = 0;
  }

  /** Compares two states of the directory known as `id`. */
  #pair(id: NodeId, a: DirectoryNode, b: DirectoryNode): void {
    if (!sameMeta(a.meta, b.meta)) this.#delta.nodes.set(id, { before: a, after: b });
    const left = a.entries.cursor();
    const right = b.entries.cursor();
    let hasLeft = left.next();
    let hasRight = right.next();
    while (hasLeft || hasRight) {
      const order = !hasLeft ? 1 : !hasRight ? -1 : compareNames(left.name, right.name);
      const spot = { directory: id, name: order <= 0 ? left.name : right.name };
      if (order === 0) this.#same(spot, left.value, right.value);
      else if (order < 0) this.#name(spot, left.value, undefined);
      else this.#name(spot, undefined, right.value);
      if (order <= 0) hasLeft = left.next();
      if (order >= 0) hasRight = right.next();
    }
  }

  #same(spot: Spot, a: TreeNode, b: TreeNode): void {
    if (a === b) {
      if (this.#sameInodes || (a.kind !== LINKED && (a.kind !== DIRECTORY || a.linked === 0))) return;
    }
    const [before, after] = [this.before.resolve(a) as Node, this.after.resolve(b) as Node];
    if (before.id !== after.id) this.#name(spot, a, b);
    else if (before.kind === DIRECTORY && after.kind === DIRECTORY) this.#keep(spot, spot, before, after);
    else this.#leaf(spot, spot, before, after);
  }

  #name(spot: Spot, a: TreeNode | undefined, b: TreeNode | undefined): void {
    const [before, after] = [this.before.resolve(a), this.after.resolve(b)];
    if (before !== undefined) this.#delta.kinds.set(before.id, kindName(before));
    if (after !== undefined && after.id !== before?.id) this.#delta.kinds.set(after.id, kindName(after));
    this.#delta.names.set({ ...spot, before: before?.id, after: after?.id });
    if (a !== undefined) this.#departed.push({ spot, node: a });
    if (b !== undefined) this.#arrived.push({ spot, node: b });
  }

  /** Records a directory that is in both states. */
  #keep(from: Spot, to: Spot, a: DirectoryNode, b: DirectoryNode): void {
    this.#delta.before.set(a.id, from);
    this.#delta.after.set(a.id, to);
    this.#pairs.push([a.id, a, b]);
  }

  /** Records a file or link that is in both states. */
  #leaf(from: Spot | undefined, to: Spot, a: Node, b: Node): void {
    this.#kept.add(a.id);
    if (from !== undefined) this.#delta.fileBefore.set(a.id, from);
    this.#delta.fileAfter.set(a.id, to);
    if (a !== b && !(a.meta === b.meta && a.kind === b.kind && sameData(a, b)))
      this.#delta.nodes.set(a.id, { before: a, after: b });
  }

  #arrive({ spot, node: entry }: Side): void {
    const node = this.after.resolve(entry) as Node;
    if (node.kind !== DIRECTORY) {
      const known = this.#gone.get(node.id) ?? this.before.inodes.get(node.id)?.node;
      if (known !== undefined) this.#leaf(undefined, spot, known, node);
      else if (!this.#kept.has(node.id)) {
        this.#delta.fileAfter.set(node.id, spot);
        this.#delta.nodes.set(node.id, { before: undefined, after: node });
      }
      return;
    }
    const known = this.#gone.get(node.id);
    const change = this.#delta.names.get(spot);
    const there = change?.before === undefined ? undefined : this.#gone.get(change.before);
    if (known?.kind === DIRECTORY) {
      this.#delta.after.set(node.id, spot);
      this.#pairs.push([node.id, known, node]);
    } else if (there?.kind === DIRECTORY && !this.#new.has(there.id)) {
      this.#delta.names.delete(spot);
      this.#delta.remade.set(there.id, node.id);
      this.#keep(spot, spot, there, node);
    } else {
      this.#delta.after.set(node.id, spot);
      this.#delta.nodes.set(node.id, { before: undefined, after: node });
      node.entries.forEach((child, name) => {
        this.#name({ directory: node.id, name }, undefined, child);
      });
    }
  }

  #depart({ spot, node: entry }: Side): void {
    const node = this.before.resolve(entry) as Node;
    const { nodes, remade, before } = this.#delta;
    if (node.kind !== DIRECTORY) {
      this.#delta.fileBefore.set(node.id, spot);
      if (!this.#kept.has(node.id) && !this.after.inodes.has(node.id))
        nodes.set(node.id, { before: node, after: undefined });
      return;
    }
    if (remade.has(node.id)) return;
    before.set(node.id, spot);
    if (this.#delta.after.has(node.id)) return;
    nodes.set(node.id, { before: node, after: undefined });
    node.entries.forEach((child, name) => {
      this.#name({ directory: node.id, name }, child, undefined);
    });
  }
}

/** Visits everything at and under an entry except files with several names. */
function visit(tree: Tree, top: TreeNode, each: (node: Node) => void): void {
  const pending: TreeNode[] = [top];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === LINKED) continue;
    const node = tree.resolve(at) as Node;
    each(node);
    if (node.kind === DIRECTORY) node.entries.forEach((child) => void pending.push(child));
  }
}

function sameData(a: Node, b: Node): boolean {
  return 'data' in a && 'data' in b ? a.data === b.data && a.start === b.start && a.size === b.size : false;
}

/** Paths of names, while the locations of directories do not change. A directory without a location is the root. */
export class Paths {
  readonly #known = new Map<NodeId, string>();

  constructor(readonly placeOf: (directory: NodeId) => Spot | undefined) {}

  of({ directory, name }: Spot): string {
    return joinPath(this.#directory(directory), name);
  }

  #directory(id: NodeId): string {
    let path = this.#known.get(id);
    if (path === undefined) {
      const spot = this.placeOf(id);
      path = spot === undefined ? '/' : this.of(spot);
      this.#known.set(id, path);
    }
    return path;
  }
}
