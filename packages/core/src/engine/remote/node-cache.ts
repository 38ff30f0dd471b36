import {
  type Check,
  isWholeWrite,
  type Listing,
  type LoadRequest,
  type LoadResult,
  type Metadata,
  type NodeAddress,
  type NodeId,
  type NodeRecord,
  type Part,
  UNKNOWN_VERSION,
  type Version,
  type Write,
} from '../../backend.js';
import { compareNames, parentPath, pathSegments } from '../../paths.js';
import type { Unloaded } from '../../tree/node.js';
import type { Steps } from '../scheduling/time-slice.js';
import { MAX_LINEAR_CHECKS } from './preconditions.js';

interface CachedDirectory {
  listing: Version;
  /** Names with the ids that they lead to; null: known to be missing. */
  readonly names: Map<string, NodeId | null>;
  /** All names, sorted, if all are known. */
  sorted: readonly string[] | undefined;
  /** Last name of the pages that were loaded without a gap from the start; undefined if there is none. */
  covered: string | undefined;
}

/** All names of a directory, sorted. */
export interface CachedNames {
  readonly version: Version;
  readonly names: readonly string[];
  /** Returns the record of a name, or undefined if it is unknown. */
  readonly recordOf: (name: string) => NodeRecord | undefined;
}

/** An operation that needs its loaded data to stay cached; see {@link NodeCache.use}. */
export interface Use {
  goOn(): void;
  end(): void;
}

/** Number of cached names above which the cache is cleared. {@link NodeCache.use} can raise it. */
const MAX_NAMES = 200_000;
/** Bytes of cached contents above which the cache is cleared. {@link NodeCache.use} can raise it. */
const MAX_BYTES = 64 * 2 ** 20;
/** Number of remembered loads above which the order of all of them is forgotten. */
const MAX_LOADS = 4_096;
/** Load number of records that belong to no load, such as those changed by this client's own writes. */
const OWN = 0;
/** Maximum number of cached ranges per file. */
const MAX_PIECES = 64;

/** The versions of nodes that the preconditions of an accepted batch confirmed. */
class CheckedVersions {
  #versions: Map<NodeId | null, Version | undefined> | undefined;

  constructor(private readonly checks: readonly Check[]) {}

  has({ id, version }: NodeRecord): boolean {
    if (this.checks.length <= MAX_LINEAR_CHECKS) {
      const last = this.checks.findLast((check) => check.id === id && isOfVersion(check));
      return last !== undefined && isOfVersion(last) && last.version === version;
    }
    this.#versions ??= new Map(this.checks.filter(isOfVersion).map((check) => [check.id, check.version]));
    return this.#versions.get(id) === version;
  }
}

function isOfVersion(check: Check): check is Extract<Check, { kind: 'entry' }> {
  return check.kind === 'entry' && check.id !== null && check.version !== undefined;
}

const NOTHING_CHECKED = new CheckedVersions([]);

/**
 * A client's cache of a remote storage. Its data may be stale: preconditions confirm what an operation used, unless all
 * of that is known to be from one point in time. Each record has the number of the load that returned it, negative if
 * the data may be older than the load, or {@link OWN}. Records of one load are from one point in time.
 */
export class NodeCache {
  #nodes = new Map<NodeId, { readonly record: NodeRecord; readonly load: number }>();
  /** For each remembered load: the number of loads sent by the time it completed. */
  readonly #sent = new Map<number, number>();
  #directories = new Map<NodeId, CachedDirectory>();
  /** Files and symlinks that had several names when they were cached. */
  #linked = new Set<NodeId>();
  #contents = new Map<NodeId, { readonly version: Version; readonly pieces: readonly Part[] }>();
  #root: NodeId | undefined;
  #names = 0;
  #bytes = 0;
  /** Number of times that the cache was cleared. */
  #clears = 0;
  /** Number of times that the cache was cleared for lack of space. */
  #overflows = 0;
  /** Size multipliers of running operations that need all their data at the same time. */
  readonly #rooms = new Set<{ times: number }>();
  /** True if a node that the applied batch changed cannot be found by its path. */
  #isLost = false;
  /** Versions checked by the applied batch. */
  #checked = NOTHING_CHECKED;
  #changes = 0;

  /** Counts changes and removals of cached records, except by `clear`. */
  get changes(): number {
    return this.#changes;
  }

