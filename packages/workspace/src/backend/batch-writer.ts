import {
  type BackendCall,
  baseName,
  isWholeWrite,
  joinPath,
  type Metadata,
  type NodeId,
  type NodeRecord,
  pathSegments,
  StorageError,
  systemClock,
  type Version,
  type Write,
} from '@scratchfs/core';
import { dropDangling } from '../delta/dangling.js';
import {
  type Base,
  baseOfLink,
  type ContentRef,
  type DeltaEntry,
  type DeltaNode,
  entryAt,
  type Head,
  NO_NAMES,
  newestBase,
  nodeOf,
} from '../delta/delta-node.js';
import { Draft } from '../delta/draft.js';
import { encodeHeld, heldIn } from '../delta/held.js';
import { raiseLinks } from '../delta/links.js';
import { shownId } from '../delta/own-ids.js';
import type { Contents } from '../log/contents.js';
import { type Captured, Captures, missingBase, stateOfRecord } from '../refresh/capture.js';
import { keyOf, type Lower } from './lower.js';
import { View } from './view.js';

/** A name in a head, with its entry. */
interface Place {
  readonly names: readonly string[];
  readonly entry: DeltaEntry | undefined;
  /** Lower path of the name. Undefined if no lower directory shows through the directory. */
  readonly lowerPath: string | undefined;
}

/** Largest content of a file in bytes. Contents are held in memory while they are written. */
export const MAX_CONTENT = 2 ** 30;

/** Applies the writes of a batch to a head. Reads entries of the lower directory that change for the first time. */
export class BatchWriter {
  readonly #draft: Draft;
  /** Head before the batch. */
  readonly #before: Head;
  readonly #lower: Lower;
  readonly #contents: Contents;
  readonly #version: Version;
  readonly #call: BackendCall | undefined;
  readonly #captures: Captures;
  #copies = 0;

  constructor(head: Head, lower: Lower, contents: Contents, version: Version, call: BackendCall | undefined) {
    this.#draft = new Draft(head, version);
    this.#before = head;
    this.#lower = lower;
    this.#contents = contents;
    this.#version = version;
    this.#call = call;
    this.#captures = new Captures(lower, contents, call);
  }

  /** Hashes of the contents to store for the head. */
  get hashes(): ReadonlySet<string> {
    return this.#captures.hashes;
  }

  get head(): Head {
    return this.#draft.head;
  }

