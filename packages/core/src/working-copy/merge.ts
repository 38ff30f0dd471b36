import type { Metadata, NodeId } from '../backend.js';
import type { ContentStore } from '../tree/content.js';
import { DIRECTORY, type Inode, type Node } from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import { type Delta, type NameChange, type NodeChange, Paths, type Spot, Spots } from './delta.js';
import { isSameNode, isSameOwner, isSameValue, sameTimes } from './same-state.js';

/** The way in which one side changed an entry. */
export type SideChange = 'added' | 'modified' | 'removed' | 'renamed';

/** An entry that both sides changed differently. */
export interface Clash {
  readonly path: string;
  readonly ours: SideChange;
  readonly theirs: SideChange;
  /** Our ids of the conflicting nodes. */
  readonly ids: readonly NodeId[];
}

/** One side's changes ("ours"), adapted to the state of the other side ("theirs"). */
export interface Merged {
  readonly clashes: readonly Clash[];
  readonly names: Spots<NameChange>;
  readonly nodes: ReadonlyMap<NodeId, NodeChange>;
  /** Returns the location of a directory in their state. */
  readonly placeInTheirs: (directory: NodeId) => Spot | undefined;
  /** Returns the location of a directory in their state after our changes are applied to it. */
  readonly placeInResult: (directory: NodeId) => Spot | undefined;
  /** Returns names that a file may have in their state. */
  readonly namesOf: (file: NodeId) => readonly Spot[];
  /** Returns our id of a directory in their state. */
  readonly knownAs: (id: NodeId) => NodeId;
}

/** Returns the changes of one side without a merge: all of them apply to the state from which they started. */
export function alone(ours: Delta): Merged {
  const arrivals = ours.arrivals();
  const place = (id: NodeId): Spot | undefined => ours.before.get(id);
  return {
    clashes: [],
    names: ours.names,
    nodes: ours.nodes,
    placeInTheirs: place,
    placeInResult: (id) => arrivals.get(id)?.[0] ?? place(id),
    namesOf: (id) => spotsOf(ours.fileBefore.get(id), ours.fileAfter.get(id)),
    knownAs: (id) => id,
  };
}

function spotsOf(...spots: readonly (Spot | undefined)[]): Spot[] {
  return spots.filter((spot) => spot !== undefined);
}

/**
 * Merges two sides' changes to one state, each change separately. `inodes` are the files with several names in the
 * state of `theirs`.
 */
export function merge(ours: Delta, theirs: Delta, contents: ContentStore, inodes: ReadonlyMap<NodeId, Inode>): Merged {
  return new Merge(ours, theirs, contents, inodes).run();
}

class Merge {
  readonly #clashes = new Map<string, Clash>();
  readonly #names = new Spots<NameChange>();
  readonly #nodes = new Map<NodeId, NodeChange>();
  /** Ids of nodes that both sides created and that count as one: ours to theirs. */
  readonly #alias = new Map<NodeId, NodeId>();
  readonly #theirArrivals: ReadonlyMap<NodeId, readonly NameChange[]>;
  readonly #ourDepartures: ReadonlyMap<NodeId, readonly NameChange[]>;
  #arrivals: ReadonlyMap<NodeId, Spot> = new Map();
  readonly #ourPaths = new Paths((id) => this.ours.after.get(id) ?? this.ours.before.get(id));
  readonly #theirPaths = new Paths((id) => this.#placeInTheirs(id));

  constructor(
    readonly ours: Delta,
    readonly theirs: Delta,
    readonly contents: ContentStore,
    readonly inodes: ReadonlyMap<NodeId, Inode>,
  ) {
    this.#theirArrivals = theirs.arrivals();
    this.#ourDepartures = ours.departures();
  }

  run(): Merged {
    for (const change of this.ours.names) if (!isNew(this.ours, change.directory)) this.#unite(change);
    for (const change of this.ours.names) this.#ourName(change);
    for (const change of this.theirs.names) this.#theirName(change);
    for (const [id, change] of this.ours.nodes) this.#node(id, change);
    this.#findCircles();
    this.#findNameless();
    const remade = new Map([...this.theirs.remade].map(([known, own]) => [own, known]));
    return {
      clashes: [...this.#clashes.values()],
      names: this.#names,
      nodes: this.#nodes,
      placeInTheirs: (id) => this.#placeInTheirs(id),
      placeInResult: (id) => this.#placeInResult(id),
      namesOf: (id) =>
        spotsOf(this.theirs.fileAfter.get(id), this.ours.fileBefore.get(id), this.ours.fileAfter.get(id)),
      knownAs: (id) => remade.get(id) ?? id,
    };
  }

  /**
   * Unites entries that both sides created under one name: directories, then the names in them, and equal files or
   * links.
   */
  #unite(change: NameChange): void {
    const theirs = this.theirs.names.get(this.#spot(change));
    if (theirs?.after === undefined || change.after === undefined) return;
    const [a, b] = [this.ours.nodes.get(change.after), this.theirs.nodes.get(theirs.after)];
    if (a?.after === undefined || b?.after === undefined || a.before !== undefined || b.before !== undefined) return;
    const areDirectories = a.after.kind === DIRECTORY && b.after.kind === DIRECTORY;
    if (!areDirectories && !isSameValue(this.contents, a.after, b.after)) return;
    this.#alias.set(change.after, theirs.after);
    if (areDirectories) for (const beneath of this.ours.names.in(change.after)) this.#unite(beneath);
  }

  #id(id: NodeId): NodeId {
    return this.#alias.get(id) ?? id;
  }
  #spot({ directory, name }: Spot): Spot {
    return { directory: this.#id(directory), name };
  }

