import { type BackendCall, compareNames, type NodeRecord, pathSegments, type Version } from '@scratchfs/core';
import { keyOf, type Lower, nodeAt } from '../backend/lower.js';
import {
  type Base,
  type ContentRef,
  type DeltaConflict,
  type DeltaEntry,
  type DeltaNode,
  entryAt,
  type Head,
  isBaseOf,
  isEqualChange,
  isSameState,
  NO_NAMES,
  newestBase,
  nodeOf,
  startOf,
  stateOf,
  visitNames,
} from '../delta/delta-node.js';
import { Draft } from '../delta/draft.js';
import { type Contents, ifReadable } from '../log/contents.js';
import type { Conflict, EntryState } from '../operation.js';
import { Captures, missingBase, stateOfRecord } from './capture.js';
import { isRacy } from './racy.js';
import { mergeContents, mergeWhole } from './three-way.js';

/** Result of comparing changed paths with the disk. */
export interface Refreshed {
  readonly head: Head;
  /** Paths at which changes of the disk were taken over, or are now equal to those of the attempt. Sorted. */
  readonly merged: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** True if `merged` is not empty, or a conflict was not known. */
  readonly isNew: boolean;
  /** Contents to store before the head is stored. */
  readonly hashes: ReadonlySet<string>;
}

/** A changed name to compare with the disk. */
interface Candidate {
  readonly path: string;
  readonly entry: DeltaEntry;
  readonly base: Base;
}

/** Compares what an attempt has changed with the disk, and takes over what the person changed there. */
export class Refresher {
  readonly #lower: Lower;
  readonly #contents: Contents;
  /** Keys of lower files, by lower path, that were compared by content long enough after their last modification. */
  readonly #verified = new Map<string, Version>();

  constructor(lower: Lower, contents: Contents) {
    this.#lower = lower;
    this.#contents = contents;
  }

  /**
   * @param paths paths to compare; undefined for all that the attempt has changed
   * @param version version of changed nodes
   */
  async refresh(
    head: Head,
    paths: Iterable<string> | undefined,
    version: Version,
    call: BackendCall | undefined,
  ): Promise<Refreshed> {
    const candidates = paths === undefined ? allOf(head) : candidatesAt(head, paths);
    const records = await this.#lower.paths(
      candidates.map(({ base }) => base.path),
      call,
    );
    const found = candidates
      .map((candidate, i) => ({ candidate, record: nodeAt(candidate.base.path, records[i] ?? []) }))
      .sort((a, b) => rankOf(a.candidate, a.record) - rankOf(b.candidate, b.record));
    const captures = new Captures(this.#lower, this.#contents, call);
    const draft = new Draft(head, version);
    const conflicts: Conflict[] = [];
    const merged: string[] = [];
    let isNew = false;
    for (const { candidate, record } of found) {
      const comparison = new Comparison(this, head, draft, captures, candidate, record, version);
      const conflict = await comparison.run(merged);
      if (conflict !== undefined) conflicts.push(conflict);
      isNew ||= comparison.hasNewConflict;
    }
    isNew ||= merged.length > 0;
    return { head: draft.head, merged: merged.sort(compareNames), conflicts, isNew, hashes: captures.hashes };
  }

  /**
   * Reports whether a lower node is certainly unchanged: by its key, and by content if it was modified too recently.
   */
  async isSame(base: Base, record: NodeRecord | undefined, captures: Captures): Promise<boolean> {
    if (record === undefined || base.key === undefined) return record === undefined && base.key === undefined;
    if (base.key !== keyOf(record)) return false;
    if (!isRacy(base, record)) return true;
    if (this.#verified.get(base.path) === base.key) return true;
    const now = await captures.capture(base.path);
    if (now === undefined || now.base.key !== base.key || now.content?.hash !== base.state?.hash) return false;
    if (!isRacy(now.base, now.record)) this.#verified.set(base.path, base.key);
    return true;
  }
}

/**
 * Returns the order in which names are compared. First come those that the person has given to another file: they take
 * nothing over that the person did to the other names. Old names of moved nodes come last: the node first takes over
 * what the person did at its old path.
 */
function rankOf(candidate: Candidate, record: NodeRecord | undefined): number {
  if (candidate.entry.isMoved === true) return 2;
  return isReplaced(candidate, record) ? 0 : 1;
}

/** Reports whether the person has given a name of a file with several names to another file. */
function isReplaced({ entry: { link } }: Candidate, record: NodeRecord | undefined): boolean {
  return link !== undefined && record !== undefined && record.id !== link;
}

/**
 * Reports whether a path must be compared with the disk: the attempt has an entry for it, or a directory above it that
 * is not simply that of the disk.
 */
export function isChangedAt(head: Head, path: string): boolean {
  const names = pathSegments(path);
  for (let depth = 1; depth <= names.length; depth++) {
    const entry = entryAt(head, names.slice(0, depth));
    if (entry === undefined) return false;
    if (entry.node === null || entry.conflict !== undefined || !isLive(entry.node)) return true;
  }
  return names.length > 0;
}

function candidatesAt(head: Head, paths: Iterable<string>): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const path of paths) {
    const names = pathSegments(path);
    for (let depth = 1; depth <= names.length; depth++) {
      const at = `/${names.slice(0, depth).join('/')}`;
      const entry = entryAt(head, names.slice(0, depth));
      if (entry === undefined) break;
      if (!found.has(at)) addCandidate(at, entry, found);
      const moved = entry.isMoved === true && entry.base !== undefined ? movedFrom(head, entry.base.path) : undefined;
      if (moved !== undefined) addCandidate(moved.path, moved.entry, found);
    }
  }
  return [...found.values()];
}

