import type { NodeId } from '../backend.js';
import type { Versions } from '../engine/tree-backend/tree-reader.js';
import type { ContentNode } from '../tree/content.js';
import { type EntriesNode, type Inner, Leaf } from '../tree/entries-node.js';
import { FILE, type Inode, type TreeNode } from '../tree/node.js';
import { Cache } from './cache.js';
import type { Copying } from './copies.js';
import { extentsOf } from './extents.js';
import { decodeInodes, decodePage } from './page-format.js';
import type { RangeCache } from './range-cache.js';
import { BytesNotLoaded, isWhole, type Ref, refKey } from './ref.js';

/** Number of pages that stay decoded. A page whose files have many extents counts as several. */
const MAX_DECODED_PAGES = 2_048;
const EXTENTS_PER_PAGE = 128;
/** Number of files with several names that stay decoded, for all states together; a single state may exceed it. */
const MAX_DECODED_INODES = 8_192;
/** Number of states whose files with several names stay decoded. */
const MAX_DECODED_STATES = 8;

/**
 * A part of a directory that lies in an object: to the tree it is a leaf or inner node without an owner. Reading what
 * it contains throws `BytesNotLoaded` if its bytes are not loaded.
 */
export class StoredPage {
  readonly owner = null;
  readonly ref: Ref;
  readonly copying: Copying | undefined;
  readonly #pages: Pages;
  #key: string | undefined;

  constructor(ref: Ref, copying: Copying | undefined, pages: Pages) {
    this.ref = ref;
    this.copying = copying;
    this.#pages = pages;
  }

  /** Key of the decoded page. */
  get key(): string {
    this.#key ??= keyOf(this.ref, this.copying);
    return this.#key;
  }

  get names(): readonly string[] {
    return this.#leaf.names;
  }
  get values(): readonly TreeNode[] {
    return this.#leaf.values;
  }
  get table(): string {
    return this.#leaf.table;
  }
  set table(table: string) {
    this.#leaf.table = table;
  }
  get reads(): number {
    return this.#leaf.reads;
  }
  set reads(reads: number) {
    this.#leaf.reads = reads;
  }
  get keys(): readonly string[] {
    return this.#inner.keys;
  }
  get children(): readonly EntriesNode<TreeNode>[] {
    return this.#inner.children;
  }
  get prefix(): number {
    return this.#page.prefix;
  }
  set prefix(prefix: number) {
    this.#page.prefix = prefix;
  }

  get #page(): EntriesNode<TreeNode> {
    return this.#pages.visit(this);
  }
  get #leaf(): Leaf<TreeNode> {
    return this.#page as Leaf<TreeNode>;
  }
  get #inner(): Inner<TreeNode> {
    return this.#page as Inner<TreeNode>;
  }
}

/** Returns the node as a {@link StoredPage}; undefined for a leaf or an inner node in memory. */
export function storedPage(node: EntriesNode<TreeNode>): StoredPage | undefined {
  const part: unknown = node;
  return part instanceof StoredPage ? part : undefined;
}

function keyOf(ref: Ref, copying: Copying | undefined): string {
  return copying === undefined ? refKey(ref) : `${refKey(ref)} ${copying.id}`;
}

function countExtents(page: EntriesNode<TreeNode>): number {
  if (!(page instanceof Leaf)) return 0;
  let count = 0;
  for (const value of page.values) if (value.kind === FILE) count += extentsOf(value as ContentNode).length;
  return count;
}

/** Pages, decoded when they are visited. */
export class Pages {
  readonly #rangeCache: RangeCache;
  readonly #versions: Versions;
  readonly #decoded = new Cache<EntriesNode<TreeNode>>(MAX_DECODED_PAGES);
  readonly #inodes = new Cache<ReadonlyMap<NodeId, Inode>>(MAX_DECODED_INODES);
  /** Decoded inode tables whose bytes were evicted. They are kept during a hold, as they could not be decoded again. */
  readonly #needed = new Cache<ReadonlyMap<NodeId, Inode>>(0);
  /** The page visited last: a search reads the names of one page many times. */
  #visited: { readonly stored: StoredPage; readonly page: EntriesNode<TreeNode> } | undefined;

  constructor(rangeCache: RangeCache, versions: Versions) {
    this.#rangeCache = rangeCache;
    this.#versions = versions;
  }

  hold(): () => void {
    // The next visit counts as a use during the hold.
    this.#visited = undefined;
    const releases = [this.#decoded.hold(), this.#needed.hold()];
    return () => {
      for (const release of releases) release();
    };
  }

  /** Returns a placeholder for the page, which is decoded when it is visited. */
  at(ref: Ref, copying?: Copying): EntriesNode<TreeNode> {
    return new StoredPage(ref, copying, this) as unknown as EntriesNode<TreeNode>;
  }

  /** Reports whether the page can be visited: it is decoded, or its bytes are loaded. @throws StorageError `corrupt` */
  isReady(stored: StoredPage): boolean {
    if (this.#decoded.has(stored.key)) return true;
    try {
      this.visit(stored);
      return true;
    } catch (error) {
      if (!(error instanceof BytesNotLoaded)) throw error;
      return false;
    }
  }

  /** Like {@link Pages.get}, for a page that is read many times in a row. */
  visit(stored: StoredPage): EntriesNode<TreeNode> {
    if (this.#visited?.stored === stored) return this.#visited.page;
    const page = this.#get(stored.key, stored.ref, stored.copying);
    this.#visited = { stored, page };
    return page;
  }

  /** Returns a decoded page. @throws BytesNotLoaded; StorageError `corrupt` */
  get(ref: Ref): EntriesNode<TreeNode> {
    return this.#get(keyOf(ref, undefined), ref, undefined);
  }

  #get(key: string, ref: Ref, copying: Copying | undefined): EntriesNode<TreeNode> {
    const known = this.#decoded.get(key);
    if (known !== undefined) return known;
    const page = decodePage(ref, this.#bytes(ref), this.#context, copying);
    this.#decoded.set(key, page, 1 + Math.floor(countExtents(page) / EXTENTS_PER_PAGE));
    return page;
  }

  /** Returns the decoded inode table. @throws BytesNotLoaded; StorageError `corrupt` */
  inodes(ref: Ref): ReadonlyMap<NodeId, Inode> {
    const key = refKey(ref);
    const known = this.#needed.get(key) ?? this.#inodes.get(key);
    if (known !== undefined) {
      if (this.#rangeCache.find(ref) === undefined) this.#needed.set(key, known, 1);
      return known;
    }
    const inodes = decodeInodes(ref, this.#bytes(ref), this.#context);
    this.#inodes.set(
      key,
      inodes,
      Math.min(MAX_DECODED_INODES, Math.max(inodes.size, MAX_DECODED_INODES / MAX_DECODED_STATES)),
    );
    return inodes;
  }

  get #context() {
    return { versions: this.#versions, page: (ref: Ref, copying: Copying | undefined) => this.at(ref, copying) };
  }

  #bytes(ref: Ref): Uint8Array {
    const bytes = this.#rangeCache.find(ref);
    if (bytes !== undefined && isWhole(ref, bytes)) return bytes;
    // Only requested bytes are verified when they arrive. These came along in another range and are damaged, so they
    // are dropped and requested.
    if (bytes !== undefined) this.#rangeCache.drop(ref);
    throw new BytesNotLoaded([ref]);
  }
}
