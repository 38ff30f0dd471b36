import {
  type Check,
  type Metadata,
  type NodeFact,
  type NodeId,
  type Part,
  UNKNOWN_VERSION,
  type Version,
  type Want,
  type Write,
} from '../backend.js';
import { FsError, type FsErrorCode } from '../errors.js';
import {
  checkText,
  joinPath,
  MAX_DEPTH,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  normalizePath,
  pathSegments,
  utf8Length,
} from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import type { Entries } from '../tree/entries.js';
import {
  ABSENT,
  ABSENT_NODE,
  type CopyTimes,
  DIRECTORY,
  type DirectoryNode,
  FILE,
  type FileNode,
  LINKED,
  LinkedNode,
  type Node,
  type Origin,
  originOf,
  SYMLINK,
  type SymlinkNode,
  type TreeNode,
  Unloaded,
} from '../tree/node.js';
import { countDirectory, type Location, measureDirectory, metaMaker, nodeFromFact, Tree } from '../tree/tree.js';
import type { Change } from './changes.js';
import type { Context } from './context.js';
import type { Access } from './guard.js';
import type { Hub } from './hub.js';
import { Missing, type Source } from './source.js';

/** Links followed in one path before ELOOP, as Linux has it. */
const MAX_HOPS = 40;
/** Content up to this size comes along with a path. */
export const INLINE_CONTENT = 65_536;
/** Content beyond this size cannot be one array. */
const MAX_ARRAY = 2 ** 31 - 1;
/** Sums of sizes above this might no longer be exact. */
const EXACT = 2 ** 40;
/** Bytes of the largest file, holes included; sums of such sizes are checked to stay exact. */
export const MAX_FILE_SIZE = 2 ** 43;

/** What a view writes down for a storage that is far away: what it relied on, and what it did. */
export interface Recorder {
  readonly checks: Check[];
  readonly writes: Write[];
}

/**
 * A tree as operations see it: paths are resolved, what is missing is loaded, limits and guards are asked, and every
 * change is written down for whoever needs to know. Rules of the filesystem are in the operations, not here.
 */
export class View {
  /** After `find`: the directory in which the name lies or would lie. */
  parent: Location;
  /** After `find`: the name in `parent`; empty for the root. */
  name = '';
  #failure: FsErrorCode | undefined;
  /** Files and links found in listings, whose versions the listing's own does not cover. */
  readonly #listed = new WeakMap<Node, Check>();
  #now: number | undefined;
  #metaTime = Number.NaN;
  #meta: Metadata | undefined;

  constructor(
    readonly tree: Tree,
    readonly context: Context,
    /** Filled with what happened, where somebody listens. */
    public changes: Change[] | undefined = undefined,
    readonly source: Source | undefined = undefined,
    readonly recorder: Recorder | undefined = undefined,
    readonly hub: Hub | undefined = undefined,
  ) {
    this.parent = tree.rootLocation;
  }

  /** The moment of this operation. */
  now(): number {
    this.#now ??= checkNow(this.context.clock());
    return this.#now;
  }

  /** To be called before each operation on a view that serves several. */
  begin(): void {
    this.#now = undefined;
  }

  /** Metadata of a new node: one object for all that are made in the same moment with the same mode. */
  newMeta(mode: number): Metadata {
    const now = this.now();
    if (this.#meta === undefined || this.#metaTime !== now || this.#meta.mode !== mode) {
      this.#metaTime = now;
      this.#meta = { mode, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
    }
    return this.#meta;
  }