function allOf(head: Head): Candidate[] {
  const found = new Map<string, Candidate>();
  visitNames(head, (path, entry) => addCandidate(path, entry, found));
  return [...found.values()];
}

/** Returns a name of the entry that an attempt has moved away from a lower path; undefined if there is none. */
function movedFrom(head: Head, lowerPath: string): { readonly path: string; readonly entry: DeltaEntry } | undefined {
  const find = (above: string, directory: DeltaNode): ReturnType<typeof movedFrom> => {
    for (const [name, entry] of directory.names ?? NO_NAMES) {
      const path = `${above}/${name}`;
      const node = nodeOf(head, entry);
      if (node?.origin?.path === lowerPath) return { path, entry };
      const found = node?.kind === 'directory' ? find(path, node) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find('', head.root);
}

function addCandidate(path: string, entry: DeltaEntry, found: Map<string, Candidate>): void {
  const { base } = entry;
  if (base !== undefined) found.set(path, { path, entry, base });
}

/** Comparison of one changed name with the disk. */
class Comparison {
  hasNewConflict = false;

  constructor(
    readonly refresher: Refresher,
    /** Head before the refresh. */
    readonly head: Head,
    readonly draft: Draft,
    readonly captures: Captures,
    readonly candidate: Candidate,
    readonly record: NodeRecord | undefined,
    readonly version: Version,
  ) {}

  /** @returns the conflict, if the sides cannot be merged */
  async run(merged: string[]): Promise<Conflict | undefined> {
    const { path, entry, base } = this.candidate;
    const node = nodeOf(this.draft.current, entry);
    // An earlier comparison may have changed the entry, or a directory above it.
    if (entryAt(this.draft.current, pathSegments(path)) !== entry) return undefined;
    if (node !== undefined && isLive(node)) return this.#live(node);
    if (node?.kind === 'directory' && node.from?.isMoved === true) {
      const conflict = await this.#moved(node);
      if (conflict !== undefined) return conflict;
    }
    const isSame = await this.refresher.isSame(base, this.record, this.captures);
    const { conflict: known } = entry;
    const isKnown = known !== undefined && known.isOrigin !== true && known.key === (this.record && keyOf(this.record));
    const now = isSame || isKnown || !this.record ? undefined : await this.captures.capture(base.path);
    const disk = now?.base ?? missingBase(base.path);
    if (!isSame && !isKnown && node?.kind !== 'directory' && isSameState(node ? stateOf(node) : null, disk.state))
      return this.#agree(node, disk, merged);
    const origin = node?.kind === 'file' && !isReplaced(this.candidate, this.record) ? node.origin : undefined;
    if (origin !== undefined && node !== undefined) {
      const conflict = await this.#fileOrigin(node, origin, merged);
      if (conflict !== undefined) return conflict;
    }
    if (known?.isOrigin === true) this.#forgetConflict();
    if (isSame) return undefined;
    if (isKnown) return this.#conflict(known.code, known.disk);
    const current = nodeOf(this.draft.current, entryAt(this.draft.current, pathSegments(path)) as DeltaEntry);
    return this.#compare(current, disk, now?.content, merged);
  }

  /**
   * Merges a change with the disk. If the disk had become equal to the change, the base before that is tried first, so
   * that the change stays if the disk went back; then the equal state, for further changes by the person.
   */
  async #compare(
    node: DeltaNode | undefined,
    disk: Base,
    content: ContentRef | undefined,
    merged: string[],
  ): Promise<Conflict | undefined> {
    const { entry, base } = this.candidate;
    const starts = entry.earlier !== undefined && isEqualChange(entry, node ?? null) ? [entry.earlier, base] : [base];
    let code: Conflict['code'] | undefined;
    for (const { state } of starts) {
      code = await this.#merge(state, node, disk, content, merged);
      if (code === undefined) return undefined;
    }
    return this.#fail(code as Conflict['code'], disk);
  }

  /** Merges with the disk a change that began from a state. Returns the code of the conflict if that is impossible. */
  async #merge(
    before: EntryState | null,
    node: DeltaNode | undefined,
    disk: Base,
    content: ContentRef | undefined,
    merged: string[],
  ): Promise<Conflict['code'] | undefined> {
    const { entry, base } = this.candidate;
    const theirs = disk.state;
    if (isSameState(before, theirs)) return this.#rebase(disk);
    if (node === undefined) {
      if (before === null) return this.#drop(merged);
      if (entry.isMoved !== true) return 'removed';
      const moved = movedFrom(this.draft.current, base.path);
      if (moved === undefined) return 'removed';
      // The moved node takes the person's changes along. If that is impossible, the conflict is found at its new path.
      const origin = nodeOf(this.draft.current, moved.entry)?.origin?.state ?? null;
      return isSameState(origin, theirs) ? this.#rebase(disk) : undefined;
    }
    const ours = stateOf(node);
    if (theirs === null) {
      // A node that was moved or created here does not depend on what was here before.
      if (before === null || node.origin !== undefined) return this.#rebase(disk);
      return isSameState(before, ours) && node.kind !== 'directory' ? this.#drop(merged) : 'removed';
    }
    if (before === null) {
      if (ours.kind !== 'directory' || theirs.kind !== 'directory') return 'exists';
      if (node.from?.isMoved !== true) return this.#join(node, disk);
      // A moved directory goes on showing its own files.
      if (entry.conflict !== undefined) this.#forgetConflict();
      return undefined;
    }
    if (ours.kind !== theirs.kind || before.kind !== theirs.kind) return 'kind';
    const mode = mergeWhole(before.mode, ours.mode, theirs.mode, 'mode');
    if (!mode.ok) return mode.code;
    const meta = { ...(node.meta as NonNullable<DeltaNode['meta']>), mode: mode.value };
    if (node.kind === 'directory') return this.#rebase(disk, { ...node, meta });
    if (node.kind === 'symlink') {
      const target = mergeWhole(before.target, ours.target, theirs.target, 'content');
      return target.ok ? this.#take({ ...node, meta, target: target.value }, disk, merged) : target.code;
    }
    const next = await this.#merged(before, ours, content as ContentRef);
    return typeof next === 'string' ? next : this.#take({ ...node, meta, content: next }, disk, merged);
  }

  /** Merges the content of a file that was moved with what the person did to it at its old path. */
  async #fileOrigin(node: DeltaNode, origin: Base, merged: string[]): Promise<Conflict | undefined> {
    const { path, base, entry } = this.candidate;
    const { link } = entry;
    const record = await this.captures.lower.record(origin.path, this.captures.call);
    if (await this.refresher.isSame(origin, record, this.captures)) return undefined;
    const now = record === undefined ? undefined : await this.captures.capture(origin.path);
    const disk = now?.base ?? missingBase(origin.path);
    if (isSameState(origin.state, disk.state)) return undefined;
    // The origin of a file with several names is that of the name that was moved.
    if (link !== undefined && base.state !== null && !isBaseOf(disk, link)) return undefined;
    if (now?.content === undefined || origin.state?.hash === undefined)
      return this.#failOrigin(now === undefined ? 'removed' : 'kind', disk, origin);
    const next = await this.#merged(origin.state, stateOf(node), now.content);
    if (typeof next === 'string') return this.#failOrigin(next, disk, origin);
    this.#set(this.#separate({ ...node, content: next, origin: disk, version: this.version }, disk));
    merged.push(path);
    return undefined;
  }

  /**
   * Merges contents of three files. Returns the code of the conflict if that is impossible. A content that is not known
   * counts as binary.
   */
  async #merged(before: FileState, ours: FileState, theirs: FileState): Promise<ContentRef | Conflict['code']> {
    if ([before, ours, theirs].some(({ hash }) => hash === undefined)) return 'binary';
    const { call, contents } = this.captures;
    const options = call?.signal === undefined ? {} : { signal: call.signal };
    const result = await mergeContents(contentRef(before), contentRef(ours), contentRef(theirs), (hash) =>
      contents.read(hash, options),
    );
    if (!result.ok) return result.code;
    return result.value instanceof Uint8Array ? this.captures.add(result.value) : result.value;
  }

  /**
   * Compares a directory that shows the lower one. It is a conflict if the lower path is not a directory any more and
   * the attempt has changes in it.
   */
  #live(node: DeltaNode): Conflict | undefined {
    const { base } = this.candidate;
    const isThere = this.record?.kind === 'directory';
    if (isThere || !hasChanges(node)) return undefined;
    const state = this.record === undefined ? null : stateOfRecord(this.record);
    return this.#value(state === null ? 'removed' : 'kind', state, base.state);
  }

  /** Compares a moved directory: a conflict if the one at its old path, which it shows, is gone or another one. */
  async #moved(node: DeltaNode): Promise<Conflict | undefined> {
    const { path, id } = node.from as NonNullable<DeltaNode['from']>;
    const record = await this.captures.lower.record(path, this.captures.call);
    if (record?.kind === 'directory' && record.id === id) return undefined;
    return this.#value('directory', record === undefined ? null : stateOfRecord(record), node.origin?.state ?? null);
  }

  /** Joins the contents of a directory that both sides created. */
  #join(node: DeltaNode, disk: Base): undefined {
    const record = this.record as NodeRecord;
    const names = new Map<string, DeltaEntry>();
    for (const [name, entry] of node.names ?? NO_NAMES)
      names.set(name, { ...entry, base: missingBase(`${disk.path}/${name}`) });
    const from = { path: disk.path, id: record.id, meta: record.meta };
    return this.#rebase(disk, { ...node, from, names, listing: this.version });
  }

  /**
   * Records that the attempt and the disk are equal now. The change stays in the head, so that the attempt still shows
   * what it wrote last if the disk goes back.
   */
  async #agree(node: DeltaNode | undefined, disk: Base, merged: string[]): Promise<undefined> {
    const { path, entry } = this.candidate;
    const old = nodeOf(this.draft.current, entryAt(this.draft.current, pathSegments(path)) as DeltaEntry);
    const earlier = await this.#earlier(disk);
    if (node !== old || !isEqualChange(entry, old ?? null)) merged.push(path);
    if (node !== undefined && (node !== old || node.origin !== undefined)) {
      const { origin: _, ...own } = node;
      this.#set({ ...own, version: this.version });
    }
    this.#keepBegan(disk);
    this.draft.update(pathSegments(path), ({ conflict: _, ...now }) => ({ ...now, base: disk, earlier }));
  }

  /**
   * Returns the disk's state without the change of the attempt: what the change began from, with what the person has
   * changed since. Undefined if the attempt has changed nothing, or the two changes cannot be told apart.
   */
  async #earlier(disk: Base): Promise<Base | undefined> {
    const { entry } = this.candidate;
    const node = nodeOf(this.head, entry) ?? null;
    const start = startOf(entry, node);
    const [ours, before, theirs] = [node && stateOf(node), start?.state, disk.state];
    if (ours === null || theirs === null || isSameState(ours, theirs) || before?.kind !== theirs.kind) return start;
    const mode = mergeWhole(ours.mode, before.mode, theirs.mode, 'mode');
    const target = mergeWhole(ours.target, before.target, theirs.target, 'content');
    const content = theirs.kind === 'file' ? await ifReadable(this.#merged(ours, before, theirs)) : {};
    if (!mode.ok || !target.ok || content === undefined || typeof content === 'string') return undefined;
    const state = { ...theirs, mode: mode.value, target: target.value, ...content };
    return isSameState(state, theirs) ? undefined : { path: disk.path, key: undefined, state, at: disk.at };
  }

  /** Removes a change that has become void from the head, unless it is that of a file with several names. */
  #drop(merged: string[]): undefined {
    const { path, entry } = this.candidate;
    // Another name may lead to the same file.
    if (entry.link !== undefined) return undefined;
    this.draft.setEntry(pathSegments(path), undefined);
    merged.push(path);
  }

  async #take(taken: DeltaNode, disk: Base, merged: string[]): Promise<undefined> {
    const { path } = this.candidate;
    const node = this.#separate(taken, disk);
    if (isSameState(stateOf(node), disk.state)) return this.#agree(node, disk, merged);
    merged.push(path);
    return this.#rebase(disk, node);
  }

  /**
   * If the person has given a name of a file with several names to another file, makes it a file of its own in the attempt
   * too: what they changed there is no change of the other names.
   * @param disk the other file
   * @returns the node with the id that it has then
   */
  #separate(node: DeltaNode, disk: Base): DeltaNode {
    const { path, entry, base } = this.candidate;
    const { link } = entry;
    if (link === undefined || isBaseOf(disk, link)) return node;
    this.#keepBegan(disk);
    const shared = this.draft.current.inodes.get(link) as DeltaNode;
    const { links = 1, origin } = shared;
    const isMoved = base.state === null;
    const left = { ...shared, links: links - 1, origin: isMoved ? undefined : origin, version: this.version };
    this.draft.setInode(link, links > 1 ? left : undefined);
    const id = `${this.version}${path}`;
    const own = { ...node, id, links: undefined, began: undefined, origin: isMoved ? node.origin : undefined };
    this.draft.update(pathSegments(path), ({ link: _, ...now }) => ({ ...now, node: own }));
    return own;
  }

  /**
   * Lets the change begin from the disk as it is now. `held` stays what it was: whatever else the person has put into a
   * directory made anew is theirs.
   */
  #rebase(disk: Base, node?: DeltaNode): undefined {
    const { path, base: old } = this.candidate;
    const names = pathSegments(path);
    const base = old.held === undefined ? disk : { ...old, key: disk.key, state: disk.state };
    if (node !== undefined) this.#set({ ...node, version: this.version });
    this.#keepBegan(disk);
    this.draft.update(names, ({ conflict: _, earlier: __, ...entry }) => ({ ...entry, base }));
  }

  /** Keeps what the change of a file with several names began from, if the person has given this name to another file. */
  #keepBegan(disk: Base): void {
    const { entry } = this.candidate;
    const { link } = entry;
    if (link === undefined || isBaseOf(disk, link)) return;
    const node = this.draft.current.inodes.get(link);
    const began = newestBase(link, node?.began, entry);
    if (node !== undefined && began !== node.began) this.draft.setInode(link, { ...node, began });
  }

  #set(node: DeltaNode): void {
    const names = pathSegments(this.candidate.path);
    const link = entryAt(this.draft.current, names)?.link;
    if (link !== undefined) this.draft.setInode(link, node);
    else this.draft.update(names, (old) => ({ ...old, node }));
  }

  #fail(code: Conflict['code'], disk: Base): Conflict {
    this.#note({ code, key: disk.key, disk: disk.state, at: disk.at });
    return this.#conflict(code, disk.state);
  }

  #failOrigin(code: Conflict['code'], { key, state, at }: Base, origin: Base): Conflict {
    const { conflict: known } = this.candidate.entry;
    if (known?.isOrigin !== true || known.key !== key) this.#note({ code, key, disk: state, at, isOrigin: true });
    return this.#value(code, state, origin.state);
  }

  #forgetConflict(): void {
    this.draft.update(pathSegments(this.candidate.path), ({ conflict: _, ...entry }) => entry);
  }

  #note(conflict: DeltaConflict): void {
    const names = pathSegments(this.candidate.path);
    this.hasNewConflict = true;
    this.draft.update(names, (entry) => ({ ...entry, conflict }));
    // A new version, so that a caller who read the file before must read it again before a write can settle the
    // conflict.
    const node = nodeOf(this.draft.current, entryAt(this.draft.current, names) as DeltaEntry);
    if (node !== undefined) this.#set({ ...node, version: this.version });
  }

  #conflict(code: Conflict['code'], disk: EntryState | null): Conflict {
    return this.#value(code, disk, this.candidate.base.state);
  }

  #value(code: Conflict['code'], disk: EntryState | null, base: EntryState | null): Conflict {
    const { path, entry } = this.candidate;
    const node = nodeOf(this.draft.current, entry);
    return { path, code, base, disk, attempt: node === undefined ? null : stateOf(node) };
  }
}

type FileState = Pick<EntryState, 'hash' | 'size'>;

function contentRef({ hash, size }: FileState): ContentRef {
  return { hash: hash as string, size };
}

function isLive(node: DeltaNode): boolean {
  return node.kind === 'directory' && node.meta === undefined && node.from !== undefined && node.from.isMoved !== true;
}

function hasChanges(node: DeltaNode): boolean {
  for (const { node: child, link } of node.names?.values() ?? [])
    if (link !== undefined || child === null || !isLive(child) || hasChanges(child)) return true;
  return false;
}
