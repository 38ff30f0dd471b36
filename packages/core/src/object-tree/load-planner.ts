import type { Batch, Check, LoadRequest, NodeId, Write } from '../backend.js';
import type { Steps } from '../engine/scheduling/time-slice.js';
import type { TreeReader } from '../engine/tree-backend/tree-reader.js';
import { isWithin, parentPath } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import { type EntriesNode, type Inner, type Leaf, MAX_CHILDREN, MAX_LEAF_NAMES } from '../tree/entries-node.js';
import { childIndex } from '../tree/entries-search.js';
import { DIRECTORY, type DirectoryNode, FILE, type TreeNode } from '../tree/node.js';
import type { TreeState } from '../tree/tree.js';
import { isScattered, isScatteredPage } from './compaction.js';
import { extentsOf, type Piece } from './extents.js';
import { LARGE_PIECE_BYTES } from './object-writer.js';
import { BytesNotLoaded, type Ref, refKey } from './ref.js';
import { type Pages, type StoredPage, storedPage } from './stored-page.js';

/** Bytes of content after which a commit compacts no more. */
const MAX_COMPACTED_BYTES = 16 * 2 ** 20;

/** Effects of the earlier writes of a batch on paths. */
interface BatchProgress {
  readonly moves: { readonly from: string; readonly to: string }[];
  /** Paths of files that have several names since a write of the batch. */
  readonly linked: string[];
}

/** Collects the references to the bytes that must be loaded before an operation can run, as far as they are known. */
export class LoadPlanner {
  readonly #refs = new Map<string, Ref>();
  readonly #optional = new Map<string, Ref>();
  readonly #pages: Pages;
  readonly #read: (ref: Ref) => Uint8Array | undefined;

  constructor(pages: Pages, read: (ref: Ref) => Uint8Array | undefined) {
    this.#pages = pages;
    this.#read = read;
  }