  get root(): NodeRecord | undefined {
    return this.#root === undefined ? undefined : this.#nodes.get(this.#root)?.record;
  }

  clear(): void {
    this.#nodes = new Map();
    this.#linked = new Set();
    this.#directories = new Map();
    this.#contents = new Map();
    this.#root = undefined;
    this.#names = 0;
    this.#bytes = 0;
    this.#clears += 1;
  }

  /**
   * Starts a use, for an operation that needs its loaded data to stay cached. The operation calls `goOn` before each
   * load. If the cache was cleared for lack of space since the call before, its size limits become twice what they were
   * then, until the use ends.
   */
  use(): Use {
    const mine = { times: 1 };
    this.#rooms.add(mine);
    let [room, overflows] = [this.#room, this.#overflows];
    return {
      goOn: () => {
        if (this.#overflows > overflows) mine.times = 2 * room;
        [room, overflows] = [this.#room, this.#overflows];
      },
      end: () => this.#rooms.delete(mine),
    };
  }

  get #room(): number {
    let most = 1;
    for (const { times } of this.#rooms) most = Math.max(most, times);
    return most;
  }

  /** Takes over the cached data of another cache, and clears that one. */
  #take(other: NodeCache): void {
    this.#nodes = other.#nodes;
    this.#linked = other.#linked;
    this.#directories = other.#directories;
    this.#contents = other.#contents;
    this.#root = other.#root;
    this.#names = other.#names;
    this.#bytes = other.#bytes;
    other.clear();
  }

  /** Removes what failed preconditions show to be stale. Other stale data may stay. */
  forget(checks: readonly Check[]): void {
    for (const check of checks) {
      if (check.path === '/' && check.kind === 'entry' && check.version === undefined) this.clear();
      else if (check.kind === 'entry' && check.id !== null && check.version !== undefined) this.#forgetNode(check.id);
      else if (check.kind === 'entry') this.#forgetName(check.path);
      else if (check.kind === 'tree') this.#forgetNode(check.id);
      else this.#forget(check.id);
    }
  }

  #forgetName(path: string): void {
    const directory = this.#namesOf(this.#idAt(parentPath(path)));
    if (directory === undefined) return;
    if (directory.names.delete(path.slice(path.lastIndexOf('/') + 1))) this.#names -= 1;
    directory.sorted = undefined;
    directory.covered = undefined;
  }

  record(id: NodeId): NodeRecord | undefined {
    return this.#nodes.get(id)?.record;
  }

  loadOf(id: NodeId): number {
    return this.#nodes.get(id)?.load ?? OWN;
  }

  /** Reports whether a node's record is known to be from the same point in time as another's, or from a later one. */
  isSince(id: NodeId, earlier: NodeId): boolean {
    const [load, since] = [this.loadOf(id), this.loadOf(earlier)];
    return since !== OWN && (load === since || Math.abs(load) > (this.#sent.get(since) ?? Number.POSITIVE_INFINITY));
  }

  entry(directory: NodeId, name: string): NodeRecord | null | undefined {
    const known = this.#directories.get(directory);
    const id = known?.names.get(name);
    if (id === undefined) return known?.sorted === undefined ? undefined : null;
    return id === null ? null : this.#nodes.get(id)?.record;
  }

  /**
   * Returns all names of a directory and access to their current records; undefined if not all names are known. The
   * list of names is a new object whenever the names have changed.
   */
  names(directory: NodeId): CachedNames | undefined {
    const known = this.#directories.get(directory);
    if (known?.sorted === undefined) return undefined;
    const { listing: version, sorted: names } = known;
    return { version, names, recordOf: (name) => this.#node(known.names.get(name))?.record };
  }

  /** Returns the address of a known directory, if its names are not all known and there are at most `most` of them. */
  unlisted(path: string, most: number): NodeAddress | undefined {
    const record = this.#node(this.#idAt(path))?.record;
    if (record?.directory === undefined || record.directory.count > most) return undefined;
    return this.#directories.get(record.id)?.sorted === undefined ? { path, id: record.id } : undefined;
  }

  range(file: Unloaded, offset: number, length: number): Uint8Array | undefined {
    const known = this.#contents.get(file.address.id);
    if (known?.version !== file.version) return undefined;
    const piece = known.pieces.find((one) => one.offset <= offset && one.offset + one.bytes.length >= offset + length);
    return piece?.bytes.subarray(offset - piece.offset, offset - piece.offset + length);
  }

  /** Stores a result of the load with the number `load`. `sent`: number of loads sent by now. */
  add(request: LoadRequest, result: LoadResult, load: number, sent = Math.abs(load), keepsContents = true): void {
    if (this.#sent.size > MAX_LOADS) this.#sent.clear();
    this.#sent.set(load, sent);
    const room = this.#room;
    if (this.#names > room * MAX_NAMES || this.#bytes > room * MAX_BYTES) {
      this.clear();
      this.#overflows += 1;
    }
    if (result.kind === 'gone') {
      if (request.kind !== 'path') this.#forget(request.at.id);
    } else if (result.kind === 'path' && request.kind === 'path')
      this.#addPath(request.path, result, load, keepsContents);
    else if (result.kind === 'content') {
      this.#addNode(result.file, load);
      if (keepsContents) this.#addPiece(result.file, result.offset, result.bytes);
    } else if (result.kind === 'list') {
      this.#addNode(result.directory, load);
      this.#addPage(request.kind === 'list' ? request.after : undefined, result, load);
    } else if (result.kind === 'tree') this.#addTree(result.directory, result.listings, load, keepsContents);
  }

  #addPath(path: string, result: Extract<LoadResult, { kind: 'path' }>, load: number, keepsContents: boolean): void {
    const { nodes, content } = result;
    const names = pathSegments(path);
    const root = nodes[0];
    if (root === undefined || root === null) return;
    this.#root = root.id;
    this.#addNode(root, load);
    for (let i = 1; i < nodes.length; i++) {
      const parent = nodes[i - 1] as NodeRecord;
      const node = nodes[i] as NodeRecord | null;
      if (node !== null) this.#addNode(node, load);
      this.#setName(this.#directory(parent), names[i - 1] as string, node?.id ?? null);
    }
    const last = nodes.at(-1);
    if (keepsContents && content !== undefined && last !== null && last !== undefined) this.#addContent(last, content);
  }

  #addTree(directory: NodeRecord, listings: readonly Listing[], load: number, keepsContents: boolean): void {
    this.#addNode(directory, load);
    const byPath = new Map([['', directory]]);
    for (const { path, names, nodes, contents } of listings) {
      const parent = byPath.get(path);
      if (parent === undefined) continue;
      this.#addListing(parent, names, nodes, true, load);
      names.forEach((name, i) => {
        const node = nodes[i] as NodeRecord;
        if (node.kind === 'directory') byPath.set(path === '' ? name : `${path}/${name}`, node);
        const bytes = keepsContents ? contents?.[i] : undefined;
        if (bytes !== undefined) this.#addContent(node, bytes);
      });
    }
  }

  /** Adds a page. Pages form a complete listing only if all have the same version. */
  #addPage(after: string | undefined, result: Extract<LoadResult, { kind: 'list' }>, load: number): void {
    const { names, nodes, complete } = result;
    const directory = this.#directory(result.directory);
    const { covered } = directory;
    const isNext = after === undefined || (covered !== undefined && compareNames(after, covered) <= 0);
    this.#addListing(result.directory, names, nodes, complete && isNext, load);
    const last = names.at(-1);
    // Another listing in progress may have loaded more pages.
    if (isNext && last !== undefined && (covered === undefined || compareNames(covered, last) < 0))
      directory.covered = last;
  }

  #addListing(
    record: NodeRecord,
    names: readonly string[],
    nodes: readonly NodeRecord[],
    complete: boolean,
    load: number,
  ): void {
    const directory = this.#directory(record);
    names.forEach((name, i) => {
      const node = nodes[i] as NodeRecord;
      this.#addNode(node, load);
      this.#setName(directory, name, node.id);
    });
    if (complete) {
      const all: string[] = [];
      for (const [name, id] of directory.names) if (id !== null) all.push(name);
      directory.sorted = all.sort(compareNames);
    }
  }

  #setNode(record: NodeRecord, load: number): void {
    const before = this.#nodes.get(record.id)?.record;
    if (before !== undefined && !isSameState(before, record)) this.#changes += 1;
    this.#nodes.set(record.id, { record, load });
  }

