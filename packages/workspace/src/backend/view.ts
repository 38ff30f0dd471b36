import {
  type BackendCall,
  type Check,
  compareNames,
  FsError,
  joinPath,
  type Listing,
  type LoadRequest,
  type LoadResult,
  type NodeAddress,
  type NodeRecord,
  pathSegments,
  quote,
  UNKNOWN_VERSION,
  type Version,
} from '@scratchfs/core';
import { type DeltaNode, type Head, NO_NAMES, nodeOf, stateOf } from '../delta/delta-node.js';
import { lowerId, ShownIds, shownId } from '../delta/own-ids.js';
import type { Contents } from '../log/contents.js';
import { type Lower, nodeAt } from './lower.js';

const NOTHING = { size: 0, files: 0, directories: 0, linked: 0 };
const NOBODY = { mode: 0o755, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };

/** The part of a path that an attempt's head determines. */
interface Resolved {
  /** Nodes of the head along the path, from the root on, as far as it has any. */
  readonly nodes: readonly DeltaNode[];
  /** Lower path of the whole path, if the lower directory decides about the names after those nodes. */
  readonly lowerPath: string | undefined;
  /** True if the path does not exist, whatever the disk has, for example because a name is removed. */
  readonly isMissing: boolean;
}

/** A name in a listing: a record, or a changed node whose lower record may have to be loaded. */
type Found = NodeRecord | DeltaNode;

function isRecord(found: Found): found is NodeRecord {
  return 'size' in found;
}

/** Lower records by lower path; null for a path that does not exist. */
type LowerRecords = Map<string, NodeRecord | null>;

/** A head over the lower directory: what an attempt's filesystem shows. */
export class View {
  readonly #suffix: string;

  constructor(
    readonly head: Head,
    readonly lower: Lower,
    readonly contents: Contents,
    readonly ids = new ShownIds(),
  ) {
    ids.follow(head);
    this.#suffix = ids.suffix;
  }

  async load(request: LoadRequest, call?: BackendCall): Promise<LoadResult> {
    if (request.kind === 'path') return this.#path(request.path, request.content, call);
    const { nodes, lowerPath, isMissing } = this.#resolve(request.at.path);
    if (isMissing) return { kind: 'gone' };
    if (lowerPath !== undefined) return this.#lowerResult(request, { ...request.at, path: lowerPath }, call);
    const node = nodes.at(-1) as DeltaNode;
    if (node.id !== request.at.id) return { kind: 'gone' };
    if (request.kind === 'content') return this.#content(node, request.offset, request.length, call);
    if (node.kind !== 'directory') return { kind: 'gone' };
    if (request.kind === 'tree') return this.#tree(request.at.path, node, request.budget, request.contents, call);
    return this.#list(request.at.path, node, request.after, request.limit, call);
  }

