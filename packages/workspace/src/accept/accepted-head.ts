import { type CallOptions, isWithin, type Metadata, parentPath, pathSegments, systemClock } from '@scratchfs/core';
import { keyOf } from '../backend/lower.js';
import {
  type Base,
  type DeltaEntry,
  type DeltaNode,
  entryAt,
  type Head,
  NO_NAMES,
  nodeOf,
  stateOf,
} from '../delta/delta-node.js';
import { Draft } from '../delta/draft.js';
import { countsOfNames } from '../delta/links.js';
import type { EntryState } from '../operation.js';
import type { AcceptedPath } from './apply.js';
import { type AttemptChange, sameState } from './attempt-change.js';
import { type AcceptContents, readLower } from './attempt-changes.js';

/**
 * Returns the head of an attempt after an accept. Accepted paths of which nothing is left have no change any more; the
 * changes of the others get a new base.
 * @param remaining changes that were not accepted
 * @param isPlanned false if another operation came after the changes were planned
 */
export async function headAfterAccept(
  head: Head,
  accepted: readonly AcceptedPath[],
  remaining: readonly AttemptChange[],
  contents: AcceptContents,
  version: string,
  isPlanned: boolean,
  options: CallOptions = {},
): Promise<Head> {
  const rebase = new Rebase(head, contents, version, isPlanned, options, remaining);
  // Entries come before the directory that holds them.
  for (const path of [...accepted].reverse()) await rebase.accept(path, remaining);
  return rebase.finish();
}

/** Returns a head that shows the new states of changes. @param changes sorted by path */
export async function headWithChanges(
  head: Head,
  changes: readonly AttemptChange[],
  contents: AcceptContents,
  version: string,
  options: CallOptions = {},
): Promise<Head> {
  const rebase = new Rebase(head, contents, version, false, options, changes);
  for (const change of changes) await rebase.show(change);
  return rebase.finish();
}

class Rebase {
  readonly #draft: Draft;
  /** Old paths of moved entries. */
  readonly #sources: ReadonlySet<string | undefined>;
  #copies = 0;

  constructor(
    readonly head: Head,
    readonly contents: AcceptContents,
    readonly version: string,
    readonly isPlanned: boolean,
    readonly options: CallOptions,
    changes: readonly AttemptChange[],
  ) {
    this.#draft = new Draft(head, version);
    this.#sources = new Set(changes.map(({ from }) => from));
  }