  // ── paths ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * What a path leads to, or undefined where only the last name is missing (of a dangling link: where it points).
   * @throws FsError ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL, and what the guard refuses
   */
  find(path: string, follow: boolean, access: Access, syscall: string): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.#findFast(path, follow);
      if (node !== NOT_FAST) return this.#found(node);
    }
    this.#failure = undefined;
    const node = this.#walk(normalizePath(path, syscall, false), follow, syscall, path);
    if (this.#failure !== undefined) throw new FsError(this.#failure, { syscall, path });
    this.context.guard?.check(this.path(), access, syscall, path);
    return this.#found(node);
  }

  /** Like `find`, but answers undefined wherever the path leads nowhere. */
  peek(path: string, follow: boolean, access: Access, syscall: string): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.#findFast(path, follow);
      if (node !== NOT_FAST) return this.#found(node);
    }
    if (typeof path !== 'string') checkText(path, 'path');
    let normal: string;
    try {
      normal = normalizePath(path, syscall, false);
    } catch {
      return undefined;
    }
    this.#failure = undefined;
    const node = this.#walk(normal, follow, syscall, path);
    if (node === undefined || this.#failure !== undefined) return undefined;
    this.context.guard?.check(this.path(), access, syscall, path);
    return this.#found(node);
  }

  /** What is found may have been known from a listing only. */
  #found(node: Node | undefined): Node | undefined {
    if (this.recorder !== undefined && node !== undefined) this.relyOnNode(node);
    return node;
  }

  /** The normalized path, free of links, that the last `find` arrived at. */
  path(): string {
    return this.name === '' ? '/' : joinPath(this.parent.path, this.name);
  }

  /** The directory that the last `find` arrived at, as a location. */
  location(directory: DirectoryNode): Location {
    return this.name === '' ? this.tree.rootLocation : this.tree.childLocation(this.parent, this.name, directory);
  }

  /** A directory and name that are both in the tree prove that the path was normal: nothing needs to be checked. */
  #findFast(path: string, follow: boolean): Node | undefined | typeof NOT_FAST {
    if (typeof path !== 'string') return NOT_FAST;
    const slash = path.lastIndexOf('/');
    if (slash < 0) return NOT_FAST;
    const parent = slash === 0 ? this.tree.rootLocation : this.tree.cachedLocation(path.slice(0, slash));
    if (parent === undefined) return NOT_FAST;
    const name = path.slice(slash + 1);
    const entry = parent.directory.entries.get(name);
    if (entry === undefined) {
      if (!parent.directory.complete || !isPlainName(name) || path.length > 1000) return NOT_FAST;
    } else if (entry.kind >= LINKED || (follow && entry.kind === SYMLINK)) return NOT_FAST;
    this.parent = parent;
    this.name = name;
    return entry as Node | undefined;
  }

  #walk(path: string, follow: boolean, syscall: string, given: string): Node | undefined {
    const names = path === '/' ? [] : path.slice(1).split('/').reverse();
    let location = this.tree.rootLocation;
    let node: Node | undefined = location.directory;
    this.parent = location;
    this.name = '';
    let hops = 0;
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        location = location.parent ?? location;
        this.#arrive(location);
        node = location.directory;
        continue;
      }
      if (name.length * 3 > MAX_NAME_BYTES && utf8Length(name) > MAX_NAME_BYTES) return this.#fail('ENAMETOOLONG');
      const entry = this.lookup(location, name, names);
      node = this.tree.resolve(entry);
      this.parent = location;
      this.name = name;
      if (node === undefined) {
        if (names.length > 0) return this.#fail('ENOENT');
        // Through links a path may become longer than the one that was given.
        return isTooLong(this.path()) ? this.#fail('ENAMETOOLONG') : undefined;
      }
      if (node.kind === DIRECTORY) {
        location = this.tree.childLocation(location, name, node);
        continue;
      }
      if (node.kind === FILE || (names.length === 0 && !follow)) {
        return names.length === 0 ? node : this.#fail('ENOTDIR');
      }
      if (++hops > MAX_HOPS) return this.#fail('ELOOP');
      this.context.guard?.check(this.path(), 'look', syscall, given);
      const target = node.target.replaceAll('\\', '/');
      if (target[0] === '/') {
        location = this.tree.rootLocation;
        this.#arrive(location);
      } else this.#arrive(location);
      node = location.directory;
      // A trailing slash is ignored here as in every path.
      const rest = target.replace(/\/+$/, '').split('/');
      for (let i = rest.length - 1; i >= 0; i--) names.push(rest[i] as string);
    }
    return node;
  }

  #arrive(location: Location): void {
    this.parent = location.parent ?? location;
    this.name = location.parent === null ? '' : location.name;
  }

  #fail(code: FsErrorCode): undefined {
    this.#failure = code;
    return undefined;
  }

  /** What a directory holds under a name; loads it where it is not known. `rest`: the names that will be asked for next, last first. */
  lookup(location: Location, name: string, rest: readonly string[] = []): TreeNode | undefined {
    const directory = location.directory;
    const entry = directory.entries.get(name);
    if (entry !== undefined) return entry.kind === ABSENT ? undefined : entry;
    const origin = directory.origin;
    if (directory.complete || origin === undefined || this.source === undefined) return undefined;
    const path = joinPath(origin.place.path, name);
    const fact = this.source.entry(origin.place, name);
    if (fact === undefined)
      throw new Missing([{ kind: 'path', path: joinRest(path, rest), content: INLINE_CONTENT }], this.source);
    this.#rely({ kind: 'entry', path: origin.place.path, id: origin.place.id });
    if (fact === null) {
      this.#rely({ kind: 'entry', path, id: null });
      this.tree.own(location).entries.set(this.tree.owner, name, ABSENT_NODE);
      return undefined;
    }
    this.#rely({ kind: 'entry', path, id: fact.id, version: fact.kind === 'directory' ? undefined : fact.version });
    return this.#admit(this.tree.own(location), name, fact, path, origin);
  }

  /** All names of a directory; loads them where they are not known. */
  list(location: Location): Entries<TreeNode> {
    const directory = location.directory;
    if (directory.complete) return directory.entries;
    const origin = directory.origin;
    if (origin === undefined || this.source === undefined) return directory.entries;
    const listing = this.source.listing(origin.place);
    if (listing === undefined) {
      const limit = Number.MAX_SAFE_INTEGER;
      throw new Missing([{ kind: 'list', at: origin.place, after: undefined, limit }], this.source);
    }
    this.#rely({ kind: 'listing', path: origin.place.path, id: origin.place.id, version: listing.version });
    const own = this.tree.own(location);
    for (let i = 0; i < listing.names.length; i++) {
      const name = listing.names[i] as string;
      if (own.entries.get(name) === undefined) {
        this.#admitListed(own, name, listing.nodes[i] as NodeFact, joinPath(origin.place.path, name), origin);
      }
    }
    const gone: string[] = [];
    own.entries.forEach((entry, name) => {
      if (entry.kind === ABSENT) gone.push(name);
    });
    for (const name of gone) own.entries.delete(this.tree.owner, name);
    own.complete = true;
    return own.entries;
  }

  /**
   * Makes totals exact that are not: all beneath the directory is loaded, a level at a time, and counted. To be called
   * before a directory is moved, copied or removed whole. Costs nothing where the storage knows its totals.
   */
  loadTree(top: Location): void {
    const found = top.directory.origin?.uncounted === true ? [top] : [];
    for (let from = 0; from < found.length; ) {
      const level = found.slice(from);
      from = found.length;
      this.all(level, (location) => this.list(location));
      for (const location of level) {
        location.directory.entries.forEach((entry, name) => {
          if (entry.kind === DIRECTORY && entry.origin?.uncounted === true)
            found.push(this.tree.childLocation(location, name, entry));
        });
      }
    }
    for (const location of found.reverse()) countDirectory(this.tree.own(location));
  }

  isEmpty(location: Location): boolean {
    const empty = this.list(location).size === 0;
    if (empty && location.directory.origin?.uncounted === true) countDirectory(this.tree.own(location));
    return empty;
  }

  /** Says that the outcome depends on a directory's own metadata, which is to be read after this. */
  relyOnMeta(directory: DirectoryNode): void {
    this.#relyOn(directory, 'entry', (origin) => origin.metaVersion);
  }

  /** Says that the outcome depends on everything beneath a directory. */
  relyOnTree(directory: DirectoryNode): void {
    this.#relyOn(directory, 'tree', (origin) => origin.tree);
  }

  #relyOn(directory: DirectoryNode, kind: 'entry' | 'tree', versionOf: (origin: Origin) => Version): void {
    let { origin } = directory;
    if (origin === undefined || this.recorder === undefined) return;
    const { path, id } = origin.place;
    if (versionOf(origin) === UNKNOWN_VERSION) {
      const fact = this.source?.current?.(id);
      if (fact === undefined || versionOf(originOf(fact, origin.place)) === UNKNOWN_VERSION) {
        throw new Missing([{ kind: 'path', path, content: 0 }], this.source);
      }
      directory.refresh(origin, fact);
      origin = directory.origin as Origin;
    }
    this.#rely({ kind, path, id, version: versionOf(origin) });
  }

  /** Runs `load` for every item and, where some are missing, asks for all of them at once. */
  all<T, R>(items: readonly T[], load: (item: T) => R): R[] {
    const wants: Want[] = [];
    const results: R[] = [];
    for (const item of items) {
      try {
        results.push(load(item));
      } catch (error) {
        if (!(error instanceof Missing)) throw error;
        wants.push(...error.wants);
      }
    }
    if (wants.length > 0) throw new Missing(wants, this.source);
    return results;
  }

  #admit(directory: DirectoryNode, name: string, fact: NodeFact, path: string, origin: Origin): TreeNode {
    let node = nodeFromFact(this.tree.owner, fact, path);
    let entry: TreeNode = node;
    if (origin.copied !== undefined) entry = node = this.#asCopy(node, origin.copied);
    else if (fact.links > 1 && node.kind !== DIRECTORY) {
      entry = new LinkedNode(node.id);
      if (!this.tree.inodes.has(node.id)) this.tree.admitInode(node.id, node, fact.links);
    }
    directory.entries.set(this.tree.owner, name, entry);
    return entry;
  }

  #admitListed(directory: DirectoryNode, name: string, fact: NodeFact, path: string, origin: Origin): void {
    const node = this.tree.resolve(this.#admit(directory, name, fact, path, origin));
    if (this.recorder === undefined || node === undefined || node.kind === DIRECTORY) return;
    this.#listed.set(node, { kind: 'entry', path, id: fact.id, version: fact.version });
  }

  /** What was loaded beneath a directory that is a copy: a node of its own. */
  #asCopy(node: Node, times: CopyTimes): Node {
    const meta = metaMaker(times)(node.meta);
    if (node.kind === DIRECTORY) return this.tree.copyDirectory(node, this.context.newId(), meta, times);
    return this.tree.copyLeaf(node, this.context.newId(), meta);
  }

  /** Says that the outcome depends on a file or link that was found in a listing: on more than its name and id. */
  relyOnNode(node: Node): void {
    const check = this.#listed.get(node);
    if (check === undefined) return;
    this.source?.current?.(node.id);
    this.#rely(check);
  }

  #rely(check: Check): void {
    this.recorder?.checks.push(check);
  }

  // ── contents ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** The node with its content at hand. */
  loaded(node: FileNode): ContentNode {
    if (this.recorder !== undefined) this.relyOnNode(node);
    if (node.data instanceof Unloaded) {
      const bytes = new Uint8Array(node.size);
      this.#readUnloaded(node.data, bytes, 0);
      this.tree.family.contents.fromBytes(node as ContentNode, bytes);
    }
    return node as ContentNode;
  }

  /** Fills a range that lies within the content. */
  #readUnloaded(data: Unloaded, range: Uint8Array, start: number): void {
    const length = Math.max(0, Math.min(data.kept - start, range.length));
    if (length > 0) range.set(this.#stored(data, start, length));
    data.replay(range, start);
  }

  #stored(data: Unloaded, offset: number, length: number): Uint8Array {
    const { source } = this;
    const bytes =
      source?.range === undefined
        ? source?.content(data, data.size)?.subarray(offset, offset + length)
        : source.range(data, offset, length);
    if (bytes !== undefined) return bytes;
    const ahead = Math.min(data.size - offset, Math.max(length, INLINE_CONTENT));
    throw new Missing([{ kind: 'content', at: data.place, offset, length: ahead }], source);
  }

  /** A copy of the content. @throws FsError EFBIG past 2 GiB - 1 */
  bytes(node: FileNode, path: string): Uint8Array<ArrayBuffer> {
    this.checkArray(node.size, path);
    return this.tree.family.contents.bytes(this.loaded(node));
  }

  text(node: FileNode, path: string): string {
    this.checkArray(node.size, path);
    return this.tree.family.contents.text(this.loaded(node));
  }

  /** Copies what there is from a position on; answers how many bytes that was. */
  read(node: FileNode, into: Uint8Array, position: number): number {
    if (node.data instanceof Unloaded) {
      this.relyOnNode(node);
      const length = Math.max(0, Math.min(into.length, node.size - position));
      if (length > 0) this.#readUnloaded(node.data, into.subarray(0, length), position);
      return length;
    }
    return this.tree.family.contents.read(this.loaded(node), into, position);
  }

  /** @throws FsError EFBIG where an array cannot be that long */
  checkArray(size: number, path: string): void {
    if (size > MAX_ARRAY) {
      const hint = 'The file is too large for one array: read ranges of it through a handle or a stream';
      throw new FsError('EFBIG', { syscall: 'read', path, requested: size, allowed: MAX_ARRAY, hint });
    }
  }

  // ── limits ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Fails where the filesystem has no room for `bytes` more and `nodes` more names. */
  reserve(bytes: number, nodes: number, syscall: string, path: string): void {
    const { maxTotalSize, maxNodeCount } = this.context.limits;
    if (bytes > 0 && (maxTotalSize !== undefined || bytes > EXACT)) {
      const allowed = maxTotalSize ?? Number.MAX_SAFE_INTEGER;
      const used = this.#used(
        bytes,
        allowed,
        () => this.tree.root.size + this.tree.linkedSize + (this.hub?.detached.size ?? 0),
      );
      if (used + bytes > allowed)
        throw limitError('ENOSPC', 'maxTotalSize', used, used + bytes, allowed, syscall, path);
    }
    if (nodes > 0 && maxNodeCount !== undefined) {
      const used = this.#used(nodes, maxNodeCount, () => this.tree.root.files + this.tree.root.directories);
      if (used + nodes > maxNodeCount) {
        throw limitError('ENOSPC', 'maxNodeCount', used, used + nodes, maxNodeCount, syscall, path);
      }
    }
  }

  /** What is in use: before it makes an operation fail, it has to be what the storage holds now. */
  #used(more: number, allowed: number, count: () => number): number {
    if (count() + more > allowed) this.relyOnTree(this.tree.root);
    return count();
  }

  /** Fails where a single file of this size is not allowed. */
  checkFileSize(size: number, before: number, syscall: string, path: string): void {
    const allowed = this.context.limits.maxFileSize ?? MAX_FILE_SIZE;
    if (size > allowed && size > before) throw limitError('EFBIG', 'maxFileSize', before, size, allowed, syscall, path);
  }

  /** Fails where a directory with all beneath it would reach too deep, or have paths that are too long, at another place. */
  checkReach(directory: DirectoryNode, target: string, syscall: string, path: string): void {
    const depth = pathSegments(target).length;
    if (depth + directory.height <= MAX_DEPTH && (target.length + directory.reach) * 3 <= MAX_PATH_BYTES) return;
    const { levels, bytes } = measureDirectory(directory);
    const length = utf8Length(target) + bytes;
    if (depth + levels > MAX_DEPTH) {
      throw new FsError('ENAMETOOLONG', {
        syscall,
        path,
        limit: 'depth',
        requested: depth + levels,
        allowed: MAX_DEPTH,
      });
    }
    if (length > MAX_PATH_BYTES) {
      throw new FsError('ENAMETOOLONG', { syscall, path, limit: 'path', requested: length, allowed: MAX_PATH_BYTES });
    }
  }

  // ── changes: the caller has checked everything, and none of these can fail ─────────────────────────────────────────

  /** Puts a new node under a free name. */
  create(parent: Location, name: string, node: Node): void {
    this.tree.insert(parent, name, node);
    this.touch(parent);
    const path = joinPath(parent.path, name);
    this.changes?.push({ type: 'create', path });
    const writes = this.recorder?.writes;
    if (writes === undefined) return;
    const { id, meta } = node;
    if (node.kind === DIRECTORY) writes.push({ kind: 'create', path, id, type: 'directory', meta });
    else if (node.kind === SYMLINK)
      writes.push({ kind: 'create', path, id, type: 'symlink', meta, target: node.target });
    else
      writes.push({
        kind: 'create',
        path,
        id,
        type: 'file',
        meta,
        content: this.tree.family.contents.bytes(node as ContentNode),
      });
  }

  /** Gives a file or symlink one more name. */
  addLink(from: Location, fromName: string, parent: Location, name: string, node: FileNode | SymlinkNode): void {
    const meta = { ...node.meta, ctime: this.now() };
    let entry = from.directory.entries.get(fromName) as TreeNode;
    if (entry.kind !== LINKED) entry = this.tree.promote(from, fromName, node);
    const links = this.tree.linksOf(entry);
    this.tree.setInode(node.id, this.tree.withMeta(node, meta), links + 1);
    this.tree.insert(parent, name, new LinkedNode(node.id));
    this.touch(parent);
    const path = joinPath(parent.path, name);
    this.changes?.push({ type: 'create', path, link: { id: node.id, from: joinPath(from.path, fromName) } });
    this.recorder?.writes.push({ kind: 'link', from: joinPath(from.path, fromName), path });
    this.#recordMeta(joinPath(from.path, fromName), meta);
  }

  /** Puts a copy of a directory and all beneath it under a free name. Contents are shared. */
  copyTree(
    source: DirectoryNode,
    from: string,
    parent: Location,
    name: string,
    meta: Metadata,
    keepTimes: boolean,
  ): void {
    const times = { time: this.now(), keep: keepTimes };
    this.#insertCopy(this.tree.copyDirectory(source, this.context.newId(), meta, times), from, parent, name, keepTimes);
  }

  /** Puts a copy of a file or symlink under a free name. */
  copyLeaf(source: FileNode | SymlinkNode, from: string, parent: Location, name: string, meta: Metadata): void {
    this.#insertCopy(this.tree.copyLeaf(source, this.context.newId(), meta), from, parent, name, false);
  }

  #insertCopy(copy: Node, from: string, parent: Location, name: string, keepTimes: boolean): void {
    this.tree.insert(parent, name, copy);
    const to = joinPath(parent.path, name);
    this.changes?.push({ type: 'create', path: to });
    this.recorder?.writes.push({ kind: 'copy', from, to, id: copy.id, meta: copy.meta, time: this.now(), keepTimes });
    this.touch(parent);
  }

  /** Makes the whole state what `build` makes of an empty one, in one step. */
  replaceAll(rootMeta: Metadata, build: (view: View) => void): void {
    const target = this.recorder === undefined ? new Tree(this.tree.family, Tree.emptyState(rootMeta)) : this.tree;
    if (this.recorder !== undefined) {
      this.tree.reset(Tree.emptyState(rootMeta));
      this.recorder.writes.push({ kind: 'clear', meta: rootMeta });
    }
    const view = new View(target, this.context, undefined, undefined, this.recorder);
    build(view);
    if (target !== this.tree) this.tree.reset(target.freeze());
    this.changes?.push({ type: 'reset', path: '/' });
  }

  /** Runs `work`, and takes back what it did where it throws: for operations that cannot check everything beforehand. */
  atomic<T>(work: () => T): T {
    // Where a recorder is, a failed attempt is thrown away as a whole.
    if (this.recorder !== undefined) return work();
    const state = this.tree.freeze();
    const known = this.changes?.length;
    try {
      return work();
    } catch (error) {
      this.tree.reset(state);
      if (this.changes !== undefined) this.changes.length = known ?? 0;
      throw error;
    }
  }

  /** Takes a name away, a directory with all beneath it. */
  remove(parent: Location, name: string): void {
    const time = this.now();
    const path = joinPath(parent.path, name);
    if (this.recorder !== undefined) this.#keepOpen(parent, name, path);
    const entry = parent.directory.entries.get(name) as TreeNode;
    const orphans = new Map<NodeId, Node>();
    if (entry.kind === DIRECTORY && entry.linked > 0) {
      for (const id of this.tree.dropLinksBeneath(entry, orphans)) this.tree.touchInode(id, time);
    }
    this.tree.detach(parent, name, entry);
    if (entry.kind === LINKED) {
      this.tree.dropLink(entry.id, orphans);
      this.tree.touchInode(entry.id, time);
    }
    this.touch(parent);
    this.changes?.push({ type: 'remove', path, time, node: entry, orphans });
    this.recorder?.writes.push({ kind: 'remove', path, time });
  }

  /** What handles hold open beneath a name that is about to go lives on with them: its content has to be at hand. */
  #keepOpen(parent: Location, name: string, path: string): void {
    let hasLinks = false;
    for (const open of this.hub?.openUnder(path) ?? []) {
      const node = this.peek(open, false, 'look', 'unlink');
      if (node?.kind === FILE) this.loaded(node);
      hasLinks ||= node !== undefined && this.tree.inodes.has(node.id);
    }
    // Which of a file's names are beneath decides whether it goes on: all of them have to be known.
    const entry = parent.directory.entries.get(name);
    if (hasLinks && entry?.kind === DIRECTORY) this.#listAll(this.tree.childLocation(parent, name, entry));
  }

  #listAll(top: Location): void {
    for (let level = [top]; level.length > 0; ) {
      this.all(level, (location) => this.list(location));
      level = level.flatMap((location) => {
        const below: Location[] = [];
        location.directory.entries.forEach((entry, name) => {
          if (entry.kind === DIRECTORY) below.push(this.tree.childLocation(location, name, entry));
        });
        return below;
      });
    }
  }

  /** Moves a name to a free one. */
  move(from: Location, fromName: string, to: Location, toName: string): void {
    const time = this.now();
    let entry = from.directory.entries.get(fromName) as TreeNode;
    const path = joinPath(to.path, toName);
    const old = joinPath(from.path, fromName);
    this.changes?.push({ type: 'rename', path, from: old, node: entry });
    this.tree.detach(from, fromName, entry);
    const node = this.tree.resolve(entry) as Node;
    const meta = { ...node.meta, ctime: time };
    // A directory that moved has forgotten the cached locations: only the two given here are still in use.
    if (entry.kind === DIRECTORY) {
      entry = entry.clone(this.tree.owner, entry.id, meta);
      entry.version = this.tree.family.newVersion();
    } else if (entry.kind === LINKED) {
      this.tree.setInode(entry.id, this.tree.withMeta(node as FileNode, meta), this.tree.linksOf(entry));
    } else entry = this.tree.withMeta(node as FileNode, meta);
    this.tree.insert(to, toName, entry);
    this.touch(from);
    if (to !== from) this.touch(to);
    this.recorder?.writes.push({ kind: 'move', from: old, to: path, time });
  }

  /** Gives a file, under all its names, other content; `parts` are written over the content that was there. */
  setContent(parent: Location, name: string, before: FileNode, node: FileNode, parts: readonly Part[]): void {
    this.#replace(parent, name, node);
    if (!(before.data instanceof Unloaded)) this.tree.family.contents.noteReleased(before as ContentNode);
    this.recorder?.writes.push({
      kind: 'write',
      path: joinPath(parent.path, name),
      size: node.size,
      parts,
      meta: node.meta,
    });
  }

  /** Writes down that a file's old content is not needed for what follows. */
  recordTruncate(parent: Location, name: string, meta: Metadata): void {
    this.recorder?.writes.push({ kind: 'write', path: joinPath(parent.path, name), size: 0, parts: [], meta });
  }

  #replace(parent: Location, name: string, node: FileNode | SymlinkNode): void {
    const entry = parent.directory.entries.get(name) as TreeNode;
    this.tree.replace(parent, name, entry, node);
    this.changes?.push({ type: 'modify', path: joinPath(parent.path, name) });
  }

  /** Gives any node other metadata. */
  setMeta(parent: Location, name: string, node: Node, meta: Metadata): void {
    if (node.kind !== DIRECTORY) {
      this.#replace(parent, name, this.tree.withMeta(node, meta));
      this.#recordMeta(joinPath(parent.path, name), meta);
      return;
    }
    const location = name === '' ? this.tree.rootLocation : this.tree.childLocation(parent, name, node);
    this.relyOnMeta(node);
    this.tree.setDirectoryMeta(location, meta);
    this.changes?.push({ type: 'modify', path: location.path });
    this.#recordMeta(location.path, meta);
  }

  /** The times of a directory whose names changed. */
  touch(location: Location): void {
    const now = this.now();
    const { meta } = location.directory;
    this.recorder?.writes.push({ kind: 'touch', path: location.path, time: now });
    if (meta.mtime === now && meta.ctime === now) return;
    this.tree.own(location).meta = { ...meta, mtime: now, ctime: now };
  }

  /** Takes back what `touch` did to a directory, where entries are put as they are. */
  restoreMeta(location: Location, meta: Metadata): void {
    if (location.directory.meta === meta) return;
    this.tree.own(location).meta = meta;
    this.#recordMeta(location.path, meta);
  }

  #recordMeta(path: string, meta: Metadata): void {
    this.recorder?.writes.push({ kind: 'meta', path, meta });
  }
}