  /** Returns the record of each path, without following links; null if it does not exist. */
  async records(paths: readonly string[], call?: BackendCall): Promise<readonly (NodeRecord | null)[]> {
    const resolved = paths.map((path) => this.#resolve(path));
    const known = await this.#lowerRecords(resolved, call);
    return resolved.map((one, i) => {
      const path = paths[i] as string;
      return nodeAt(path, this.#recordsAlong(one, path, known)) ?? null;
    });
  }

  /** Returns the positions of the checks that do not hold. */
  async failed(checks: readonly Check[], call?: BackendCall): Promise<number[]> {
    const records = await this.records(
      checks.map(({ path }) => path),
      call,
    );
    const failed: number[] = [];
    for (const [i, check] of checks.entries())
      if (!(await this.#holds(check, records[i] ?? null, call))) failed.push(i);
    return failed;
  }

  async #holds(check: Check, record: NodeRecord | null, call: BackendCall | undefined): Promise<boolean> {
    if (check.kind === 'entry' && check.id === null) return record === null;
    if (record === null || record.id !== check.id) return false;
    if (check.kind === 'entry') return check.version === undefined || check.version === record.version;
    if (check.kind === 'listing') return check.version === record.directory?.listing;
    if (check.kind === 'tree') return false;
    const list = await this.load({ kind: 'list', at: check, after: undefined, limit: 1 }, call);
    return list.kind === 'list' && list.names.length === 0;
  }

  /** Returns the lower path that a path shows; undefined if the attempt's head determines the whole path. */
  lowerPathOf(path: string): string | undefined {
    return this.#resolve(path).lowerPath;
  }

  #resolve(path: string): Resolved {
    const nodes = [this.head.root];
    const names = pathSegments(path);
    for (const [i, name] of names.entries()) {
      const directory = nodes.at(-1) as DeltaNode;
      const entry = directory.names?.get(name);
      if (entry === undefined) {
        if (directory.from === undefined) return { nodes, lowerPath: undefined, isMissing: true };
        const lowerPath = names.slice(i).reduce(joinPath, directory.from.path);
        return { nodes, lowerPath, isMissing: false };
      }
      const node = nodeOf(this.head, entry);
      if (node === undefined) return { nodes, lowerPath: undefined, isMissing: true };
      nodes.push(node);
      if (node.kind !== 'directory' && i < names.length - 1) return { nodes, lowerPath: undefined, isMissing: true };
    }
    return { nodes, lowerPath: undefined, isMissing: false };
  }

  async #lowerRecords(resolved: readonly Resolved[], call: BackendCall | undefined): Promise<LowerRecords> {
    const wanted = new Set<string>();
    for (const { nodes, lowerPath } of resolved) {
      for (const { from } of nodes) if (from !== undefined) wanted.add(from.path);
      if (lowerPath !== undefined) wanted.add(lowerPath);
    }
    const known: LowerRecords = new Map();
    // Loading a path returns everything along it.
    const sorted = [...wanted].sort((a, b) => b.length - a.length);
    const covered = new Set<string>();
    const asked: string[] = [];
    for (const path of sorted) {
      if (covered.has(path)) continue;
      asked.push(path);
      addPrefixes(path, covered);
    }
    const results = await this.lower.paths(asked, call);
    for (const [i, records] of results.entries()) addRecords(known, asked[i] as string, records);
    return known;
  }

  /** Returns the records along a path, from the root on; null for a missing one, which ends the list. */
  #recordsAlong(
    { nodes, lowerPath, isMissing }: Resolved,
    path: string,
    known: LowerRecords,
  ): readonly (NodeRecord | null)[] {
    const records: (NodeRecord | null)[] = [];
    for (const node of nodes) records.push(this.#record(node, node.from && (known.get(node.from.path) ?? undefined)));
    const last = nodes.at(-1) as DeltaNode;
    if (isMissing) return last.kind === 'directory' ? [...records, null] : records;
    if (lowerPath === undefined) return records;
    const names = pathSegments(path).slice(nodes.length - 1);
    let current = last.from?.path as string;
    if (!isThere(last, known.get(current))) {
      checkSource(last, path);
      return [...records, null];
    }
    for (const name of names) {
      current = joinPath(current, name);
      const record = known.get(current);
      if (record === undefined) break;
      records.push(record && this.#shown(record));
      if (record === null) break;
    }
    return records;
  }

  #record(node: DeltaNode, lower: NodeRecord | undefined): NodeRecord {
    const { id, kind, version } = node;
    if (kind === 'file') {
      const { meta = NOBODY, content, links = 1 } = node;
      return { id, kind, meta, version, size: content?.size ?? 0, links };
    }
    if (kind === 'symlink') {
      const { meta = NOBODY, target = '', links = 1 } = node;
      return { id, kind, meta, version, size: stateOf(node).size, links, target };
    }
    const shown = lower !== undefined && isThere(node, lower) ? lower : undefined;
    const own = node.meta ?? shown?.meta ?? node.from?.meta ?? NOBODY;
    const meta = node.touched === undefined ? own : { ...own, mtime: node.touched, ctime: node.touched };
    return {
      id,
      kind,
      meta,
      version: node.meta === undefined ? joined(version, shown?.version) : version,
      size: 0,
      links: 1,
      directory: {
        listing: joined(node.listing, shown ? this.#withSuffix(shown).directory?.listing : lostSource(node)),
        tree: UNKNOWN_VERSION,
        count: 0,
        totals: NOTHING,
        counted: false,
      },
    };
  }

  /**
   * Returns the record that shows for a lower node at a path that the attempt has not changed. If the attempt has
   * changed the file under another of its names, the changed file shows here too.
   */
  #shown(record: NodeRecord): NodeRecord {
    const node = this.head.inodes.get(record.id);
    if (node !== undefined) return this.#record(node, undefined);
    const id = this.ids.of(this.head, record.id);
    const shown = this.#withSuffix(record);
    return id === record.id ? shown : { ...shown, id };
  }

  #withSuffix(record: NodeRecord): NodeRecord {
    const { directory } = record;
    if (directory === undefined || this.#suffix === '') return record;
    return { ...record, directory: { ...directory, listing: `${directory.listing}${this.#suffix}` } };
  }

  async #path(path: string, limit: number, call: BackendCall | undefined): Promise<LoadResult> {
    const resolved = this.#resolve(path);
    const { lowerPath } = resolved;
    const known: LowerRecords = new Map();
    let content: Uint8Array | undefined;
    if (lowerPath !== undefined && resolved.nodes.length === 1) {
      // The usual case: nothing on the way has been changed, so one request is enough.
      const [result] = await this.lower.load([{ kind: 'path', path: lowerPath, content: limit }], call);
      if (result?.kind === 'path') {
        addRecords(known, lowerPath, result.nodes);
        content = result.content;
      }
    } else {
      for (const [key, record] of await this.#lowerRecords([resolved], call)) known.set(key, record);
    }
    const nodes = this.#recordsAlong(resolved, path, known);
    const last = nodeAt(path, nodes);
    if (last?.kind !== 'file' || last.size > limit) return { kind: 'path', nodes };
    const changed = lowerPath === undefined ? resolved.nodes.at(-1) : this.head.inodes.get(last.id);
    if (changed?.content !== undefined)
      return { kind: 'path', nodes, content: (await this.contents.read(changed.content.hash, signalOf(call))).slice() };
    return content?.length === last.size ? { kind: 'path', nodes, content } : { kind: 'path', nodes };
  }

  async #content(node: DeltaNode, offset: number, length: number, call: BackendCall | undefined): Promise<LoadResult> {
    if (node.kind !== 'file' || node.content === undefined) return { kind: 'gone' };
    const bytes = await this.contents.read(node.content.hash, signalOf(call));
    return {
      kind: 'content',
      file: this.#record(node, undefined),
      offset,
      bytes: bytes.slice(offset, offset + length),
    };
  }

