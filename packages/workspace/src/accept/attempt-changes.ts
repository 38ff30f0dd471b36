import { type CallOptions, joinPath, type NodeId, type NodeRecord, pathSegments, type Version } from '@scratchfs/core';
import { idOf, keyOf, type Lower, nodeAt } from '../backend/lower.js';
import {
  type Base,
  type DeltaEntry,
  type DeltaNode,
  entryAt,
  type Head,
  NO_NAMES,
  nodeOf,
  startOf,
  stateOf,
} from '../delta/delta-node.js';
import { type HeldEntry, readHeld } from '../delta/held.js';
import { hashOf, ifReadable, type Contents as StoredContents } from '../log/contents.js';
import type { Conflict, EntryState } from '../operation.js';
import { stateOfRecord } from '../refresh/capture.js';
import type { ReadOnlyPaths } from '../visibility/visible-backend.js';
import { type AttemptChange, type Contents, MODE_BITS, sameState } from './attempt-change.js';

/** Contents from the store, or from files of the disk, which are read again when they are needed. */
export class AcceptContents implements Contents {
  readonly #lowerPaths = new Map<string, string>();

  constructor(
    readonly stored: StoredContents,
    readonly lower: Lower,
  ) {}

  /** Records where a content lies on the disk, so that it need not be stored yet. */
  note(hash: string, lowerPath: string): void {
    this.#lowerPaths.set(hash, lowerPath);
  }

  async read(hash: string, signal?: AbortSignal): Promise<Uint8Array> {
    const path = this.#lowerPaths.get(hash);
    if (path !== undefined) {
      const content = (await readLower(this.lower, path, { signal }))?.content;
      if (content !== undefined && hashOf(content) === hash) return content;
    }
    return this.stored.read(hash, { signal });
  }

  /** Like {@link read}, but returns undefined for a content that was only on the disk and is not there any more. */
  async readIfThere(hash: string): Promise<Uint8Array | undefined> {
    return this.#lowerPaths.has(hash) ? ifReadable(this.read(hash)) : this.read(hash);
  }

  async write(content: Uint8Array, signal?: AbortSignal): Promise<string> {
    const added = new Set<string>();
    const { hash } = this.stored.add(content, added);
    try {
      await this.stored.save(added, { signal });
    } finally {
      this.stored.drop(added);
    }
    return hash;
  }
}

/**
 * Returns the difference between an attempt and what it began from, one change for each path. Removed and moved
 * directories, which the attempt keeps as one entry each, are listed as they are on the disk now. Entries that the
 * person has created there since are left out, so that they stay, and so are directories that can only be read. What
 * the person has edited in a removed directory is a conflict. If the directory was too large to be listed at its
 * removal, created entries are conflicts too.
 */
export async function attemptChanges(
  head: Head,
  contents: AcceptContents,
  readOnly: ReadOnlyPaths,
  options: CallOptions = {},
): Promise<AttemptChange[]> {
  const collector = new Collector(head, contents, readOnly, options);
  await collector.loadSources();
  await collector.loadHeld();
  await collector.visitNames('', head.root);
  return collector.changes();
}

/** An entry of a removed directory that is not what the attempt removed. */
export interface RemovedConflict {
  readonly conflict: Conflict;
  /** Key of the lower node. */
  readonly key: Version;
  /** Path of the removed directory in the attempt. */
  readonly directory: string;
}

/** Returns the conflicts in removed directories. Reads only files that may have been written since. */
export async function removedConflicts(
  head: Head,
  contents: AcceptContents,
  readOnly: ReadOnlyPaths,
  options: CallOptions = {},
): Promise<RemovedConflict[]> {
  const collector = new Collector(head, contents, readOnly, options, true);
  if (!collector.hasHidden) return [];
  await collector.loadHeld();
  await collector.visitRemoved('', head.root);
  return collector.conflicts;
}

/**
 * Returns the entries of removed directories that an accept would remove or report as conflicts. Reads only files that
 * may have been written since.
 */
export async function removedEntries(
  head: Head,
  contents: AcceptContents,
  readOnly: ReadOnlyPaths,
  options: CallOptions = {},
): Promise<RemovedEntry[]> {
  const collector = new Collector(head, contents, readOnly, options, true);
  await collector.loadHeld();
  await collector.visitRemoved('', head.root);
  return collector.entries;
}

/** Entry of a removed directory, as the disk has it. */
export interface RemovedEntry {
  readonly path: string;
  readonly record: NodeRecord;
}

interface FoundChange {
  readonly base: EntryState | null;
  readonly now: EntryState | null;
  readonly from?: string | undefined;
  readonly link?: NodeId | undefined;
  readonly conflict?: Conflict | undefined;
}

