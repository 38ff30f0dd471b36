import type {
  Backend,
  BackendCapabilities,
  Batch,
  Check,
  CommitResult,
  Facts,
  Listing,
  Metadata,
  NodeFact,
  NodeId,
  References,
  Version,
  Want,
  Write,
} from '../backend.js';
import { StorageError } from '../errors.js';
import type { Limits } from '../limits.js';
import { baseName, parentPath, pathSegments } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import {
  DIRECTORY,
  DirectoryNode,
  FILE,
  FileNode,
  kindName,
  LINKED,
  LinkedNode,
  type Node,
  SYMLINK,
  type SymlinkNode,
  type TreeNode,
} from '../tree/node.js';
import { type Location, symlinkNode, Tree, type TreeState } from '../tree/tree.js';
import type { MemoryExecutor } from './memory-executor.js';

/** Outcomes remembered for clients that ask later. */
const MAX_OUTCOMES = 10_000;

/**
 * The seam over a tree in memory: the async form of a memory storage, and the reference of what a backend does.
 * Everything within one call happens in one turn of the event loop, hence in one step.
 */
export class TreeBackend implements Backend {
  readonly capabilities: BackendCapabilities = { checkpoints: true, forks: true, sharedWatch: false };
  readonly references: References;
  readonly #executor: MemoryExecutor;
  /** Versions of what is immutable: a changed file, or changed metadata, is another object. */
  readonly #versions = new WeakMap<object, Version>();
  readonly #outcomes = new Map<string, CommitResult | 'absent'>();
  #closed = false;

  constructor(executor: MemoryExecutor) {
    this.#executor = executor;
    this.references = new TreeReferences(executor);
  }

