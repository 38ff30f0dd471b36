import type { EntryKind, Metadata, NodeId, NodeRecord, Version } from '@scratchfs/core';
import type { Conflict, EntryState } from '../operation.js';

/**
 * State of a path of the lower directory (the user's directory on the disk) that a change of the attempt begins from.
 */
export interface Base {
  /** Lower path. */
  readonly path: string;
  /**
   * Key of the lower node (see `keyOf`). Undefined if no node had this state; empty if only `state` is to be compared.
   */
  readonly key: Version | undefined;
  readonly state: EntryState | null;
  /**
   * Epoch milliseconds of the reading. A file that was modified later, or shortly before, is compared by content (see
   * `isRacy`).
   */
  readonly at: number;
  /**
   * Keys of entries that a hidden directory did not hold, but that the attempt hides too, such as those that the undo
   * of an accept has put back.
   */
  readonly known?: readonly Version[] | undefined;
  /**
   * Hash of the stored list of what a directory held when the attempt hid it, so that an accept leaves later additions
   * alone.
   */
  readonly held?: string | undefined;
}

/** Content of a file, kept in the store. */
export interface ContentRef {
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string;
  readonly size: number;
}

/** Lower directory that shows through a directory of an attempt. */
export interface LowerDirectory {
  readonly path: string;
  readonly id: NodeId;
  /**
   * True if the attempt has moved the directory. Then it shows only as long as the disk has the same directory at its
   * path.
   */
  readonly isMoved?: boolean | undefined;
  /** Metadata when it was last read for a change, used if the lower directory is gone. */
  readonly meta: Metadata;
}

/** Node that an attempt has created or changed. Immutable. */
export interface DeltaNode {
  readonly id: NodeId;
  readonly kind: EntryKind;
  /** Version of everything but the names. May be empty for a directory without `meta`. */
  readonly version: Version;
  /** Undefined for a directory that has the metadata of its lower directory. */
  readonly meta?: Metadata | undefined;
  /** Time of the last change of a name in a directory without `meta`, in epoch milliseconds. */
  readonly touched?: number | undefined;
  /** Defined for a file. */
  readonly content?: ContentRef | undefined;
  /** Defined for a symlink. */
  readonly target?: string | undefined;
  /** Number of names of a file. Undefined counts as 1. */
  readonly links?: number | undefined;
  /** State that the change of a file with several names began from, kept from names whose entries may be gone. */
  readonly began?: Base | undefined;
  /** Lower state that a moved node began from. Moves with the node, unlike the base of a name. */
  readonly origin?: Base | undefined;
  /** Lower directory that shows through a directory. Undefined if none does. */
  readonly from?: LowerDirectory | undefined;
  /** Changed names of a directory. The others are those of `from`, if it is defined. */
  readonly names?: Names | undefined;
  /** Version of the names of a directory. */
  readonly listing?: Version | undefined;
}

export type Names = ReadonlyMap<string, DeltaEntry>;

/** Changed name in a directory. */
export interface DeltaEntry {
  /** Null if the name is removed, or leads to `link`. */
  readonly node: DeltaNode | null;
  /** Id of a file with several names, whose node is in the head's table. */
  readonly link?: NodeId | undefined;
  /** State of the name in the lower directory that the change began from. Undefined if there is no lower directory. */
  readonly base?: Base | undefined;
  /**
   * The base that the change had before the disk became equal to it. If the person has changed more, their changes are
   * part of it, and it has no key, because no file of the disk had this state.
   */
  readonly earlier?: Base | undefined;
  /** True for a removed name whose node the attempt has moved elsewhere. */
  readonly isMoved?: boolean | undefined;
  /** Defined if a change on the disk could not be merged with that of the attempt. */
  readonly conflict?: DeltaConflict | undefined;
}

/** A change on the disk that could not be merged with that of the attempt. */
export interface DeltaConflict {
  readonly code: Conflict['code'];
  /** Key of the lower node that was compared; undefined for a missing one. */
  readonly key: Version | undefined;
  readonly disk: EntryState | null;
  /** Epoch milliseconds at which it was read. */
  readonly at: number;
  /** True if the lower node is the one that the file was moved from. */
  readonly isOrigin?: boolean | undefined;
}

/** Everything that an attempt has changed. Immutable; heads share unchanged parts. */
export interface Head {
  readonly root: DeltaNode;
  /** Files with several names, by id. */
  readonly inodes: ReadonlyMap<NodeId, DeltaNode>;
}

export const NO_NAMES: Names = new Map();

/** Returns the node of an entry, or undefined if the name is removed. */
export function nodeOf(head: Head, entry: DeltaEntry): DeltaNode | undefined {
  return entry.link === undefined ? (entry.node ?? undefined) : head.inodes.get(entry.link);
}

