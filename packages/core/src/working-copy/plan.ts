import type { NodeId } from '../backend.js';
import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import { pathSegments } from '../paths.js';
import { DIRECTORY, LINKED, type Node } from '../tree/node.js';
import type { Tree } from '../tree/tree.js';
import { type NameChange, Paths, type Spot } from './delta.js';
import type { Merged } from './merge.js';

/** A name to remove, with everything under it. Its path refers to the state before. */
export interface Removal {
  readonly path: string;
  readonly node: Node;
}

/** A name to move to another path. */
export interface Move {
  readonly path: string;
  readonly to: string;
  readonly node: Node;
  /** True if the new name is free and its directory exists and does not move, so that one rename is enough. */
  readonly isDirect: boolean;
}

/** A name to add. Its path refers to the state after. */
export interface Addition {
  readonly path: string;
  readonly node: Node;
  /** A path that the node already has when this step runs. Undefined for a new node. */
  readonly linkTo: string | undefined;
}

/** A node that changed. For a directory, only the metadata counts. */
export interface Alteration {
  /** Path in the state before. */
  readonly path: string;
  /** Path in the state after. */
  readonly to: string;
  readonly before: Node;
  readonly after: Node;
}

/** The steps, in order, that turn one state into another. */
export interface Plan {
  /** Names to remove or move away, deepest first: each path is still valid when its step runs. */
  readonly leaving: readonly (Removal | Move)[];
  /** Names to add, and targets of moves that are not direct: parents first, further names of files last. */
  readonly coming: readonly (Addition | Move)[];
  readonly altered: readonly Alteration[];
  /** Directories that exist before and after and in which names change, with their paths in both states. */
  readonly touched: readonly { readonly path: string; readonly to: string; readonly id: NodeId }[];
  /** Names that must be free, in directories that exist. Paths refer to the state before. */
  readonly free: readonly string[];
}

export function isMove(step: Removal | Move | Addition): step is Move {
  return 'to' in step;
}

/** @param before the state to which the plan applies */
export function planOf(merged: Merged, before: Tree): Plan {
  return runSteps(planSteps(merged, before));
}

/** Like {@link planOf}, in slices. */
export function planSteps(merged: Merged, before: Tree): Steps<Plan> {
  return new Planner(merged, before).run();
}

class Planner {
  readonly #merged: Merged;
  readonly #tree: Tree;
  readonly #before: Paths;
  readonly #after: Paths;
  readonly #arrivals = new Map<NodeId, NameChange[]>();
  readonly #departures = new Map<NodeId, NameChange[]>();
  /** Nodes that got a name: one of their new paths, and the node. */
  readonly #named = new Map<NodeId, { readonly path: string; readonly node: Node }>();