  finish(): Head {
    const used = countsOfNames(this.#draft.current);
    for (const id of [...this.#draft.current.inodes.keys()]) if (!used.has(id)) this.#draft.setInode(id, undefined);
    return this.#draft.head;
  }

  show(change: AttemptChange): Promise<void> {
    return this.#materialize(change);
  }

  async accept(accepted: AcceptedPath, remaining: readonly AttemptChange[]): Promise<void> {
    const { path, base, now } = accepted;
    const names = pathSegments(path);
    const entry = entryAt(this.#draft.current, names);
    // A path in a removed or moved directory may have no entry of its own in the head.
    if (entry === undefined) {
      const isRemoved = !this.isPlanned && accepted.before === null && !this.#isInMoved(names);
      // Another operation has removed what this one created on the disk.
      if (isRemoved) await this.#materialize({ path, base: accepted.after, now: null });
      return;
    }
    const node = nodeOf(this.#draft.current, entry) ?? null;
    const current = node && stateOf(node);
    if (!sameState(current, accepted.planned)) {
      // Another operation has changed it while this one was accepted: that change begins from what is on the disk now.
      const { after } = accepted;
      if (sameState(after, current) && node?.kind !== 'directory') this.#draft.setEntry(names, undefined);
      else await this.#setBase(names, entry, node, { ...accepted, base: after, now: current });
      return;
    }
    if (node?.kind === 'directory' || (node === null && entry.base?.state?.kind === 'directory'))
      return this.#acceptDirectory(path, node, remaining);
    if (sameState(base, now)) this.#draft.setEntry(names, undefined);
    else await this.#setBase(names, entry, node as DeltaNode, accepted);
  }

  #isInMoved(names: readonly string[]): boolean {
    return names.some((_, depth) => entryAt(this.#draft.current, names.slice(0, depth))?.node?.from?.isMoved === true);
  }

  async #acceptDirectory(path: string, node: DeltaNode | null, remaining: readonly AttemptChange[]): Promise<void> {
    const names = pathSegments(path);
    const isLive = node !== null && (node.from === undefined || node.from.path === path);
    const inside = remaining.filter((change) => change.path !== path && isWithin(change.path, path));
    const hasNames = isLive ? (node.names ?? NO_NAMES).size > 0 : inside.length > 0;
    const record = (await readLower(this.contents.lower, path, this.options))?.record;
    if (!hasNames || record?.kind !== 'directory') {
      this.#draft.setEntry(names, undefined);
      return;
    }
    const children = new Map<string, DeltaEntry>();
    if (isLive) {
      for (const [name, child] of node.names ?? NO_NAMES)
        children.set(name, { ...child, base: child.base ?? this.#absent(`${path}/${name}`) });
    }
    const from = { path, id: record.id, meta: record.meta };
    const shown: DeltaNode = {
      id: record.id,
      kind: 'directory',
      version: '',
      from,
      names: children,
      listing: this.version,
    };
    const base = {
      path,
      key: keyOf(record),
      state: { kind: record.kind, mode: record.meta.mode, size: 0 },
      at: systemClock(),
    };
    this.#draft.setEntry(names, { node: shown, base });
    // Entries that showed through a directory that is gone get nodes of their own.
    if (isLive) return;
    for (const change of inside) {
      const entry = entryAt(this.head, pathSegments(change.path));
      if (change.conflict === undefined || entry === undefined) await this.#materialize(change);
      else this.#draft.setEntry(pathSegments(change.path), entry);
    }
  }

  async #materialize({ path, from, base, now, conflict }: AttemptChange): Promise<void> {
    const names = pathSegments(path);
    const parent = entryAt(this.#draft.current, names.slice(0, -1))?.node;
    if (parent?.kind !== 'directory') {
      // A removal in a directory that is hidden or does not exist needs no entry, except one with a conflict in a
      // directory whose removal was accepted.
      if (now === null && (conflict === undefined || isHidden(this.#draft.current, names))) return;
      await this.#materializeParents(parentPath(path));
    }
    const record = (await readLower(this.contents.lower, from ?? path, this.options))?.record;
    // An empty key matches no version of the disk, so the next refresh finds the conflict again.
    const key = conflict === undefined ? record && keyOf(record) : '';
    const hidden = now === null && base?.kind === 'directory' ? hiddenAbove(this.head, names) : undefined;
    const entryBase: Base =
      base === null
        ? this.#absent(path)
        : {
            path,
            key,
            state: conflict === undefined ? base : conflict.base,
            at: hidden?.at ?? systemClock(),
            ...(hidden !== undefined && { held: hidden.held }),
          };
    if (now?.kind === 'file' && now.hash !== undefined) {
      const content = await this.contents.readIfThere(now.hash);
      // The person has changed a file that the attempt has only moved. Their change counts.
      if (content === undefined) return;
      await this.contents.write(content);
    }
    const origin = now !== null && now.kind !== 'directory' && from !== undefined && this.#originOf(path, from, now);
    const node = now && { ...this.#node(now, record?.meta), ...(origin && { origin }) };
    const isMoved = now === null && this.#sources.has(path);
    this.#draft.setEntry(names, { node, base: entryBase, ...(isMoved && { isMoved }) });
  }

  /**
   * Returns the base of a moved file at its old path. With it, an accept takes the old path along, and the person's
   * edits there are merged.
   */
  #originOf(path: string, from: string, now: EntryState): Base {
    const entry = entryAt(this.head, pathSegments(path));
    for (const began of [entry?.node?.origin, entry?.base]) if (began?.path === from) return began;
    // An empty key matches no version of the disk, so the next refresh compares by content.
    return { path: from, key: '', state: now, at: systemClock() };
  }

  async #materializeParents(path: string): Promise<void> {
    const names = pathSegments(path);
    if (entryAt(this.#draft.current, names)?.node?.kind === 'directory') return;
    await this.#materializeParents(parentPath(path));
    const record = (await readLower(this.contents.lower, path, this.options))?.record;
    if (record?.kind !== 'directory') {
      const node = this.#node({ kind: 'directory', mode: 0o755, size: 0 }, undefined);
      this.#draft.setEntry(names, { node, base: this.#absent(path) });
      return;
    }
    const from = { path, id: record.id, meta: record.meta };
    const base = {
      path,
      key: keyOf(record),
      state: { kind: record.kind, mode: record.meta.mode, size: 0 },
      at: systemClock(),
    };
    const node: DeltaNode = { id: record.id, kind: 'directory', version: '', from, names: NO_NAMES };
    this.#draft.setEntry(names, { node, base });
  }

  #node(state: EntryState, known: Metadata | undefined): DeltaNode {
    const { kind, mode, hash, size, target } = state;
    const time = systemClock();
    const meta = { uid: 0, gid: 0, atime: time, mtime: time, ctime: time, birthtime: time, ...known, mode };
    return {
      id: `${this.version}/${++this.#copies}`,
      kind,
      version: this.version,
      meta,
      ...(kind === 'file' && { content: { hash: hash as string, size } }),
      ...(kind === 'symlink' && { target }),
      ...(kind === 'directory' && { names: NO_NAMES, listing: this.version }),
    };
  }

  #absent(path: string): Base {
    return { path, key: undefined, state: null, at: systemClock() };
  }

  /** Gives an entry that still differs from the disk its new base, and the state that the attempt has now. */
  async #setBase(
    names: readonly string[],
    entry: DeltaEntry,
    node: DeltaNode | null,
    accepted: AcceptedPath,
  ): Promise<void> {
    const { path, base, now, after } = accepted;
    const record = (await readLower(this.contents.lower, path, this.options))?.record;
    // A base that is not on the disk gets an empty key, so that it is compared by content.
    const key = record !== undefined && sameState(base, after) ? keyOf(record) : undefined;
    const next: DeltaNode | null =
      node === null || now === null || sameState(stateOf(node), now)
        ? node
        : {
            ...node,
            version: this.version,
            meta: { ...(node.meta as Metadata), mode: now.mode },
            content: { hash: now.hash as string, size: now.size },
          };
    if (entry.link !== undefined && next !== null) this.#draft.setInode(entry.link, next);
    const held = entry.link === undefined ? { node: next } : { node: null, link: entry.link };
    this.#draft.setEntry(names, { ...held, base: { path, key: key ?? '', state: base, at: systemClock() } });
  }
}

/** Returns the base of the directory at or above a path that the attempt has hidden; undefined if there is none. */
function hiddenAbove(head: Head, names: readonly string[]): Base | undefined {
  for (let depth = names.length; depth > 0; depth--) {
    const base = entryAt(head, names.slice(0, depth))?.base;
    if (base?.held !== undefined) return base;
  }
  return undefined;
}

/** Reports whether an attempt has removed a directory above a path. */
function isHidden(head: Head, names: readonly string[]): boolean {
  for (let depth = 1; depth < names.length; depth++) {
    const entry = entryAt(head, names.slice(0, depth));
    if (entry === undefined) return false;
    if (entry.node === null) return true;
  }
  return false;
}