/** Returns the entry of a path; undefined if the head has none. */
export function entryAt(head: Head, names: readonly string[]): DeltaEntry | undefined {
  let entry: DeltaEntry | undefined = { node: head.root };
  for (const name of names) entry = entry?.node?.names?.get(name);
  return entry;
}

/** Calls a function for each changed name of a head, directories before what was changed in them. */
export function visitNames({ root }: Head, visit: (path: string, entry: DeltaEntry) => void): void {
  const visitIn = (directory: string, { names = NO_NAMES }: DeltaNode): void => {
    for (const [name, entry] of names) {
      const path = `${directory}/${name}`;
      visit(path, entry);
      if (entry.node !== null) visitIn(path, entry.node);
    }
  };
  visitIn('', root);
}

/**
 * Returns the state that the change of a file with several names began from: the newest one among its names, those
 * included that the attempt has removed since.
 */
export function baseOfLink(head: Head, id: NodeId): Base | undefined {
  let found = head.inodes.get(id)?.began;
  visitNames(head, (_, entry) => {
    if (entry.link === id || (entry.link === undefined && entry.node === null)) found = newestBase(id, found, entry);
  });
  return found;
}

/** Returns the newest of a known base of a file with several names and the bases of one of its names. */
export function newestBase(id: NodeId, known: Base | undefined, { link, base, earlier }: DeltaEntry): Base | undefined {
  let found = known;
  for (const one of [base, earlier]) {
    // Before the change, the name may have been that of another file. With an empty key it was not.
    const isOwn = (one?.key === '' && link === id) || isBaseOf(one, id);
    if (isOwn && one?.state && !(found !== undefined && found.at > one.at)) found = one;
  }
  return found;
}

/** Reports whether a base is a state of the file of the disk that has an id. */
export function isBaseOf(base: Base | undefined, id: NodeId): boolean {
  return String(base?.key).startsWith(`${id} `);
}

/** Returns the state of a node as the log shows it. */
export function stateOf(node: DeltaNode): EntryState {
  const { kind, content, target } = node;
  const mode = (node.meta ?? node.from?.meta)?.mode ?? 0;
  if (kind === 'file') return { kind, mode, size: content?.size ?? 0, hash: content?.hash };
  if (kind === 'symlink') return { kind, mode, size: new TextEncoder().encode(target).length, target };
  return { kind, mode, size: 0 };
}

/** Reports whether two states are equal. */
export function isSameState(a: EntryState | null, b: EntryState | null): boolean {
  if (a === null || b === null) return a === b;
  return a.kind === b.kind && a.mode === b.mode && a.size === b.size && a.hash === b.hash && a.target === b.target;
}

/**
 * Returns the state that a change began from. If the disk became equal to the change, that is the earlier base: the
 * disk may go back, and the change then counts again.
 */
export function startOf(entry: DeltaEntry, node: DeltaNode | null): Base | undefined {
  return isEqualChange(entry, node) ? entry.earlier : entry.base;
}

/** Reports whether the disk was equal to a change at the last comparison. */
export function isEqualChange({ base, earlier }: DeltaEntry, node: DeltaNode | null): boolean {
  return earlier !== undefined && isSameState(base?.state ?? null, node && stateOf(node));
}

/** Reports whether two nodes have the same id, version and `began`, or are both missing. */
export function isSameNode(a: DeltaNode | null, b: DeltaNode | null): boolean {
  if (a === null || b === null) return a === b;
  return a.id === b.id && a.version === b.version && a.began?.key === b.began?.key && a.began?.at === b.began?.at;
}

/** Reports whether two entries are equal except for their nodes, as far as keys and times tell. */
export function isSameName(a: DeltaEntry, b: DeltaEntry): boolean {
  return (
    a.link === b.link &&
    a.isMoved === b.isMoved &&
    a.base?.path === b.base?.path &&
    a.base?.key === b.base?.key &&
    a.base?.at === b.base?.at &&
    a.earlier?.at === b.earlier?.at &&
    // An operation only appends keys.
    a.base?.known?.length === b.base?.known?.length &&
    a.base?.held === b.base?.held &&
    a.conflict?.code === b.conflict?.code &&
    a.conflict?.key === b.conflict?.key
  );
}

/** Returns the head of an attempt that has changed nothing, over the directory with the given record. */
export function emptyHead({ id, meta }: Pick<NodeRecord, 'id' | 'meta'>): Head {
  const root: DeltaNode = { id: '/', kind: 'directory', version: '', from: { path: '/', id, meta }, names: NO_NAMES };
  return { root, inodes: new Map() };
}