const NOT_FAST = Symbol('not fast');

/** Whether a name that was not found is surely a legal one: short, and free of separators, NUL and surrogates. */
function isPlainName(name: string): boolean {
  if (name.length === 0 || name.length * 3 > MAX_NAME_BYTES || name === '.' || name === '..') return false;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (unit === 0 || unit === 0x5c || (unit >= 0xd800 && unit < 0xe000)) return false;
  }
  return true;
}

/** @throws TypeError where the clock answers anything but a finite number: before anything has changed */
function checkNow(now: number): number {
  if (typeof now !== 'number' || !Number.isFinite(now))
    throw new TypeError('clock must answer a finite number of milliseconds');
  return now;
}

/** Whether a normalized path is longer, or deeper, than paths may be. */
export function isTooLong(path: string): boolean {
  if (path.length * 3 <= MAX_PATH_BYTES && path.length <= MAX_DEPTH * 2) return false;
  return utf8Length(path) > MAX_PATH_BYTES || pathSegments(path).length > MAX_DEPTH;
}

function joinRest(path: string, rest: readonly string[]): string {
  let joined = path;
  for (let i = rest.length - 1; i >= 0; i--) {
    const name = rest[i] as string;
    if (name === '..') break;
    if (name !== '' && name !== '.') joined += `/${name}`;
  }
  return joined;
}

export function limitError(
  code: 'ENOSPC' | 'EFBIG',
  limit: string,
  used: number,
  requested: number,
  allowed: number,
  syscall: string,
  path: string,
): FsError {
  const unit = limit === 'maxNodeCount' ? 'entries' : limit === 'maxCheckpoints' ? 'checkpoints' : 'bytes';
  const hint = `The limit ${limit} is ${allowed} ${unit}; ${used} are in use and this would make ${requested}`;
  return new FsError(code, { syscall, path, limit, used, requested, allowed, hint });
}