  /**
   * Loads a node of the lower directory. The content of a file that was changed under another name comes from the
   * store.
   */
  async #lowerResult(
    request: Exclude<LoadRequest, { kind: 'path' }>,
    at: NodeAddress,
    call: BackendCall | undefined,
  ): Promise<LoadResult> {
    const changed = request.kind === 'content' ? this.head.inodes.get(at.id) : undefined;
    if (changed !== undefined && request.kind === 'content')
      return this.#content(changed, request.offset, request.length, call);
    const id = lowerId(at.id);
    if (shownId(this.head, id) !== at.id) return { kind: 'gone' };
    const [loaded] = await this.lower.load([{ ...request, at: { ...at, id } }], call);
    if (loaded === undefined || loaded.kind === 'gone' || loaded.kind === 'path') return { kind: 'gone' };
    if (isUnchanged(this.head) && this.#suffix === '') return loaded;
    if (loaded.kind === 'content') return { ...loaded, file: { ...loaded.file, id: at.id } };
    const result = { ...loaded, directory: { ...this.#withSuffix(loaded.directory), id: at.id } };
    if (result.kind === 'list') return { ...result, nodes: result.nodes.map((record) => this.#shown(record)) };
    const listings = result.listings.map((listing) => ({
      ...listing,
      nodes: listing.nodes.map((record) => this.#shown(record)),
      ...(listing.contents && {
        contents: listing.contents.map((bytes, i) =>
          this.head.inodes.has(listing.nodes[i]?.id as string) ? undefined : bytes,
        ),
      }),
    }));
    return { ...result, listings };
  }

  /** Returns the record of the lower directory that shows through a changed directory; undefined if none does. */
  async #lowerOf(directory: DeltaNode, call: BackendCall | undefined): Promise<NodeRecord | undefined> {
    if (directory.from === undefined) return undefined;
    const record = await this.lower.record(directory.from.path, call);
    return record && isThere(directory, record) ? record : undefined;
  }

  async #list(
    path: string,
    directory: DeltaNode,
    after: string | undefined,
    limit: number,
    call: BackendCall | undefined,
  ): Promise<Extract<LoadResult, { kind: 'list' }>> {
    const lower = await this.#lowerOf(directory, call);
    if (lower === undefined) checkSource(directory, path);
    const changed = sortedNames(directory).filter((name) => after === undefined || compareNames(name, after) > 0);
    const names: string[] = [];
    const found: Found[] = [];
    const lowerRecords: LowerRecords = new Map();
    let record = lower;
    let next = 0;
    /** Adds the changed names up to `before`, or all that are left, as far as the limit allows. */
    const addChanged = (before: string | undefined): void => {
      for (; next < changed.length && names.length < limit; next++) {
        const name = changed[next] as string;
        if (before !== undefined && compareNames(name, before) > 0) return;
        const entry = directory.names?.get(name);
        const node = entry && nodeOf(this.head, entry);
        if (node === undefined) continue;
        names.push(name);
        found.push(node);
      }
    };
    let cursor = after;
    let isComplete = lower === undefined;
    while (!isComplete && names.length < limit) {
      const from = directory.from as NonNullable<DeltaNode['from']>;
      const at = { path: from.path, id: (lower as NodeRecord).id };
      const [page] = await this.lower.load([{ kind: 'list', at, after: cursor, limit }], call);
      // The directory has vanished since its record was read.
      if (page?.kind !== 'list') break;
      record = page.directory;
      isComplete = page.complete;
      cursor = page.names.at(-1) ?? cursor;
      for (const [i, name] of page.names.entries()) {
        const one = page.nodes[i] as NodeRecord;
        lowerRecords.set(joinPath(from.path, name), one);
        addChanged(name);
        if (names.length >= limit) {
          isComplete = false;
          break;
        }
        if (directory.names?.has(name) === true) continue;
        names.push(name);
        found.push(this.#shown(one));
      }
      if (page.names.length === 0) break;
    }
    if (isComplete || lower === undefined) addChanged(undefined);
    const isShown = (name: string): boolean => {
      const entry = directory.names?.get(name);
      return entry !== undefined && nodeOf(this.head, entry) !== undefined;
    };
    await this.#loadLowerOf(found, lowerRecords, call);
    return {
      kind: 'list',
      directory: this.#record(directory, record),
      names,
      nodes: found.map((one) => (isRecord(one) ? one : this.#changed(one, lowerRecords))),
      complete: isComplete && !changed.slice(next).some(isShown),
    };
  }

  #changed(node: DeltaNode, lower: LowerRecords): NodeRecord {
    return this.#record(node, node.from && (lower.get(node.from.path) ?? undefined));
  }

  /** Adds the lower records of changed directories that are not known yet. */
  async #loadLowerOf(nodes: readonly Found[], known: LowerRecords, call: BackendCall | undefined): Promise<void> {
    const paths: string[] = [];
    for (const node of nodes)
      if (!isRecord(node) && node.from !== undefined && !known.has(node.from.path)) paths.push(node.from.path);
    const results = await this.lower.paths(paths, call);
    for (const [i, records] of results.entries()) addRecords(known, paths[i] as string, records);
  }

  /** Lists a directory and, depth first as a walk needs it, the directories under it until the budget is used. */
  async #tree(
    topPath: string,
    top: DeltaNode,
    budget: number,
    withContents: boolean,
    call: BackendCall | undefined,
  ): Promise<LoadResult> {
    const listings: Listing[] = [];
    const pending: { path: string; node: DeltaNode | undefined; at: NodeAddress | undefined }[] = [
      { path: '', node: top, at: undefined },
    ];
    let used = 0;
    let directory: NodeRecord | undefined;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (used >= budget && listings.length > 0) break;
      const { path, node, at } = next;
      const within = (name: string): string => (path === '' ? name : `${path}/${name}`);
      if (node === undefined) {
        const request = { kind: 'tree', at: at as NodeAddress, budget: budget - used, contents: withContents } as const;
        const result = await this.#lowerResult(request, request.at, call);
        if (result.kind !== 'tree') continue;
        for (const listing of result.listings) {
          listings.push({ ...listing, path: listing.path === '' ? path : within(listing.path) });
          used += sizeOf(listing);
        }
        continue;
      }
      const {
        directory: record,
        names,
        nodes,
      } = await this.#list(
        path === '' ? topPath : joinPath(topPath, path),
        node,
        undefined,
        Number.MAX_SAFE_INTEGER,
        call,
      );
      directory ??= record;
      const contents: (Uint8Array | undefined)[] = [];
      const inside: typeof pending = [];
      for (const [i, name] of names.entries()) {
        const one = nodes[i] as NodeRecord;
        const entry = node.names?.get(name);
        const changed = entry && nodeOf(this.head, entry);
        if (one.kind === 'directory') {
          const lowerPath = node.from && joinPath(node.from.path, name);
          inside.push({
            path: within(name),
            node: changed,
            at: lowerPath === undefined ? undefined : { path: lowerPath, id: one.id },
          });
        } else if (withContents && changed?.content !== undefined && used + one.size <= budget) {
          contents[i] = (await this.contents.read(changed.content.hash, signalOf(call))).slice();
          used += one.size;
        }
      }
      for (const child of inside.reverse()) pending.push(child);
      const listing = { path, names, nodes, ...(withContents && { contents }) };
      used += sizeOf(listing);
      listings.push(listing);
    }
    return { kind: 'tree', directory: directory as NodeRecord, listings };
  }
}

/**
 * Returns the lower part of the listing's version if no lower directory shows: `lost` for a moved directory, otherwise
 * undefined.
 */
function lostSource({ from }: DeltaNode): Version | undefined {
  return from?.isMoved === true ? 'lost' : undefined;
}

function isUnchanged({ root, inodes }: Head): boolean {
  return inodes.size === 0 && (root.names ?? NO_NAMES).size === 0;
}

/** Joins the version of a change and that of the lower node. */
function joined(own: Version | undefined, lower: Version | undefined): Version {
  if (own === undefined || own === '') return lower ?? 'empty';
  return lower === undefined ? own : `${own}+${lower}`;
}

function signalOf(call: BackendCall | undefined): { readonly signal?: AbortSignal } {
  return call?.signal === undefined ? {} : { signal: call.signal };
}

function sizeOf({ names, contents }: Listing): number {
  let size = 160 * names.length;
  for (const bytes of contents ?? []) size += bytes?.length ?? 0;
  return size;
}

/**
 * Reports whether a lower directory shows through a directory of the head: through a moved one only if it is the same
 * one.
 */
function isThere({ from }: DeltaNode, record: NodeRecord | null | undefined): boolean {
  return record?.kind === 'directory' && (from?.isMoved !== true || from.id === record.id);
}

/**
 * Must be called if no lower directory shows. @throws FsError EBUSY for a moved directory, which must not show as empty
 */
function checkSource({ from }: DeltaNode, path: string): void {
  if (from?.isMoved !== true) return;
  throw new FsError('EBUSY', {
    syscall: 'open',
    path,
    hint: `It was moved here from ${quote(from.path)}, where the disk has no longer the same directory: undo the move, or put the directory back`,
  });
}

function addPrefixes(path: string, prefixes: Set<string>): void {
  let current = '/';
  prefixes.add(current);
  for (const name of pathSegments(path)) {
    current = joinPath(current, name);
    prefixes.add(current);
  }
}

/** Adds the lower records along a path. */
function addRecords(known: LowerRecords, path: string, records: readonly (NodeRecord | null)[]): void {
  let current = '/';
  const names = pathSegments(path);
  for (const [depth, record] of records.entries()) {
    if (depth > 0) current = joinPath(current, names[depth - 1] as string);
    known.set(current, record);
  }
}

const sorted = new WeakMap<object, readonly string[]>();

function sortedNames({ names = NO_NAMES }: DeltaNode): readonly string[] {
  let list = sorted.get(names);
  if (list === undefined) {
    list = [...names.keys()].sort(compareNames);
    sorted.set(names, list);
  }
  return list;
}