  #ourName(change: NameChange): void {
    const spot = this.#spot(change);
    const after = change.after === undefined ? undefined : this.#id(change.after);
    const theirs = this.theirs.names.get(spot);
    const ids = [change.before, change.after].filter((id) => id !== undefined);
    const path = (): string => this.#ourPath(change);
    if (theirs !== undefined) {
      if (theirs.after !== after) this.#clash(path(), nameSide(this.ours, change), nameSide(this.theirs, theirs), ids);
      return;
    }
    if (isRemoved(this.theirs, spot.directory)) {
      if (after !== undefined) this.#clash(path(), nameSide(this.ours, change), 'removed', ids);
      return;
    }
    if (after !== undefined && isRemoved(this.theirs, after)) {
      this.#clash(path(), nameSide(this.ours, change), 'removed', ids);
      return;
    }
    if (after !== undefined && this.#isMovedTwice(after)) {
      this.#clash(path(), 'renamed', 'renamed', ids);
      return;
    }
    this.#names.set({ ...spot, before: change.before, after });
  }

  /** Reports whether both sides moved a node away from the same name. */
  #isMovedTwice(id: NodeId): boolean {
    if (this.#theirArrivals.get(id) === undefined || isNew(this.ours, id)) return false;
    return (this.#ourDepartures.get(id) ?? []).some((spot) => this.theirs.names.get(spot)?.before === id);
  }

  #theirName(change: NameChange): void {
    if (change.after === undefined) return;
    const removed = [change.directory, change.after].find((id) => isRemoved(this.ours, id));
    if (removed === undefined) return;
    this.#clash(this.#theirPaths.of(change), 'removed', nameSide(this.theirs, change), [removed]);
  }

  #node(id: NodeId, change: NodeChange): void {
    const { before, after } = change;
    const theirs = this.theirs.nodes.get(this.#id(id));
    if (theirs === undefined) this.#nodes.set(id, change);
    else if (before === undefined) this.#bothNew(id, after as Node, theirs.after as Node);
    else if (after === undefined) {
      if (theirs.after === undefined) return;
      if (this.#isSame(before, theirs.after)) this.#nodes.set(id, change);
      else this.#nodeClash(id, 'removed', 'modified');
    } else if (theirs.after === undefined) {
      if (!this.#isSame(before, after)) this.#nodeClash(id, 'modified', 'removed');
    } else this.#bothAltered(id, before, after, theirs.after);
  }

  #bothNew(id: NodeId, ours: Node, theirs: Node): void {
    if (isSameOwner(ours.meta, theirs.meta)) return;
    this.#nodeClash(id, 'added', 'added');
  }

  #bothAltered(id: NodeId, before: Node, ours: Node, theirs: Node): void {
    if (before.kind === DIRECTORY && ours.kind === DIRECTORY && theirs.kind === DIRECTORY) {
      const owner = pickOwner(before.meta, ours.meta, theirs.meta);
      if (owner === undefined) this.#nodeClash(id, 'modified', 'modified');
      else {
        const meta = { ...owner, ...latest(before.meta, ours.meta, theirs.meta) };
        this.#nodes.set(id, { before: theirs, after: ours.clone(new Owner(), id, meta) });
      }
      return;
    }
    if (isSameNode(this.contents, before, ours)) return;
    if (isSameNode(this.contents, before, theirs)) this.#nodes.set(id, { before: theirs, after: ours });
    else if (!isSameValue(this.contents, ours, theirs)) this.#nodeClash(id, 'modified', 'modified');
  }

  /** Compares nodes. Of a directory only mode and owner count; its times follow from its names. */
  #isSame(a: Node, b: Node): boolean {
    return a.kind === DIRECTORY ? isSameOwner(a.meta, b.meta) : isSameNode(this.contents, a, b);
  }

  /** Finds renames that are valid separately but together move a directory into itself. */
  #findCircles(): void {
    const arrivals = new Map<NodeId, Spot>();
    for (const change of this.#names) if (change.after !== undefined) arrivals.set(change.after, change);
    this.#arrivals = arrivals;
    for (const change of this.#names) {
      const { after } = change;
      if (after === undefined || !this.ours.before.has(after)) continue;
      const seen = new Set<NodeId>([after]);
      for (let at: NodeId | undefined = change.directory; at !== undefined; at = this.#placeInResult(at)?.directory) {
        if (seen.has(at)) {
          this.#clash(this.#ourPath(change), 'renamed', 'renamed', [after]);
          break;
        }
        seen.add(at);
      }
    }
  }

  /** Finds files that still have a name on each side, but would lose all names by the changes of both. */
  #findNameless(): void {
    const links = new Map<NodeId, number>();
    const add = (id: NodeId | undefined, more: number): void => {
      if (id !== undefined) links.set(id, (links.get(id) ?? this.inodes.get(id)?.links ?? 1) + more);
    };
    for (const { before, after } of this.#names) {
      add(before, -1);
      add(after, 1);
    }
    // The nodes of other conflicts are reported already.
    const told = new Set([...this.#clashes.values()].flatMap(({ ids }) => ids));
    for (const change of this.#names) {
      const id = change.before;
      if (id === undefined || told.has(id) || isRemoved(this.ours, id) || (links.get(id) ?? 0) > 0) continue;
      this.#clash(this.#ourPath(change), 'removed', 'removed', [id]);
    }
  }

  #placeInTheirs(id: NodeId): Spot | undefined {
    return this.theirs.after.get(id) ?? this.theirs.before.get(id) ?? this.ours.before.get(id);
  }
  #placeInResult(id: NodeId): Spot | undefined {
    return this.#arrivals.get(id) ?? this.#placeInTheirs(id);
  }

  #ourPath(spot: Spot): string {
    return this.#ourPaths.of(spot);
  }

  #nodeClash(id: NodeId, ours: SideChange, theirs: SideChange): void {
    const spot =
      this.ours.after.get(id) ??
      this.ours.fileAfter.get(id) ??
      this.ours.before.get(id) ??
      this.ours.fileBefore.get(id);
    this.#clash(spot === undefined ? '/' : this.#ourPath(spot), ours, theirs, [id]);
  }

  #clash(path: string, ours: SideChange, theirs: SideChange, ids: readonly NodeId[]): void {
    const known = this.#clashes.get(path);
    this.#clashes.set(
      path,
      known === undefined ? { path, ours, theirs, ids } : { ...known, ids: [...known.ids, ...ids] },
    );
  }
}