  constructor(merged: Merged, before: Tree) {
    this.#merged = merged;
    this.#tree = before;
    this.#before = new Paths(merged.placeInTheirs);
    this.#after = new Paths(merged.placeInResult);
    for (const change of merged.names) {
      if (change.before !== undefined) push(this.#departures, change.before, change);
      if (change.after !== undefined) push(this.#arrivals, change.after, change);
    }
  }

  *run(): Steps<Plan> {
    const moves: Move[] = [];
    const removals: Removal[] = [];
    const additions: Addition[] = [];
    const movedFrom = new Set<NameChange>();
    const movedTo = new Set<NameChange>();
    for (const [id, arrivals] of this.#arrivals) {
      (this.#departures.get(id) ?? []).slice(0, arrivals.length).forEach((from, i) => {
        const to = arrivals[i] as NameChange;
        movedFrom.add(from);
        movedTo.add(to);
        moves.push(this.#move(id, from, to));
      });
      yield;
    }
    for (const change of this.#merged.names) {
      const { before, directory } = change;
      if (before === undefined || movedFrom.has(change) || this.#isRemoved(directory)) continue;
      removals.push({ path: this.#pathBefore(change), node: this.#node(change) });
      yield;
    }
    const coming = [...this.#arrivals.values()].flat().filter((change) => !movedTo.has(change));
    for (const change of byDepth(coming, (one) => this.#pathAfter(one))) {
      additions.push(this.#addition(change.after as NodeId, this.#pathAfter(change)));
      yield;
    }
    return {
      leaving: byDepth([...removals, ...moves], ({ path }) => path).reverse(),
      coming: [
        ...byDepth(
          [...additions.filter(({ linkTo }) => linkTo === undefined), ...moves.filter((one) => !one.isDirect)],
          (step) => (isMove(step) ? step.to : step.path),
        ),
        ...additions.filter(({ linkTo }) => linkTo !== undefined),
      ],
      altered: yield* this.#altered(),
      touched: this.#touched(),
      free: yield* this.#free(),
    };
  }

  #move(id: NodeId, from: NameChange, to: NameChange): Move {
    const target = this.#pathAfter(to);
    const node = this.#node(from);
    this.#named.set(id, { path: target, node });
    const isDirect = to.before === undefined && this.#exists(to.directory) && this.#stays(to.directory);
    return { path: this.#pathBefore(from), to: target, node, isDirect };
  }

  #addition(id: NodeId, path: string): Addition {
    const created = this.#merged.nodes.get(id);
    const isNew = created !== undefined && created.before === undefined;
    let known = this.#named.get(id);
    if (known === undefined && !isNew) {
      const kept = this.#kept(id);
      known = { path: this.#pathAfter(kept), node: this.#node(kept) };
    }
    const node = known?.node ?? (created?.after as Node);
    this.#named.set(id, { path, node });
    return { path, node, linkTo: known?.path };
  }

  /** Returns a name that the file keeps. */
  #kept(id: NodeId): Spot {
    const spot = this.#merged.namesOf(id).find((one) => this.#isKept(id, one)) ?? this.#search(id);
    if (spot === undefined) throw new Error('A file that is changed or linked keeps a name');
    return spot;
  }

  #isKept(id: NodeId, spot: Spot): boolean {
    return this.#merged.names.get(spot) === undefined && this.#find(this.#pathBefore(spot))?.id === id;
  }

  /** Returns a name that the file keeps, searched in all directories that contain files with several names. */
  #search(id: NodeId): Spot | undefined {
    const pending = [this.#tree.root];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const directory = this.#merged.knownAs(at.id);
      let found: Spot | undefined;
      at.entries.forEach((entry, name) => {
        if (entry.kind === DIRECTORY && entry.linked > 0) pending.push(entry);
        else if (entry.kind === LINKED && entry.id === id && this.#merged.names.get({ directory, name }) === undefined)
          found = { directory, name };
      });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#tree.root;
    for (const name of pathSegments(path)) {
      node = node?.kind === DIRECTORY ? this.#tree.resolve(node.entries.get(name)) : undefined;
    }
    return node;
  }

  *#altered(): Steps<Alteration[]> {
    const altered: Alteration[] = [];
    for (const [id, { before, after }] of this.#merged.nodes) {
      if (before === undefined || after === undefined) continue;
      const [path, to] = before.kind === DIRECTORY ? this.#directoryPaths(id) : this.#filePaths(id);
      altered.push({ path, to, before, after });
      yield;
    }
    return altered;
  }

  #directoryPaths(id: NodeId): [string, string] {
    const { placeInTheirs, placeInResult } = this.#merged;
    const [before, after] = [placeInTheirs(id), placeInResult(id)];
    return [before === undefined ? '/' : this.#pathBefore(before), after === undefined ? '/' : this.#pathAfter(after)];
  }

  #filePaths(id: NodeId): [string, string] {
    const arrival = this.#arrivals.get(id)?.[0];
    const departure = this.#departures.get(id)?.[0];
    const kept = arrival === undefined || departure === undefined ? this.#kept(id) : undefined;
    const [before, after] = [departure ?? kept, arrival ?? kept];
    if (before === undefined || after === undefined) throw new Error('A file that was changed has a name');
    return [this.#pathBefore(before), this.#pathAfter(after)];
  }

  #touched(): { path: string; to: string; id: NodeId }[] {
    const ids = new Set<NodeId>();
    for (const { directory } of this.#merged.names)
      if (this.#exists(directory) && !this.#isRemoved(directory)) ids.add(directory);
    return [...ids].map((id) => {
      const [path, to] = this.#directoryPaths(id);
      return { path, to, id };
    });
  }

  *#free(): Steps<string[]> {
    const free: string[] = [];
    for (const change of this.#merged.names) {
      if (change.before === undefined && this.#exists(change.directory)) free.push(this.#pathBefore(change));
      yield;
    }
    return free;
  }

  #exists(directory: NodeId): boolean {
    const change = this.#merged.nodes.get(directory);
    return change === undefined || change.before !== undefined;
  }

  #isRemoved(directory: NodeId): boolean {
    const change = this.#merged.nodes.get(directory);
    return change !== undefined && change.after === undefined;
  }

  /** Reports whether neither a directory nor any of its ancestors moves. */
  #stays(directory: NodeId): boolean {
    for (let at: NodeId | undefined = directory; at !== undefined; at = this.#merged.placeInResult(at)?.directory)
      if (this.#arrivals.has(at)) return false;
    return true;
  }

  #node(spot: Spot): Node {
    const node = this.#find(this.#pathBefore(spot));
    if (node === undefined) throw new Error('A node that leaves a name was there');
    return node;
  }

  #pathBefore(spot: Spot): string {
    return this.#before.of(spot);
  }
  #pathAfter(spot: Spot): string {
    return this.#after.of(spot);
  }
}

function push(map: Map<NodeId, NameChange[]>, id: NodeId, change: NameChange): void {
  const known = map.get(id);
  if (known === undefined) map.set(id, [change]);
  else known.push(change);
}

/** Sorts by depth; stable. */
function byDepth<T>(items: Iterable<T>, pathOfItem: (item: T) => string): T[] {
  const keyed = [...items].map((item) => ({ item, depth: depthOf(pathOfItem(item)) }));
  return keyed.sort((a, b) => a.depth - b.depth).map(({ item }) => item);
}

function depthOf(path: string): number {
  let depth = 0;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth += 1;
  return depth;
}