class Collector {
  readonly conflicts: RemovedConflict[] = [];
  readonly entries: RemovedEntry[] = [];
  readonly #found = new Map<string, FoundChange>();
  /** Lower directories that show at another path, with their nodes. */
  readonly #movedFrom = new Map<string, DeltaNode>();
  /** Lower directories of `#movedFrom` that are gone or replaced, with the present state of the path. */
  readonly #lost = new Map<string, EntryState | null>();
  /** Keys and ids of lower nodes that count as older than the hiding of their directory, although their times are newer. */
  readonly #known = new Set<Version | NodeId>();
  /** Hashes of the lists of what hidden directories held. `#held` has their entries by lower directory. */
  readonly #hashes = new Set<string>();
  readonly #held = new Map<string, ReadonlyMap<string, HeldEntry>>();
  /**
   * Decisions to leave an entry out, by lower path. Made once, so that a move treats its old and its new path alike.
   */
  readonly #left = new Map<string, boolean>();
  /**
   * Newest states of lower paths that changes began from: at a removed path the disk may hold something else by now.
   */
  readonly #began = new Map<string, Base>();

  constructor(
    readonly head: Head,
    readonly contents: AcceptContents,
    readonly readOnly: ReadOnlyPaths,
    readonly options: CallOptions,
    /** True to leave out unchanged entries of removed directories, which then need not be read. */
    readonly isForConflicts = false,
  ) {
    this.#look(head.root);
  }

  /** True if the head has a list of what a removed or moved directory held. */
  get hasHidden(): boolean {
    return this.#hashes.size > 0;
  }