function isNew(delta: Delta, id: NodeId): boolean {
  const change = delta.nodes.get(id);
  return change !== undefined && change.before === undefined;
}

function isRemoved(delta: Delta, id: NodeId): boolean {
  const change = delta.nodes.get(id);
  return change !== undefined && change.after === undefined;
}

function nameSide(delta: Delta, { before, after }: NameChange): SideChange {
  if (before !== undefined && after !== undefined) return 'modified';
  if (after !== undefined) return isNew(delta, after) ? 'added' : 'renamed';
  return before !== undefined && isRemoved(delta, before) ? 'removed' : 'renamed';
}

function pickOwner(before: Metadata, ours: Metadata, theirs: Metadata): Metadata | undefined {
  if (isSameOwner(ours, theirs) || isSameOwner(before, ours)) return theirs;
  return isSameOwner(before, theirs) ? ours : undefined;
}

type Times = Pick<Metadata, 'atime' | 'mtime' | 'ctime' | 'birthtime'>;

function latest(before: Metadata, ours: Metadata, theirs: Metadata): Times {
  if (sameTimes(before, theirs)) return timesOf(ours);
  if (sameTimes(before, ours)) return timesOf(theirs);
  return {
    atime: Math.max(ours.atime, theirs.atime),
    mtime: Math.max(ours.mtime, theirs.mtime),
    ctime: Math.max(ours.ctime, theirs.ctime),
    birthtime: theirs.birthtime,
  };
}

function timesOf({ atime, mtime, ctime, birthtime }: Metadata): Times {
  return { atime, mtime, ctime, birthtime };
}

/** Removes the changes of the given nodes from a delta, and those that would be incomplete without them. */
export function without(delta: Delta, ids: readonly NodeId[]): void {
  const pending = [...ids];
  const dropped = new Set<NodeId>();
  const [arrivals, departures] = [delta.arrivals(), delta.departures()];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (dropped.has(id)) continue;
    dropped.add(id);
    // Entries cannot be added to a directory that is not created.
    if (isNew(delta, id)) for (const { after } of delta.names.in(id)) if (after !== undefined) pending.push(after);
    for (const change of [...(arrivals.get(id) ?? []), ...(departures.get(id) ?? [])]) {
      delta.names.delete(change);
      for (const other of [change.before, change.after]) if (other !== undefined) pending.push(other);
      // A directory that keeps an entry cannot be removed.
      if (change.before === id && isRemoved(delta, change.directory)) pending.push(change.directory);
    }
    delta.nodes.delete(id);
  }
}
