import { type Batch, type CommitResult, isWholeWrite, type Metadata, type NodeId, type Write } from '../../backend.js';
import { baseName, parentPath } from '../../paths.js';
import type { ContentNode } from '../../tree/content.js';
import {
  DIRECTORY,
  DirectoryNode,
  FILE,
  FileNode,
  LINKED,
  LinkedNode,
  type Node,
  type SymlinkNode,
  type TreeNode,
} from '../../tree/node.js';
import { type Location, symlinkNode, Tree } from '../../tree/tree.js';
import { exceededLimit, type Limited } from '../exceeded-limit.js';
import type { Steps } from '../scheduling/time-slice.js';
import type { TreeReader, Versions } from './tree-reader.js';

/** Applies batches to a tree. A refused batch changes nothing. */
export class TreeWriter {
  readonly #tree: Tree;
  readonly #reader: TreeReader;
  readonly #versions: Versions;

  constructor(tree: Tree, reader: TreeReader, versions: Versions) {
    this.#tree = tree;
    this.#reader = reader;
    this.#versions = versions;
  }

  /** Applies a batch. Pause between steps only if nothing else reads or changes the tree in between. */
  *commit(batch: Batch): Steps<CommitResult> {
    const failed: number[] = [];
    for (const [i, check] of batch.checks.entries()) {
      if (!this.#reader.holds(check)) failed.push(i);
      yield;
    }
    if (failed.length > 0) return { kind: 'conflict', checks: failed };
    const tree = this.#tree;
    const before = tree.totals();
    if (batch.writes.length === 0) return { kind: 'ok', version: tree.shared.newVersion() };
    const tooLarge = yield* this.#tooLargeFile(batch);
    const state = tree.freeze();
    tree.trimLocations();
    const touched: (() => object | undefined)[] = [];
    try {
      for (const write of batch.writes) {
        this.#apply(write, touched);
        yield;
      }
    } catch (error) {
      tree.reset(state);
      throw error;
    }
    const limit = tooLarge ?? exceededLimit(before, tree.totals(), batch.limits);
    if (limit !== undefined) {
      tree.reset(state);
      return limit;
    }
    const version = tree.shared.newVersion();
    for (const find of touched) {
      const key = find();
      if (key !== undefined) this.#versions.set(key, version);
      yield;
    }
    return { kind: 'ok', version };
  }

  /** Returns the refusal for the first create or write that makes a file larger than allowed, or undefined. */
  *#tooLargeFile({ writes, limits: { maxFileSize } }: Batch): Steps<Limited | undefined> {
    if (maxFileSize === undefined) return undefined;
    for (const write of writes) {
      yield;
      if (write.kind !== 'create' && write.kind !== 'write') continue;
      const requested = write.kind === 'create' ? (write.content?.byteLength ?? 0) : write.size;
      const node = this.#reader.find(write.path)?.node;
      const used = node?.kind === FILE ? node.size : 0;
      if (requested > maxFileSize && requested > used) {
        return { kind: 'limit', limit: 'maxFileSize', allowed: maxFileSize, used, requested };
      }
    }
    return undefined;
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
      const source = this.#reader.find(write.from)?.node as Node;
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
        ...(this.#reader.find(write.path)?.node.meta as Metadata),
        mtime: write.time,
        ctime: write.time,
      });
    touched.push(() => this.#key(write.path));
  }

  /** Returns the object that carries the version of the node at a path. */
  #key(path: string): object | undefined {
    const node = this.#reader.find(path)?.node;
    return node?.kind === DIRECTORY ? node.meta : node;
  }

  #newNode(write: Extract<Write, { kind: 'create' }>): Node {
    const { id, meta } = write;
    if (write.type === 'directory') return DirectoryNode.empty(this.#tree.owner, id, { ...meta });
    if (write.type === 'symlink') return symlinkNode(id, meta, write.target as string);
    const file = new FileNode(id, meta);
    this.#tree.shared.contents.fromBytes(file as ContentNode, write.content ?? new Uint8Array(0));
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
    const { contents } = this.#tree.shared;
    const { owner } = this.#tree;
    const next = new FileNode(file.id, write.meta);
    const content = next as ContentNode;
    const kept = isWholeWrite(write) ? 0 : Math.min(file.size, write.size);
    contents.resize(content, file as ContentNode, owner, kept);
    for (const part of write.parts) contents.patch(content, content, owner, part.offset, part.bytes);
    contents.resize(content, content, owner, write.size);
    contents.noteReleased(file as ContentNode);
    this.#tree.replace(parent, name, entry, next);
  }

  #setMeta(path: string, parent: Location, name: string, meta: Metadata): void {
    const { entry, node } = this.#reader.find(path) as { entry: TreeNode; node: Node };
    if (node.kind !== DIRECTORY) this.#tree.replace(parent, name, entry, this.#tree.withMeta(node, meta));
    else this.#tree.setDirectoryMeta(this.#location(path), { ...meta });
  }

  #parent(path: string): Location {
    return this.#location(parentPath(path));
  }

  #location(path: string): Location {
    const tree = this.#tree;
    const known = path === '/' ? tree.rootLocation : tree.cachedLocation(path);
    if (known !== undefined) return known;
    const parent = this.#parent(path);
    const name = baseName(path);
    return tree.childLocation(parent, name, parent.directory.entries.get(name) as DirectoryNode);
  }
}