  changes(): AttemptChange[] {
    return [...this.#found]
      .map(([path, change]) => {
        const began = change.now === null ? this.#began.get(path)?.state : undefined;
        return { path, ...change, ...(began && { base: began }) };
      })
      .filter(({ base, now }) => !sameState(base, now));
  }

  async loadHeld(): Promise<void> {
    for (const hash of this.#hashes)
      for (const [path, entries] of await readHeld(this.contents.stored, hash, this.options.signal))
        this.#held.set(path, new Map(entries.map((entry) => [entry[0], entry])));
  }

  async loadSources(): Promise<void> {
    for (const [path, { from }] of this.#movedFrom) {
      const record = (await readLower(this.contents.lower, path, this.options))?.record;
      const isThere = record?.kind === 'directory' && record.id === from?.id;
      if (!isThere) this.#lost.set(path, record === undefined ? null : stateOfRecord(record));
    }
  }

  #look(directory: DeltaNode): void {
    const { from, names = NO_NAMES } = directory;
    if (from?.isMoved === true) this.#movedFrom.set(from.path, directory);
    for (const { node, base } of names.values()) {
      for (const key of base?.known ?? []) this.#known.add(key).add(idOf(key));
      if (base?.held !== undefined) this.#hashes.add(base.held);
      for (const began of [base, node?.origin]) {
        const isKnown = began?.state && began.state.kind !== 'directory' && !isUnknown(began.state);
        if (isKnown && !((this.#began.get(began.path)?.at ?? 0) > began.at)) this.#began.set(began.path, began);
      }
      if (node !== null) this.#look(node);
    }
  }

  async visitNames(path: string, directory: DeltaNode): Promise<void> {
    for (const [name, entry] of directory.names ?? NO_NAMES) await this.#visit(`${path}/${name}`, entry);
  }

  async #visit(path: string, entry: DeltaEntry): Promise<void> {
    const node = nodeOf(this.head, entry) ?? null;
    const start = startOf(entry, node);
    const base = start?.path === path ? start : undefined;
    const isShown = node?.from?.path === path;
    if (this.#lost.has(path)) {
      // The entry at the path is no longer the one that the attempt has moved away.
      if (node === null) return;
    } else if (base?.state?.kind === 'directory' && !isShown) {
      await this.#remove(path, base, this.#movedFrom.has(path));
    }
    // Defined in a removed directory that the attempt has made anew.
    const removed = this.#found.get(path);
    let began = base?.state ?? null;
    if (began !== null && isUnknown(began)) began = this.#began.get(path)?.state ?? began;
    const isLost = began !== null && isUnknown(began);
    const before = removed?.base ?? (isLost ? await this.#diskState(path) : began);
    const isOwn = node === null || !isShown || (node.meta !== undefined && node.meta.mode !== before?.mode);
    const from = originOf(path, entry, node);
    const now = node && stateOf(node);
    const conflict =
      node?.from?.isMoved === true
        ? this.#lostSource(path, node, node.from.path)
        : isLost
          ? unknownConflict(path, began, before, now)
          : removed?.conflict;
    if (isOwn) this.#found.set(path, { base: before, now, from, link: entry.link, conflict });
    if (node?.kind !== 'directory') return;
    // This includes a directory with changes inside a moved one.
    if (node.from !== undefined && !isShown && conflict === undefined)
      await this.#moveNames(path, node.from.path, node, entry.base?.at);
    await this.visitNames(path, node);
  }

  async visitRemoved(path: string, directory: DeltaNode): Promise<void> {
    for (const [name, { node, base }] of directory.names ?? NO_NAMES) {
      const inside = `${path}/${name}`;
      const isRemoved = base?.path === inside && base.state?.kind === 'directory' && node?.from?.path !== inside;
      if (isRemoved && !this.#movedFrom.has(inside)) await this.#remove(inside, base, false);
      if (node !== null) await this.visitRemoved(inside, node);
    }
  }

  #lostSource(path: string, node: DeltaNode, source: string): Conflict | undefined {
    const disk = this.#lost.get(source);
    if (disk === undefined) return undefined;
    return { path, code: 'directory', base: node.origin?.state ?? null, disk, attempt: stateOf(node) };
  }

  /** Adds the removal of what is under a lower directory that the attempt hides. */
  async #remove(path: string, base: Base, isMoved: boolean, top = path): Promise<void> {
    for (const { name, record } of await listLower(this.contents.lower, path, this.options)) {
      const inside = joinPath(path, name);
      if (await this.#isReadOnly(inside, record)) continue;
      if (isMoved ? this.#isLeft(path, name, record, base.at) : this.#isNew(path, name, record)) continue;
      this.entries.push({ path: inside, record });
      const seen = isMoved ? undefined : this.#seenState(path, name, record, base.at);
      const isSame = seen === undefined || (seen.kind === 'directory' && record.kind === 'directory');
      if (isSame && record.kind === 'directory') await this.#remove(inside, base, isMoved, top);
      if (isSame && this.isForConflicts) continue;
      const state = await this.#lowerState(inside, record);
      if (state === null) continue;
      let conflict: Conflict | undefined;
      if (!isSame && !sameState(seen, state)) {
        // The attempt may have made the directory anew.
        const entry = entryAt(this.head, pathSegments(inside));
        const node = entry && nodeOf(this.head, entry);
        conflict = { path: inside, code: 'removed', base: seen, disk: state, attempt: node ? stateOf(node) : null };
        this.conflicts.push({ conflict, key: keyOf(record), directory: top });
      }
      this.#found.set(inside, { base: state, now: null, conflict });
    }
  }

  /** Reports whether the person has put an entry into a removed directory. False if that is not known. */
  #isNew(directory: string, name: string, record: NodeRecord): boolean {
    const entries = this.#held.get(directory);
    return entries !== undefined && !entries.has(name) && !this.#known.has(keyOf(record));
  }

  /**
   * Compares an entry of a removed directory with what the attempt removed: by its key, or by its times if the
   * directory was not listed. Returns undefined if it counts as the same entry, otherwise the state at the removal. For
   * a file that the attempt had moved away, that is the state that the move began from. The state of a file or link
   * that is not known has neither hash nor target, and so differs from what the disk has.
   */
  #seenState(directory: string, name: string, record: NodeRecord, at: number): EntryState | undefined {
    const { kind, meta, size } = record;
    const key = keyOf(record);
    if (this.#known.has(key)) return undefined;
    const began = this.#began.get(joinPath(directory, name))?.state ?? { kind, mode: meta.mode & MODE_BITS, size };
    const entries = this.#held.get(directory);
    if (entries === undefined)
      return kind === 'directory' || Math.max(meta.ctime, meta.mtime) <= at - RACY_MS ? undefined : began;
    const [, heldKey, heldState] = entries.get(name) ?? [];
    return heldKey === key ? undefined : (heldState ?? began);
  }

  /** Adds the entries of a moved directory that the attempt has not changed. */
  async #moveNames(
    path: string,
    lowerPath: string,
    node: DeltaNode | undefined,
    at = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    for (const { name, record } of await listLower(this.contents.lower, lowerPath, this.options)) {
      if (node?.names?.has(name) === true) continue;
      const [from, to] = [joinPath(lowerPath, name), joinPath(path, name)];
      if (await this.#isReadOnly(from, record)) continue;
      if (this.#isLeft(lowerPath, name, record, at)) continue;
      const state = await this.#lowerState(from, record);
      if (state !== null) this.#found.set(to, { base: null, now: state, from });
      if (record.kind === 'directory') await this.#moveNames(to, from, undefined, at);
    }
  }

  /**
   * Reports whether an entry of a moved directory is left out, because it is not what the attempt has moved, such as an
   * entry with a new name or another directory. Without a list of what was there, its times decide.
   */
  #isLeft(directory: string, name: string, record: NodeRecord, at: number): boolean {
    const path = joinPath(directory, name);
    let isLeft = this.#left.get(path);
    if (isLeft === undefined) this.#left.set(path, (isLeft = !this.#isMoved(directory, name, record, at)));
    return isLeft;
  }

  #isMoved(directory: string, name: string, record: NodeRecord, at: number): boolean {
    if (this.#known.has(record.id)) return true;
    const entries = this.#held.get(directory);
    const { birthtime, ctime } = record.meta;
    if (entries === undefined) return (record.kind === 'directory' ? ctime : birthtime) <= at;
    const key = entries.get(name)?.[1];
    if (key === undefined || record.kind === 'directory') return key === keyOf(record);
    // If a file or link was listed under the name, one that took its place, as editors save, moves along.
    return idOf(key) !== key;
  }

  async #isReadOnly(lowerPath: string, { kind }: NodeRecord): Promise<boolean> {
    return (await this.readOnly.ignoredOn(lowerPath, async () => kind === 'directory')) !== undefined;
  }

  async #diskState(path: string): Promise<EntryState | null> {
    const record = (await readLower(this.contents.lower, path, this.options))?.record;
    return record === undefined ? null : this.#lowerState(path, record);
  }

  async #lowerState(path: string, record: NodeRecord): Promise<EntryState | null> {
    const { kind, meta, size, target } = record;
    const mode = meta.mode & MODE_BITS;
    if (kind === 'directory') return { kind, mode, size: 0 };
    if (kind === 'symlink') return { kind, mode, size, target };
    const content = (await readLower(this.contents.lower, path, this.options))?.content;
    if (content === undefined) return null;
    const hash = hashOf(content);
    this.contents.note(hash, path);
    return { kind, mode, size: content.length, hash };
  }
}

/** Reports whether the content of a file, or the target of a symlink, is not known. */
function isUnknown({ kind, hash, target }: EntryState): boolean {
  return kind !== 'directory' && hash === undefined && target === undefined;
}

/**
 * Returns the conflict of a change that began from a state which is not known, such as that of an edited file in a
 * removed directory, which an accept has left out.
 */
function unknownConflict(
  path: string,
  base: EntryState | null,
  disk: EntryState | null,
  attempt: EntryState | null,
): Conflict {
  return { path, code: attempt === null || disk === null ? 'removed' : 'binary', base, disk, attempt };
}

/** Milliseconds by which the clocks of a disk and of the process may differ. */
const RACY_MS = 2_000;

/** Returns the lower path that an entry was moved from; undefined if it was not moved. */
function originOf(path: string, { base }: DeltaEntry, node: DeltaNode | null): string | undefined {
  const from = node?.from?.isMoved === true ? node.from.path : (node?.origin?.path ?? base?.path);
  return node === null || from === path ? undefined : from;
}

interface LowerEntry {
  readonly record: NodeRecord;
  readonly content?: Uint8Array | undefined;
}

/** Reads a lower entry, a file with its content. */
export async function readLower(lower: Lower, path: string, options: CallOptions): Promise<LowerEntry | undefined> {
  const [result] = await lower.load([{ kind: 'path', path, content: Number.MAX_SAFE_INTEGER }], options);
  if (result?.kind !== 'path') return undefined;
  const record = nodeAt(path, result.nodes);
  return record && { record, content: result.content };
}

const PAGE_NAMES = 10_000;

/** Lists a lower directory. Returns no entries if the path is not a directory. */
export async function listLower(
  lower: Lower,
  path: string,
  options: CallOptions,
): Promise<{ readonly name: string; readonly record: NodeRecord }[]> {
  const directory = (await readLower(lower, path, options))?.record;
  const found: { name: string; record: NodeRecord }[] = [];
  if (directory?.kind !== 'directory') return found;
  for (let after: string | undefined; ; ) {
    const at = { path, id: directory.id };
    const [page] = await lower.load([{ kind: 'list', at, after, limit: PAGE_NAMES }], options);
    if (page?.kind !== 'list') return found;
    for (const [i, name] of page.names.entries()) found.push({ name, record: page.nodes[i] as NodeRecord });
    after = page.names.at(-1) ?? after;
    if (page.complete || page.names.length === 0) return found;
  }
}