  get #tree(): Tree {
    return this.#executor.tree;
  }

  async load(wants: readonly Want[], call?: { readonly signal?: AbortSignal | undefined }): Promise<readonly Facts[]> {
    this.#enter(call?.signal);
    return wants.map((want) => this.#load(want));
  }

  async commit(batch: Batch, call?: { readonly signal?: AbortSignal | undefined }): Promise<CommitResult> {
    this.#enter(call?.signal);
    const known = this.#outcomes.get(batch.operationId);
    if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it arrived');
    if (known !== undefined) return known;
    const result = this.#commit(batch);
    this.#remember(batch.operationId, result);
    return result;
  }

  async outcome(operationId: string): Promise<CommitResult | 'absent' | 'unknown'> {
    this.#enter();
    const known = this.#outcomes.get(operationId);
    if (known === undefined) this.#remember(operationId, 'absent');
    return known ?? 'absent';
  }

  async fork(): Promise<Backend> {
    this.#enter();
    return new TreeBackend(this.#executor.forkSync());
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #enter(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StorageError('closed', 'The storage is closed');
  }

  #remember(operationId: string, result: CommitResult | 'absent'): void {
    if (this.#outcomes.size >= MAX_OUTCOMES) {
      const oldest = this.#outcomes.keys().next().value;
      if (oldest !== undefined) this.#outcomes.delete(oldest);
    }
    this.#outcomes.set(operationId, result);
  }

  // ── loading ────────────────────────────────────────────────────────────────────────────────────────────────────

  #load(want: Want): Facts {
    if (want.kind === 'path') return this.#loadPath(want.path, want.content);
    const found = this.#find(want.at.path);
    if (found?.node.id !== want.at.id) return { kind: 'gone' };
    if (want.kind === 'content') {
      if (found.node.kind !== FILE) return { kind: 'gone' };
      const { contents } = this.#tree.family;
      const bytes = contents.slice(found.node as ContentNode, want.offset, want.offset + want.length);
      return { kind: 'content', file: this.#fact(found.entry, found.node), offset: want.offset, bytes };
    }
    if (found.node.kind !== DIRECTORY) return { kind: 'gone' };
    if (want.kind === 'tree') return this.#loadTree(found.node, want.budget, want.contents);
    const page = found.node.entries.page(want.after, want.limit);
    const nodes = page.values.map((entry) => this.#fact(entry));
    return { kind: 'list', directory: this.#fact(found.node), names: page.names, nodes, complete: page.complete };
  }

  #loadPath(path: string, content: number): Facts {
    let node: Node = this.#tree.root;
    const nodes: (NodeFact | null)[] = [this.#fact(node)];
    for (const name of pathSegments(path)) {
      if (node.kind !== DIRECTORY) break;
      const entry: TreeNode | undefined = node.entries.get(name);
      const next: Node | undefined = this.#tree.resolve(entry);
      if (entry === undefined || next === undefined) {
        nodes.push(null);
        return { kind: 'path', nodes };
      }
      nodes.push(this.#fact(entry, next));
      node = next;
    }
    if (node.kind !== FILE || node.size > content) return { kind: 'path', nodes };
    return { kind: 'path', nodes, content: this.#tree.family.contents.bytes(node as ContentNode) };
  }

  #loadTree(directory: DirectoryNode, budget: number, withContents: boolean): Facts {
    const listings: Listing[] = [];
    const pending: { path: string; node: DirectoryNode }[] = [{ path: '', node: directory }];
    let used = 0;
    for (let i = 0; i < pending.length && (used < budget || i === 0); i++) {
      const { path, node } = pending[i] as { path: string; node: DirectoryNode };
      const names = node.entries.names();
      const entries = node.entries.values();
      const contents: (Uint8Array | undefined)[] = [];
      entries.forEach((entry, at) => {
        const child = this.#tree.resolve(entry) as Node;
        const name = names[at] as string;
        used += 120 + name.length;
        if (child.kind === DIRECTORY) pending.push({ path: path === '' ? name : `${path}/${name}`, node: child });
        else if (withContents && child.kind === FILE && used + child.size <= budget) {
          contents[at] = this.#tree.family.contents.bytes(child as ContentNode);
          used += child.size;
        }
      });
      listings.push({ path, names, nodes: entries.map((entry) => this.#fact(entry)), contents });
    }
    return { kind: 'tree', directory: this.#fact(directory), listings };
  }

  #fact(entry: TreeNode, node = this.#tree.resolve(entry) as Node): NodeFact {
    const fact = {
      id: node.id,
      kind: kindName(node),
      meta: node.meta,
      version: this.#versionOf(node),
      size: node.kind === DIRECTORY ? 0 : node.size,
      links: this.#tree.linksOf(entry),
    };
    if (node.kind === SYMLINK) return { ...fact, target: node.target };
    if (node.kind !== DIRECTORY) return fact;
    const isRoot = node === this.#tree.root;
    const { size, files, directories, linked } = isRoot ? this.#tree.totals() : node;
    return {
      ...fact,
      directory: {
        listing: node.listing,
        tree: this.#treeVersion(node),
        count: node.entries.size,
        totals: { size, files, directories, linked },
      },
    };
  }

  #versionOf(node: Node): Version {
    const key = node.kind === DIRECTORY ? node.meta : node;
    let version = this.#versions.get(key);
    if (version === undefined) {
      version = this.#tree.family.newVersion();
      this.#versions.set(key, version);
    }
    return version;
  }

  /** Files with several names change beside the tree: where some are beneath, any such change counts. */
  #treeVersion(directory: DirectoryNode): Version {
    return directory.linked > 0 ? `${directory.version}+${this.#tree.inodesVersion}` : directory.version;
  }

  #find(path: string): { entry: TreeNode; node: Node } | undefined {
    let entry: TreeNode | undefined = this.#tree.root;
    for (const name of pathSegments(path)) {
      entry = entry?.kind === DIRECTORY ? entry.entries.get(name) : undefined;
    }
    const node = this.#tree.resolve(entry);
    return entry === undefined || node === undefined ? undefined : { entry, node };
  }

  // ── committing ─────────────────────────────────────────────────────────────────────────────────────────────────

  #commit(batch: Batch): CommitResult {
    const failed = batch.checks.flatMap((check, i) => (this.#holds(check) ? [] : [i]));
    if (failed.length > 0) return { kind: 'conflict', checks: failed };
    const tree = this.#tree;
    const before = tree.totals();
    if (batch.writes.length === 0) return { kind: 'ok', version: tree.family.newVersion() };
    const tooLarge = this.#tooLargeFile(batch);
    const state = tree.freeze();
    const touched: (() => object | undefined)[] = [];
    for (const write of batch.writes) this.#apply(write, touched);
    const limit = tooLarge ?? overLimit(before, tree.totals(), batch.limits);
    if (limit !== undefined) {
      tree.reset(state);
      return limit;
    }
    const version = tree.family.newVersion();
    for (const find of touched) {
      const key = find();
      if (key !== undefined) this.#versions.set(key, version);
    }
    return { kind: 'ok', version };
  }

  /** A file that a batch makes larger than one may be. */
  #tooLargeFile({ writes, limits: { maxFileSize } }: Batch): Limited | undefined {
    if (maxFileSize === undefined) return undefined;
    for (const write of writes) {
      if (write.kind !== 'create' && write.kind !== 'write') continue;
      const requested = write.kind === 'create' ? (write.content?.byteLength ?? 0) : write.size;
      const node = this.#find(write.path)?.node;
      const used = node?.kind === FILE ? node.size : 0;
      if (requested > maxFileSize && requested > used) {
        return { kind: 'limit', limit: 'maxFileSize', allowed: maxFileSize, used, requested };
      }
    }
    return undefined;
  }

  #holds(check: Check): boolean {
    const found = this.#find(check.path);
    if (check.kind === 'entry' && check.id === null) return found === undefined;
    if (found === undefined || found.node.id !== check.id) return false;
    if (check.kind === 'entry') return check.version === undefined || check.version === this.#versionOf(found.node);
    if (found.node.kind !== DIRECTORY) return false;
    if (check.kind === 'empty') return found.node.entries.size === 0;
    return check.version === (check.kind === 'listing' ? found.node.listing : this.#treeVersion(found.node));
  }

  #apply(write: Write, touched: (() => object | undefined)[]): void {
    const tree = this.#tree;
    if (write.kind === 'clear') {
      tree.reset(Tree.emptyState(write.meta));
      return;
    }
    if (write.kind === 'move') {
      const from = this.#parent(write.from);
      const name = baseName(write.from);
      const entry = from.directory.entries.get(name) as TreeNode;
      tree.detach(from, name, entry);
      tree.insert(this.#parent(write.to), baseName(write.to), entry);
      const { meta } = tree.resolve(entry) as Node;
      this.#setMeta(write.to, this.#parent(write.to), baseName(write.to), { ...meta, ctime: write.time });
      touched.push(() => this.#key(write.to));
      return;
    }
    if (write.kind === 'copy') {
      const source = this.#find(write.from)?.node as Node;
      const copy =
        source.kind === DIRECTORY
          ? tree.copyDirectory(source, write.id, write.meta, { time: write.time, keep: write.keepTimes })
          : tree.copyLeaf(source, write.id, write.meta);
      tree.insert(this.#parent(write.to), baseName(write.to), copy);
      touched.push(() => this.#key(write.to));
      return;
    }
    const parent = this.#parent(write.path);
    const name = baseName(write.path);
    if (write.kind === 'create') tree.insert(parent, name, this.#newNode(write));
    else if (write.kind === 'link') this.#link(write.from, parent, name);
    else if (write.kind === 'remove') this.#remove(parent, name, write.time);
    else if (write.kind === 'write') this.#write(write, parent, name);
    else if (write.kind === 'meta') this.#setMeta(write.path, parent, name, write.meta);
    else
      this.#setMeta(write.path, parent, name, {
        ...(this.#find(write.path)?.node.meta as Metadata),
        mtime: write.time,
        ctime: write.time,
      });
    touched.push(() => this.#key(write.path));
  }

  /** What carries the version of the node at a path. */
  #key(path: string): object | undefined {
    const node = this.#find(path)?.node;
    return node?.kind === DIRECTORY ? node.meta : node;
  }

  #newNode(write: Extract<Write, { kind: 'create' }>): Node {
    const { id, meta } = write;
    if (write.type === 'directory') return DirectoryNode.empty(this.#tree.owner, id, { ...meta });
    if (write.type === 'symlink') return symlinkNode(id, meta, write.target ?? '');
    const file = new FileNode(id, meta);
    this.#tree.family.contents.fromBytes(file as ContentNode, write.content ?? new Uint8Array(0));
    return file;
  }

  #link(from: string, parent: Location, name: string): void {
    const source = this.#parent(from);
    let entry = source.directory.entries.get(baseName(from)) as TreeNode;
    const node = this.#tree.resolve(entry) as FileNode | SymlinkNode;
    if (entry.kind !== LINKED) entry = this.#tree.promote(source, baseName(from), node);
    this.#tree.setInode(node.id, this.#tree.withMeta(node, node.meta), this.#tree.linksOf(entry) + 1);
    this.#tree.insert(parent, name, new LinkedNode(node.id));
  }

  #remove(parent: Location, name: string, time: number): void {
    const entry = parent.directory.entries.get(name) as TreeNode;
    const orphans = new Map<NodeId, Node>();
    if (entry.kind === DIRECTORY)
      for (const id of this.#tree.dropLinksBeneath(entry, orphans)) this.#tree.touchInode(id, time);
    this.#tree.detach(parent, name, entry);
    if (entry.kind !== LINKED) return;
    this.#tree.dropLink(entry.id, orphans);
    this.#tree.touchInode(entry.id, time);
  }

  #write(write: Extract<Write, { kind: 'write' }>, parent: Location, name: string): void {
    const entry = parent.directory.entries.get(name) as TreeNode;
    const file = this.#tree.resolve(entry) as FileNode;
    const { contents } = this.#tree.family;
    let content: ContentNode = new FileNode(file.id, write.meta) as ContentNode;
    contents.resize(content, file as ContentNode, this.#tree.owner, Math.min(file.size, write.size));
    for (const part of write.parts) {
      const next = new FileNode(file.id, write.meta) as ContentNode;
      contents.patch(next, content, this.#tree.owner, part.offset, part.bytes);
      content = next;
    }
    const next = new FileNode(file.id, write.meta);
    contents.resize(next as ContentNode, content, this.#tree.owner, write.size);
    this.#tree.replace(parent, name, entry, next);
  }

  #setMeta(path: string, parent: Location, name: string, meta: Metadata): void {
    const { entry, node } = this.#find(path) as { entry: TreeNode; node: Node };
    if (node.kind !== DIRECTORY) this.#tree.replace(parent, name, entry, this.#tree.withMeta(node, meta));
    else this.#tree.setDirectoryMeta(this.#location(path), { ...meta });
  }

  #parent(path: string): Location {
    return this.#location(parentPath(path));
  }

  #location(path: string): Location {
    let location = this.#tree.rootLocation;
    for (const name of pathSegments(path)) {
      location = this.#tree.childLocation(location, name, location.directory.entries.get(name) as DirectoryNode);
    }
    return location;
  }
}

type Limited = Extract<CommitResult, { kind: 'limit' }>;

function overLimit(
  before: { size: number; files: number; directories: number },
  after: typeof before,
  limits: Limits,
): Limited | undefined {
  const { maxTotalSize, maxNodeCount } = limits;
  if (maxTotalSize !== undefined && after.size > maxTotalSize && after.size > before.size) {
    return { kind: 'limit', limit: 'maxTotalSize', allowed: maxTotalSize, used: before.size, requested: after.size };
  }
  const nodes = after.files + after.directories;
  const used = before.files + before.directories;
  if (maxNodeCount !== undefined && nodes > maxNodeCount && nodes > used) {
    return { kind: 'limit', limit: 'maxNodeCount', allowed: maxNodeCount, used, requested: nodes };
  }
  return undefined;
}

/** Named states of a tree. */
class TreeReferences implements References {
  readonly #held = new Map<
    string,
    { readonly id: string; readonly name: string | undefined; readonly createdAt: number; readonly state: TreeState }
  >();

  constructor(readonly executor: MemoryExecutor) {}

  async create(
    id: string,
    name: string | undefined,
    createdAt: number,
    max: number | undefined,
  ): Promise<'ok' | 'exists' | 'limit'> {
    if (this.#held.has(id)) return 'ok';
    for (const held of this.#held.values()) if (name !== undefined && held.name === name) return 'exists';
    if (max !== undefined && this.#held.size >= max) return 'limit';
    this.#held.set(id, { id, name, createdAt, state: this.executor.tree.freeze() });
    return 'ok';
  }

  async list(): Promise<
    readonly { readonly id: string; readonly name: string | undefined; readonly createdAt: number }[]
  > {
    return [...this.#held.values()].map(({ id, name, createdAt }) => ({ id, name, createdAt }));
  }

  async restore(id: string, limits: Limits): Promise<'ok' | 'missing' | Limited> {
    const held = this.#held.get(id);
    if (held === undefined) return 'missing';
    const { tree } = this.executor;
    const { root, linkedSize } = held.state;
    const after = { size: root.size + linkedSize, files: root.files, directories: root.directories };
    const limit = overLimit(tree.totals(), after, limits);
    if (limit !== undefined) return limit;
    tree.reset(held.state);
    this.executor.hub.reset();
    return 'ok';
  }

  async drop(id: string): Promise<boolean> {
    return this.#held.delete(id);
  }
}