  #forgetNode(id: NodeId): void {
    if (this.#nodes.delete(id)) this.#changes += 1;
  }

  #addNode(record: NodeRecord, load: number): void {
    this.#setNode(record, load);
    if (record.links > 1) this.#linked.add(record.id);
    // Names of another listing version must not be used for this one.
    if (load !== OWN && record.directory !== undefined) this.#directory(record);
  }

  #addContent(record: NodeRecord, bytes: Uint8Array): void {
    if (bytes.byteLength !== record.size) return;
    this.#bytes += bytes.byteLength - this.#lengthKnown(record.id);
    this.#contents.set(record.id, { version: record.version, pieces: [{ offset: 0, bytes }] });
  }

  dropContent(id: NodeId | null | undefined): void {
    this.#bytes -= this.#lengthKnown(id as NodeId);
    this.#contents.delete(id as NodeId);
  }

  #lengthKnown(id: NodeId): number {
    const known = this.#contents.get(id);
    return known === undefined ? 0 : lengthOf(known.pieces);
  }

  /** Stores a range of a file's content, beside other ranges of the same version. */
  #addPiece(record: NodeRecord, offset: number, bytes: Uint8Array): void {
    const known = this.#contents.get(record.id);
    const before = known === undefined ? [] : known.pieces;
    const same = known?.version === record.version ? before.filter((one) => one.offset !== offset) : [];
    const pieces = [...same.slice(1 - MAX_PIECES), { offset, bytes }];
    this.#bytes += lengthOf(pieces) - lengthOf(before);
    this.#contents.set(record.id, { version: record.version, pieces });
  }

  /**
   * Returns the cached directory; a new, empty one if there is none, or if its listing has changed or has no known
   * version.
   */
  #directory(record: NodeRecord): CachedDirectory {
    const known = this.#directories.get(record.id);
    const listing = record.directory?.listing ?? UNKNOWN_VERSION;
    if (known !== undefined && known.listing === listing && listing !== UNKNOWN_VERSION) return known;
    const fresh: CachedDirectory = { listing, names: new Map(), sorted: undefined, covered: undefined };
    this.#names -= known?.names.size ?? 0;
    this.#directories.set(record.id, fresh);
    return fresh;
  }

  #setName(directory: CachedDirectory, name: string, id: NodeId | null): void {
    if (!directory.names.has(name)) this.#names += 1;
    directory.names.set(name, id);
  }

  #forget(id: NodeId): void {
    this.#forgetNode(id);
    this.#directories.delete(id);
  }

  // ── own writes ─────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Applies an accepted batch to the cache. What other clients may have changed concurrently is removed, or its version
   * becomes unknown.
   */
  apply(writes: readonly Write[], version: Version, checks: readonly Check[]): void {
    this.#checked = new CheckedVersions(checks);
    for (const write of writes) this.#apply(write, version);
    this.#forgetLost(version);
    this.#checked = NOTHING_CHECKED;
  }

  /**
   * {@link apply} in steps. All writes of a batch set the same version, so after only some of them a content in the
   * cache may be outdated although its version is current. That is why the data is moved to another cache until all
   * writes are applied. The moved data then replaces everything loaded in between, or is discarded if the cache was
   * cleared in between.
   */
  *applySteps(writes: readonly Write[], version: Version, checks: readonly Check[]): Steps<void> {
    const aside = new NodeCache();
    aside.#checked = new CheckedVersions(checks);
    aside.#take(this);
    const clears = this.#clears;
    for (const write of writes) {
      aside.#apply(write, version);
      yield;
    }
    aside.#forgetLost(version);
    this.#changes += aside.#changes;
    if (this.#clears === clears) this.#take(aside);
  }

  /**
   * If a written node was not found, removes all nodes and contents with the batch's version, because that write may
   * concern them.
   */
  #forgetLost(version: Version): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    for (const [id, { record }] of this.#nodes) if (record.version === version) this.#forgetNode(id);
    for (const [id, content] of this.#contents) if (content.version === version) this.dropContent(id);
  }

  #apply(write: Write, version: Version): void {
    switch (write.kind) {
      case 'clear':
        this.clear();
        return;
      case 'create':
        this.#created(write, version);
        return;
      case 'remove':
        this.#rename(write.path, null);
        this.#forgetLinked();
        return;
      case 'move': {
        const id = this.#idAt(write.from);
        this.#rename(write.from, null);
        this.#rename(write.to, id);
        this.#moved(id, write.time, version);
        return;
      }
      case 'copy':
        this.#rename(write.to, undefined);
        return;
      case 'link': {
        const id = this.#idAt(write.from);
        this.#rename(write.path, id);
        if (id !== undefined && id !== null) this.#forgetNode(id);
        return;
      }
      case 'write':
      case 'meta':
      case 'touch':
        this.#changed(write, version);
    }
  }

  #created(write: Extract<Write, { kind: 'create' }>, version: Version): void {
    const { id, type, meta, content, target } = write;
    const size = content?.byteLength ?? 0;
    this.#grow(size, type === 'directory' ? 0 : 1, type === 'directory' ? 1 : 0);
    const base = { id, kind: type, meta, version, size, links: 1 };
    if (type === 'file') {
      this.#addNode(base, OWN);
      this.#addContent(base, content ?? new Uint8Array(0));
    } else if (type === 'directory') {
      const totals = { size: 0, files: 0, directories: 0, linked: 0 };
      this.#addNode({ ...base, directory: { listing: UNKNOWN_VERSION, tree: UNKNOWN_VERSION, count: 0, totals } }, OWN);
    }
    // The storage determines the size of a symlink, so its record is loaded on demand.
    this.#rename(write.path, type === 'symlink' && target !== undefined ? undefined : id);
  }

  /** Updates the estimated totals of the root, to detect a limit before the storage reports it. */
  #grow(size: number, files: number, directories: number): void {
    if (size === 0 && files === 0 && directories === 0) return;
    const known = this.#root === undefined ? undefined : this.#nodes.get(this.#root);
    const directory = known?.record.directory;
    if (known === undefined || directory === undefined) return;
    const { totals } = directory;
    const grown = {
      ...totals,
      size: totals.size + size,
      files: totals.files + files,
      directories: totals.directories + directories,
    };
    const record = { ...known.record, directory: { ...directory, tree: UNKNOWN_VERSION, totals: grown } };
    this.#setNode(record, known.load);
  }

  /**
   * Sets the node of a name; undefined: unknown. Marks the version of the listing and the tree versions of the
   * directories above as unknown.
   */
  #rename(path: string, id: NodeId | null | undefined): void {
    const parent = this.#idAt(parentPath(path));
    if (parent === undefined || parent === null) {
      this.#isLost = true;
      return;
    }
    const directory = this.#directories.get(parent);
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (directory !== undefined) {
      directory.listing = UNKNOWN_VERSION;
      directory.sorted = undefined;
      if (id === undefined) directory.names.delete(name);
      else this.#setName(directory, name, id);
    } else if (id !== undefined) {
      this.#directories.set(parent, {
        listing: UNKNOWN_VERSION,
        names: new Map([[name, id]]),
        sorted: undefined,
        covered: undefined,
      });
    }
    // The name changed after the load that returned the rest of the directory, so neither the directory nor the node
    // counts as part of that load any more.
    this.#detachFromLoad(parent);
    if (id !== undefined && id !== null) this.#detachFromLoad(id);
    this.#outdate(parentPath(path));
  }

  #detachFromLoad(id: NodeId): void {
    const record = this.#nodes.get(id)?.record;
    if (record === undefined) return;
    const { directory } = record;
    const next =
      directory === undefined ? record : { ...record, directory: { ...directory, listing: UNKNOWN_VERSION } };
    this.#setNode(next, OWN);
  }

  /**
   * Updates the record of a moved node. The batch may have checked only the id of a directory, so a directory's version
   * is now unknown.
   */
  #moved(id: NodeId | null | undefined, time: number, version: Version): void {
    const record = this.#node(id)?.record;
    if (record === undefined) return;
    if (record.kind === 'directory') this.#addNode({ ...record, version: UNKNOWN_VERSION }, OWN);
    else this.#setMeta(record, { ...record.meta, ctime: time }, version);
  }

  /** Sets metadata and keeps the content, unless {@link #isAsChecked} returns false. */
  #setMeta(record: NodeRecord, meta: Metadata, version: Version): void {
    if (!this.#isAsChecked(record, version)) return;
    this.#addNode({ ...record, meta, version }, OWN);
    const content = this.#contents.get(record.id);
    if (content !== undefined && content.version === record.version)
      this.#contents.set(record.id, { ...content, version });
  }

  #changed(write: Extract<Write, { kind: 'write' | 'meta' | 'touch' }>, version: Version): void {
    const id = this.#outdate(write.path);
    if (id === undefined) this.#isLost = true;
    const record = this.#node(id)?.record;
    if (write.kind === 'write') this.#written(write, id, record, version);
    else if (record === undefined) return;
    // A touch does not check the directory's other metadata, so its version is unknown.
    else if (write.kind === 'touch') this.#addNode({ ...record, version: UNKNOWN_VERSION }, OWN);
    else this.#setMeta(record, write.meta, version);
  }

  #written(
    write: Extract<Write, { kind: 'write' }>,
    id: NodeId | null | undefined,
    record: NodeRecord | undefined,
    version: Version,
  ): void {
    const isKnown = record !== undefined && this.#isAsChecked(record, version);
    const next = isKnown ? { ...record, meta: write.meta, size: write.size, version } : undefined;
    // Earlier writes of the same batch have the same version, so cached content with this version may be outdated.
    if (next !== undefined && isWholeWrite(write)) this.#addContent(next, write.parts[0]?.bytes ?? new Uint8Array(0));
    else this.dropContent(id);
    if (next === undefined || record === undefined) return;
    this.#grow(write.size - record.size, 0, 0);
    this.#addNode(next, OWN);
  }

  /**
   * Reports whether a record is as the batch found or left it. If not, removes the record and the content, which are
   * from another time. Always true for a directory, because the cached parts of a directory have versions of their own.
   */
  #isAsChecked(record: NodeRecord, version: Version): boolean {
    if (record.kind === 'directory' || record.version === version || this.#checked.has(record)) return true;
    this.#forgetNode(record.id);
    this.dropContent(record.id);
    return false;
  }

  /**
   * Marks the tree versions of the directories along a path as unknown, because something under them has changed.
   * Returns the id at the end of the path, as {@link #idAt} does.
   */
  #outdate(path: string): NodeId | null | undefined {
    let id: NodeId | null | undefined = this.#root;
    this.#outdateNode(id);
    for (const name of pathSegments(path)) {
      if (id === undefined || id === null) return undefined;
      id = this.#directories.get(id)?.names.get(name);
      this.#outdateNode(id);
    }
    return id;
  }

  #outdateNode(id: NodeId | null | undefined): void {
    const known = this.#node(id);
    const directory = known?.record.directory;
    if (known === undefined || directory === undefined || directory.tree === UNKNOWN_VERSION) return;
    this.#setNode({ ...known.record, directory: { ...directory, tree: UNKNOWN_VERSION } }, known.load);
  }

  /**
   * Removes the records of all files and symlinks with several names: one of these may have been at or under the
   * removed name.
   */
  #forgetLinked(): void {
    for (const id of this.#linked) this.#forgetNode(id);
    this.#linked.clear();
  }

  /** Returns the record of an id and the number of its load. Undefined if there is no id, or if it is not cached. */
  #node(id: NodeId | null | undefined): { readonly record: NodeRecord; readonly load: number } | undefined {
    return this.#nodes.get(id as NodeId);
  }

  #namesOf(id: NodeId | null | undefined): CachedDirectory | undefined {
    return this.#directories.get(id as NodeId);
  }

  #idAt(path: string): NodeId | null | undefined {
    let id: NodeId | null | undefined = this.#root;
    for (const name of pathSegments(path)) {
      if (id === undefined || id === null) return undefined;
      id = this.#directories.get(id)?.names.get(name);
    }
    return id;
  }
}

function isSameState(a: NodeRecord, b: NodeRecord): boolean {
  return (
    isSameVersion(a.version, b.version) &&
    isSameVersion(a.directory?.listing, b.directory?.listing) &&
    isSameVersion(a.directory?.tree, b.directory?.tree)
  );
}

function isSameVersion(a: Version | undefined, b: Version | undefined): boolean {
  return a === b && b !== UNKNOWN_VERSION;
}

function lengthOf(pieces: readonly Part[]): number {
  let length = 0;
  for (const { bytes } of pieces) length += bytes.byteLength;
  return length;
}