  get refs(): readonly Ref[] {
    return [...this.#refs.values()];
  }

  /** Contents to load for compaction. A content that cannot be read is not moved. */
  get optional(): readonly Ref[] {
    return [...this.#optional.values()];
  }

  /** Runs work. If it needs bytes that are not loaded, collects their references and returns undefined. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BytesNotLoaded)) throw error;
      for (const ref of error.refs) this.#refs.set(refKey(ref), ref);
      return undefined;
    }
  }

  /** Collects what the preconditions and writes of a batch read. */
  *batch(reader: TreeReader, { checks, writes }: Batch): Steps<void> {
    for (const check of checks) {
      this.#check(reader, check);
      yield;
    }
    const done: BatchProgress = { moves: [], linked: [] };
    for (const write of writes) {
      yield* this.#write(reader, write, done);
      yield;
    }
  }

  *request(reader: TreeReader, request: LoadRequest): Steps<void> {
    if (request.kind === 'path') {
      this.attempt(() => reader.find(request.path));
      return;
    }
    const directory = this.#directory(reader, request.at.path, request.at.id);
    if (directory === undefined) return;
    if (request.kind === 'list') this.names(directory, request.after, request.limit);
    else if (request.kind === 'tree') yield* this.tree(directory, request.budget, request.contents);
  }

  /** Collects the pages that hold the next `limit` names after the name `after`. */
  names({ entries }: DirectoryNode, after: string | undefined, limit: number): void {
    const { root, height, count } = entries.parts;
    if (count > 0) this.#visit(root, height, after, limit);
  }

  /** Collects what is under a directory, up to about `budget` bytes, counted as for the result of a `tree` request. */
  *tree(top: DirectoryNode, budget: number, withContents: boolean): Steps<void> {
    const pending = [top];
    let used = 0;
    for (let i = 0; i < pending.length && (used < budget || i === 0); i++) {
      const directory = pending[i] as DirectoryNode;
      if (!(yield* this.#isReady(directory))) {
        this.names(directory, undefined, Infinity);
        used += directory.entries.size * 140;
        continue;
      }
      directory.entries.forEach((child, name) => {
        used += 120 + name.length;
        if (child.kind === DIRECTORY) pending.push(child);
        else if (withContents && child.kind === FILE && used + child.size <= budget) {
          used += child.size;
          for (const { piece } of extentsOf(child as ContentNode)) if (piece !== null) this.piece(piece);
        }
      });
    }
  }

  /**
   * Collects what a compaction reads: pages and, up to some size in all, small contents in objects of commits after
   * `since`. Older pages are not entered: a page of a commit after `since` is only reachable through pages of such
   * commits.
   */
  *scattered({ root, inodes }: TreeState, since: number, unreadable: ReadonlySet<string>): Steps<void> {
    let bytes = 0;
    const moved = new Set<string>();
    const file = (node: ContentNode): void => {
      for (const { piece } of extentsOf(node)) {
        const stored = piece?.stored;
        if (stored === undefined || piece === null || piece.length >= LARGE_PIECE_BYTES) continue;
        const key = refKey(stored);
        if (!isScattered(stored, since) || bytes > MAX_COMPACTED_BYTES || moved.has(key) || unreadable.has(key))
          continue;
        moved.add(key);
        bytes += piece.length;
        if (piece.bytes === undefined && this.#read(stored) === undefined) this.#optional.set(key, stored);
      }
    };
    const pending = [{ node: root.entries.parts.root, height: root.entries.parts.height }];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      yield;
      const stored = storedPage(at.node);
      if (stored === undefined || !isScatteredPage(stored, since) || !this.page(stored)) continue;
      if (at.height > 0) {
        for (const node of (at.node as Inner<TreeNode>).children) pending.push({ node, height: at.height - 1 });
        continue;
      }
      for (const value of (at.node as Leaf<TreeNode>).values) {
        if (value.kind === FILE) file(value as ContentNode);
        else if (value.kind === DIRECTORY) {
          const { root: node, height } = value.entries.parts;
          pending.push({ node, height });
        }
      }
    }
    for (const { node } of inodes.values()) if (node.kind === FILE) file(node as ContentNode);
  }

  piece({ stored, bytes }: Piece): void {
    if (bytes === undefined && stored !== undefined && this.#read(stored) === undefined)
      this.#refs.set(refKey(stored), stored);
  }

  page(stored: StoredPage): boolean {
    if (this.#pages.isReady(stored)) return true;
    this.#refs.set(refKey(stored.ref), stored.ref);
    return false;
  }

  #check(reader: TreeReader, check: Check): void {
    this.attempt(() => reader.find(check.path));
  }

  *#write(reader: TreeReader, write: Write, done: BatchProgress): Steps<void> {
    if (write.kind === 'clear') return;
    const to = originOf('path' in write ? write.path : write.to, done);
    const from = 'from' in write ? originOf(write.from, done) : to;
    for (const path of new Set([to, from])) {
      this.attempt(() => reader.find(path));
      this.attempt(() => reader.find(parentPath(path)));
    }
    if (write.kind === 'link') done.linked.push(from, to);
    const directory = this.#directory(reader, from);
    if (directory === undefined) return;
    if (write.kind === 'copy' || write.kind === 'remove') {
      // Each name of a file with several names has to be counted, so the whole subtree is needed.
      const isRead = directory.linked > 0 || done.linked.some((path) => isWithin(path, from));
      if (isRead) yield* this.tree(directory, Infinity, false);
    }
    if ('to' in write) done.moves.push({ from, to: write.to });
  }

  #directory(reader: TreeReader, path: string, id?: NodeId): DirectoryNode | undefined {
    const node = this.attempt(() => reader.find(path))?.node;
    return node?.kind === DIRECTORY && (id === undefined || node.id === id) ? node : undefined;
  }

  /** Reports whether all names of a directory are loaded. */
  *#isReady({ entries }: DirectoryNode): Steps<boolean> {
    const { root, height, count } = entries.parts;
    return count === 0 || (yield* this.#allReady(root, height));
  }

  /** Reports whether all pages under a node are loaded. Decodes one page per step. */
  *#allReady(node: EntriesNode<TreeNode>, height: number): Steps<boolean> {
    const stored = storedPage(node);
    if (stored !== undefined && !this.#pages.isReady(stored)) return false;
    yield;
    if (height === 0) return true;
    for (const child of (node as Inner<TreeNode>).children)
      if (!(yield* this.#allReady(child, height - 1))) return false;
    return true;
  }

  /**
   * Collects the pages that are not loaded. Returns an estimate of the number of names found: for a page that is not
   * loaded, as many as are under one with full leaves and half of the children; 0 for the leaf that `after` is in.
   */
  #visit(node: EntriesNode<TreeNode>, height: number, after: string | undefined, limit: number): number {
    const stored = storedPage(node);
    if (stored !== undefined && !this.page(stored)) return MAX_LEAF_NAMES * (MAX_CHILDREN / 2) ** height;
    if (height === 0) {
      const { names } = node as Leaf<TreeNode>;
      return after === undefined ? names.length : 0;
    }
    const inner = node as Inner<TreeNode>;
    let seen = 0;
    let slot = after === undefined ? 0 : childIndex(inner, after);
    for (let first = true; slot < inner.children.length && seen <= limit; slot++, first = false) {
      seen += this.#visit(
        inner.children[slot] as EntriesNode<TreeNode>,
        height - 1,
        first ? after : undefined,
        limit - seen,
      );
    }
    return seen;
  }
}

/**
 * Returns the path that an entry had before the batch, which is another one if the batch has moved or copied the entry
 * or a directory above it.
 */
function originOf(path: string, { moves }: BatchProgress): string {
  const move = moves.findLast(({ to }) => isWithin(path, to));
  return move === undefined ? path : move.from + path.slice(move.to.length);
}