  async apply(write: Write): Promise<void> {
    switch (write.kind) {
      case 'create':
        return this.#create(write);
      case 'link':
        return this.#link(write.from, write.path);
      case 'remove':
        return this.#remove(write.path, write.time);
      case 'move':
        return this.#move(write.from, write.to, write.time);
      case 'copy':
        return this.#copy(write);
      case 'write':
        return this.#write(write);
      case 'meta':
        await this.#own(write.path);
        return this.#change(write.path, (node) => ({ ...node, meta: write.meta, touched: undefined }));
      case 'touch':
        await this.#directory(pathSegments(write.path));
        return this.#change(write.path, (node) =>
          node.meta === undefined
            ? { ...node, touched: write.time }
            : { ...node, meta: { ...node.meta, mtime: write.time, ctime: write.time } },
        );
      case 'clear':
        return this.#clear(write.meta);
    }
  }

  async #create(write: Extract<Write, { kind: 'create' }>): Promise<void> {
    const { id, type: kind, meta, target } = write;
    const place = await this.#place(write.path);
    const node: DeltaNode = {
      id,
      kind,
      version: this.#version,
      meta,
      ...(kind === 'file' && { content: this.#captures.add((write.content ?? new Uint8Array(0)).slice()) }),
      ...(kind === 'symlink' && { target }),
      ...(kind === 'directory' && { names: NO_NAMES, listing: this.#version }),
    };
    this.#draft.setEntry(place.names, { node, base: this.#newBase(place) });
  }

  async #link(from: string, path: string): Promise<void> {
    await this.#own(from);
    const names = pathSegments(from);
    const entry = entryAt(this.#draft.current, names) as DeltaEntry;
    const node = nodeOf(this.#draft.current, entry) as DeltaNode;
    this.#draft.setInode(node.id, { ...node, version: this.#version, links: (node.links ?? 1) + 1 });
    if (entry.link === undefined) this.#draft.setEntry(names, { ...entry, node: null, link: node.id });
    const place = await this.#place(path);
    this.#draft.setEntry(place.names, { node: null, link: node.id, base: this.#newBase(place) });
  }

  async #remove(path: string, time: number): Promise<void> {
    const place = await this.#place(path);
    const { entry } = place;
    const gone = new Set<NodeId>();
    if (entry !== undefined) this.#unlink(entry, time, gone);
    await this.#free(place);
    dropDangling(this.#draft, gone);
  }

  /** Makes a name lead to nothing. */
  async #free({ names, entry, lowerPath }: Place, isMoved = false): Promise<void> {
    const base = await this.#withHeld(
      entry === undefined ? await this.#baseOnDisk(lowerPath as string) : entry.base,
      entry,
      isMoved,
    );
    const wasThere = base !== undefined && base.state !== null;
    this.#draft.setEntry(names, wasThere ? { node: null, base, ...(isMoved && { isMoved }) } : undefined);
  }

  /**
   * If a lower directory is about to be hidden, returns its base with the list of what it holds; otherwise the base as
   * it is. The directory is the one that the disk has now: the person may have made it anew since the attempt first
   * changed something in it.
   */
  async #withHeld(base: Base | undefined, entry: DeltaEntry | undefined, isMoved: boolean): Promise<Base | undefined> {
    const isShown = entry === undefined || entry.node?.from?.path === base?.path;
    if (base?.state?.kind !== 'directory' || base.key === undefined || !isShown) return base;
    const at = systemClock();
    const record = await this.#lower.record(base.path, this.#call);
    if (record?.kind !== 'directory') return base;
    const top = { path: base.path, id: record.id, node: entry?.node ?? undefined };
    const held = encodeHeld(await heldIn(this.#lower, this.#contents, this.#draft.current, top, !isMoved, this.#call));
    const state = entry?.node?.meta === undefined ? stateOfRecord(record) : base.state;
    return { ...base, key: keyOf(record), state, at, held: this.#captures.add(held).hash };
  }

  /**
   * Lowers the link counts of files whose names disappear with an entry.
   * @param gone receives the ids of files without a name
   */
  #unlink(removed: DeltaEntry, time: number, gone: Set<NodeId>): void {
    const { node, link } = removed;
    if (link !== undefined) {
      const inode = this.#draft.current.inodes.get(link) as DeltaNode;
      const links = (inode.links ?? 1) - 1;
      const meta = { ...(inode.meta as Metadata), ctime: time };
      const began = newestBase(link, inode.began, removed);
      this.#draft.setInode(link, links < 1 ? undefined : { ...inode, links, meta, began, version: this.#version });
      if (links < 1) gone.add(link);
    }
    for (const entry of node?.names?.values() ?? []) this.#unlink(entry, time, gone);
  }

  /** Lets a directory begin from the one that the disk has at its path now: the person may have made it anew. */
  async #rebind(path: string): Promise<void> {
    const names = pathSegments(path);
    const from = entryAt(this.#draft.current, names)?.node?.from;
    if (from === undefined || from.isMoved === true) return;
    const record = await this.#lower.record(from.path, this.#call);
    if (record?.kind !== 'directory' || record.id === from.id) return;
    const { id, meta } = record;
    this.#draft.update(names, (entry) => ({
      ...entry,
      ...(entry.base && { base: { ...entry.base, key: keyOf(record) } }),
      node: { ...(entry.node as DeltaNode), from: { ...from, id, meta } },
    }));
  }

  async #move(from: string, to: string, time: number): Promise<void> {
    await this.#own(from);
    await this.#rebind(from);
    const source = await this.#place(from);
    const entry = source.entry as DeltaEntry;
    const { node, link, base } = entry;
    const target = await this.#place(to);
    await this.#free(source, true);
    const moved = { ...(link === undefined ? node : this.#draft.current.inodes.get(link)) } as DeltaNode;
    const next: DeltaNode = {
      ...moved,
      version: this.#version,
      meta: { ...(moved.meta as Metadata), ctime: time },
      origin: moved.origin ?? (base?.state ? base : undefined),
      ...(moved.from && { from: { ...moved.from, isMoved: moved.from.path !== target.lowerPath } }),
    };
    if (link !== undefined) this.#draft.setInode(link, { ...next, began: newestBase(link, next.began, entry) });
    const held = link === undefined ? { node: next } : { node: null, link };
    this.#draft.setEntry(target.names, { ...held, base: this.#newBase(target) });
  }

  async #write(write: Extract<Write, { kind: 'write' }>): Promise<void> {
    await this.#own(write.path);
    const entry = entryAt(this.#draft.current, pathSegments(write.path)) as DeltaEntry;
    const { content } = nodeOf(this.#draft.current, entry) as DeltaNode;
    let bytes: Uint8Array;
    if (isWholeWrite(write)) bytes = (write.parts[0]?.bytes ?? new Uint8Array(0)).slice();
    else {
      const old = await this.#contents.read((content as ContentRef).hash, this.#options);
      bytes = new Uint8Array(write.size);
      bytes.set(old.subarray(0, write.size));
      for (const part of write.parts) bytes.set(part.bytes, part.offset);
    }
    const next = this.#captures.add(bytes);
    this.#change(write.path, (node) => ({ ...node, content: next, meta: write.meta }));
  }

  /** Removes everything that the root shows, and sets its metadata. */
  async #clear(meta: Metadata): Promise<void> {
    const { head } = this.#draft;
    const view = new View(head, this.#lower, this.#contents);
    for (let after: string | undefined, isComplete = false; !isComplete; ) {
      const at = { path: '/', id: head.root.id };
      const list = await view.load({ kind: 'list', at, after, limit: 10_000 }, this.#call);
      if (list.kind !== 'list') throw missing();
      for (const name of list.names) await this.#remove(`/${name}`, meta.ctime);
      after = list.names.at(-1);
      isComplete = list.complete || after === undefined;
    }
    this.#change('/', (node) => ({ ...node, meta, touched: undefined }));
  }

  async #copy(write: Extract<Write, { kind: 'copy' }>): Promise<void> {
    const view = new View(this.#draft.head, this.#lower, this.#contents);
    const [record] = await view.records([write.from], this.#call);
    if (!record) throw new StorageError('conflict', 'The source of a copy has vanished');
    const node = await this.#copied(view, write.from, record, write, { id: write.id, meta: write.meta });
    const place = await this.#place(write.to);
    this.#draft.setEntry(place.names, { node, base: this.#newBase(place) });
  }

  async #copied(
    view: View,
    path: string,
    record: NodeRecord,
    write: Extract<Write, { kind: 'copy' }>,
    { id, meta }: { readonly id: NodeId; readonly meta: Metadata },
  ): Promise<DeltaNode> {
    const { kind, target } = record;
    const node = { id, kind, version: this.#version, meta };
    if (kind === 'symlink') return { ...node, target };
    if (kind === 'file') return { ...node, content: await this.#contentOf(view, path, record) };
    const names = new Map<string, DeltaEntry>();
    const { time } = write;
    for (let after: string | undefined, isComplete = false; !isComplete; ) {
      const list = await view.load({ kind: 'list', at: { path, id: record.id }, after, limit: 10_000 }, this.#call);
      if (list.kind !== 'list') throw new StorageError('conflict', 'A directory vanished while it was copied');
      for (const [i, name] of list.names.entries()) {
        const child = list.nodes[i] as NodeRecord;
        const times = { ctime: time, birthtime: time, ...(!write.keepTimes && { atime: time, mtime: time }) };
        const copy = {
          id: `${write.id}/${++this.#copies}`,
          meta: { ...child.meta, uid: 0, gid: 0, ...times },
        };
        names.set(name, { node: await this.#copied(view, joinPath(path, name), child, write, copy) });
      }
      after = list.names.at(-1);
      isComplete = list.complete || after === undefined;
    }
    return { ...node, names, listing: this.#version };
  }

  async #contentOf(view: View, path: string, record: NodeRecord): Promise<ContentRef> {
    const entry = entryAt(view.head, pathSegments(path));
    const known = entry && nodeOf(view.head, entry);
    const content = known?.content ?? view.head.inodes.get(record.id)?.content;
    if (content !== undefined) return content;
    const lowerPath = view.lowerPathOf(path);
    const captured = lowerPath === undefined ? undefined : await this.#captures.capture(lowerPath);
    if (captured?.content === undefined) throw new StorageError('conflict', 'A file vanished while it was copied');
    return captured.content;
  }

  /** Gives a path a node of the attempt, if it has none, with metadata and content of its own. */
  async #own(path: string): Promise<void> {
    const place = await this.#place(path);
    const { names, entry } = place;
    if (entry === undefined) {
      const captured = await this.#captures.capture(place.lowerPath as string);
      if (captured === undefined) throw new StorageError('conflict', 'A file of the directory has vanished');
      const { record } = captured;
      if (record.kind === 'directory') await this.#directory(names);
      else {
        const node = this.#nodeOf(captured);
        const { base } = captured;
        const isOther = node.id !== record.id;
        if (this.#draft.current.inodes.has(node.id)) this.#addName(names, node.id, base);
        else if (record.links === 1 || isOther) this.#draft.setEntry(names, { node, base });
        else {
          this.#draft.setInode(node.id, { ...node, links: record.links });
          this.#draft.setEntry(names, { node: null, link: node.id, base });
        }
        return;
      }
    }
    const node = names.length === 0 ? this.#draft.current.root : entryAt(this.#draft.current, names)?.node;
    if (node?.kind !== 'directory' || node.meta !== undefined || node.from === undefined) return;
    const live = await this.#lower.record(node.from.path, this.#call);
    const own = live?.kind === 'directory' ? live.meta : node.from.meta;
    const meta = node.touched === undefined ? own : { ...own, mtime: node.touched, ctime: node.touched };
    this.#change(path, (node) => ({ ...node, meta, touched: undefined }));
  }

  /** Adds an entry for a name of the disk whose file the attempt has changed under another name. */
  async addName(path: string): Promise<void> {
    const { names, entry, lowerPath } = await this.#place(path);
    const captured = entry === undefined ? await this.#captures.capture(lowerPath as string) : undefined;
    if (captured === undefined || !this.#draft.current.inodes.has(captured.record.id)) return;
    this.#addName(names, captured.record.id, captured.base);
  }

  #addName(names: readonly string[], link: NodeId, now: Base): void {
    this.#draft.setEntry(names, { node: null, link, base: this.#baseOfName(link, now) });
    raiseLinks(this.#draft, this.#version);
  }

  /** Returns the base of a name that the attempt has not used. */
  async #baseOnDisk(lowerPath: string): Promise<Base> {
    const captured = await this.#captures.capture(lowerPath);
    if (captured === undefined) return missingBase(lowerPath);
    const { record, base } = captured;
    return this.#draft.current.inodes.has(record.id) ? this.#baseOfName(record.id, base) : base;
  }

  /**
   * Returns the base of a name of a file that the attempt has changed under another name.
   * @param now base of the name as the disk is now: the change of the file may have begun from an older state
   */
  #baseOfName(link: NodeId, now: Base): Base {
    const began = baseOfLink(this.#draft.current, link) ?? now;
    const isSame = began.state?.hash === now.state?.hash && began.state?.mode === now.state?.mode;
    // An empty key matches no version of the disk, so the next refresh compares the name by content.
    return isSame ? now : { ...now, key: '', state: began.state };
  }

  #nodeOf({ record, content }: Captured): DeltaNode {
    const { kind, meta, target } = record;
    return {
      id: shownId(this.#before, record.id),
      kind,
      version: this.#version,
      meta,
      ...(content && { content }),
      ...(kind === 'symlink' && { target }),
    };
  }

  #change(path: string, change: (node: DeltaNode) => DeltaNode): void {
    const names = pathSegments(path);
    const next = (node: DeltaNode): DeltaNode => ({ ...change(node), version: this.#version });
    const { link } = (names.length === 0 ? {} : entryAt(this.#draft.current, names)) as DeltaEntry;
    if (link !== undefined) {
      this.#draft.setInode(link, next(this.#draft.current.inodes.get(link) as DeltaNode));
      return;
    }
    this.#draft.update(names, (entry) => ({ ...entry, node: next(entry.node as DeltaNode) }));
  }

  /**
   * Returns a name, after giving each directory above it a node of the attempt.
   * @throws StorageError `conflict` if one is gone
   */
  async #place(path: string): Promise<Place> {
    const names = pathSegments(path);
    if (names.length === 0) return { names, entry: { node: this.#draft.current.root }, lowerPath: '/' };
    const parent = await this.#directory(names.slice(0, -1));
    const name = baseName(path);
    return { names, entry: parent.names?.get(name), lowerPath: parent.from && joinPath(parent.from.path, name) };
  }

  /** Gives a directory and those above it nodes of the attempt, and returns its node. */
  async #directory(names: readonly string[]): Promise<DeltaNode> {
    let node = this.#draft.current.root;
    let records: readonly (NodeRecord | null)[] | undefined;
    for (const [i, name] of names.entries()) {
      const known = node.names?.get(name)?.node;
      if (known?.kind === 'directory') {
        node = known;
        continue;
      }
      if (node.from === undefined || known !== undefined) throw missing();
      const path = joinPath(node.from.path, name);
      records ??= (await this.#lower.paths([names.slice(i).reduce(joinPath, node.from.path)], this.#call))[0];
      const record = records?.[pathSegments(path).length];
      if (record?.kind !== 'directory') throw missing();
      const from = { path, id: record.id, meta: record.meta };
      const base: Base = { path, key: keyOf(record), state: stateOfRecord(record), at: systemClock() };
      node = { id: shownId(this.#before, record.id), kind: 'directory', version: '', from, names: NO_NAMES };
      this.#draft.setEntry(names.slice(0, i + 1), { node, base });
    }
    return node;
  }

  #newBase({ entry, lowerPath }: Place): Base | undefined {
    if (entry !== undefined) return entry.base;
    return lowerPath === undefined ? undefined : missingBase(lowerPath);
  }

  get #options(): { readonly signal?: AbortSignal } {
    return this.#call?.signal === undefined ? {} : { signal: this.#call.signal };
  }
}

function missing(): StorageError {
  return new StorageError('conflict', 'A directory above the change has vanished');
}
