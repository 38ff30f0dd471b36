import type { Version } from '../backend.js';
import type { Steps } from '../engine/scheduling/time-slice.js';
import type { Versions } from '../engine/tree-backend/tree-reader.js';
import type { ContentNode } from '../tree/content.js';
import type { EntriesNode, Inner, Leaf } from '../tree/entries-node.js';
import { DIRECTORY, type FileNode, type TreeNode } from '../tree/node.js';
import type { TreeState } from '../tree/tree.js';
import { isScattered, isScatteredPage } from './compaction.js';
import { type Extent, extentsOf, MAX_PIECE_BYTES, Piece } from './extents.js';
import type { StateRecord } from './head.js';
import { parseObjectName, printObjectName } from './object-name.js';
import { type ByteLocation, encodeInodes, encodePage, type PageContext, type PageLocation } from './page-format.js';
import { hashOf, type Ref, refKey } from './ref.js';
import { type Pages, storedPage } from './stored-page.js';

/** Size in bytes from which a piece is stored in an object of large contents, without pages. */
export const LARGE_PIECE_BYTES = 256 * 1024;
/** Maximum bytes of contents per object. */
const MAX_CONTENT_OBJECT_BYTES = 8 * 2 ** 20;

/** An object to put, and the pieces that are stored once it exists. */
export interface ObjectToPut {
  readonly name: string;
  readonly length: number;
  /** Assembled when it is put, so that large contents are not all in memory twice. */
  readonly bytes: () => Uint8Array;
  readonly pieces: readonly (readonly [Piece, Ref])[];
}

export interface ObjectWriterOptions {
  readonly prefix: string;
  readonly epoch: number;
  readonly commit: number;
  readonly newId: () => string;
  /** Greatest size in bytes of a stored part of an object. */
  readonly partBytes: number;
  readonly versions: Versions;
  readonly pages: Pages;
  /**
   * Small contents and pages of later commits than this are rewritten, so that they are stored together. Undefined: no
   * compaction.
   */
  readonly compactAfter: number | undefined;
  readonly read: (ref: Ref) => Uint8Array | undefined;
}

/**
 * Builds the objects for the parts of a state that are not stored yet. One object has the pages and the small contents,
 * up to a maximum size; other objects have large and further contents.
 */
export class ObjectWriter implements PageContext {
  readonly #options: ObjectWriterOptions;
  readonly #pages: Uint8Array[] = [];
  readonly #written = new Map<EntriesNode<TreeNode>, PageLocation>();
  #pagesLength = 0;
  readonly #contents: Uint8Array[] = [];
  #contentsLength = 0;
  /**
   * New locations of pieces. The key is the stored location, if there is one, because files that share a stored piece
   * have separate `Piece`s for it; else the piece itself.
   */
  readonly #places = new Map<Piece | string, ByteLocation>();
  readonly #large: { name: string; parts: Uint8Array[]; length: number; pieces: [Piece, Ref][] }[] = [];

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  *write(
    state: TreeState,
    before: { readonly inodes: unknown; readonly record: StateRecord },
  ): Steps<
    StateRecord & {
      readonly objects: readonly ObjectToPut[];
    }
  > {
    const { root, linkedSize, inodesVersion } = state;
    const { root: top, height: levels, count } = root.entries.parts;
    if (count > 0) yield* this.#pagesBeneath(top, levels);
    const page = count === 0 ? undefined : this.pageOf(top, levels);
    const inodes = this.#inodes(state, before);
    const name = this.#newName(this.#pagesLength);
    const { id, meta, listing, version: tree, size, files, directories, linked, height, reach } = root;
    const objects: ObjectToPut[] = this.#large.map(({ name, parts, length, pieces }) => ({
      name,
      length,
      bytes: () => concat(parts, length),
      pieces,
    }));
    const parts = [...this.#pages, ...this.#contents];
    const length = this.#pagesLength + this.#contentsLength;
    if (parts.length > 0) objects.push({ name, length, bytes: () => concat(parts, length), pieces: [] });
    const toRef = (place: ByteLocation | undefined): Ref | null => {
      if (place === undefined) return null;
      const { object = name, offset, length, hash } = place;
      return { object, offset, length, hash };
    };
    return {
      objects,
      id,
      meta,
      version: this.versionOf(meta) as number,
      listing: listing as number,
      tree: tree as number,
      size,
      files,
      directories,
      linked,
      height,
      reach,
      count,
      levels,
      page: toRef(page),
      inodes: toRef(inodes),
      linkedSize,
      inodesVersion: inodesVersion as number,
    };
  }

  versionOf(key: object): Version {
    return this.#options.versions.get(key) ?? this.#options.commit;
  }

  pageOf(node: EntriesNode<TreeNode>, height: number): PageLocation {
    const known = this.#written.get(node);
    if (known !== undefined) return known;
    const stored = storedPage(node);
    const toWrite = this.#toWrite(node);
    if (stored !== undefined && toWrite === undefined) return { ...stored.ref, copying: stored.copying };
    const place = this.#page(encodePage(toWrite as EntriesNode<TreeNode>, height, this));
    this.#written.set(node, place);
    return place;
  }

  /** Writes one page per step, each after its child pages, so that no step writes several pages. */
  *#pagesBeneath(node: EntriesNode<TreeNode>, height: number): Steps<void> {
    const page = this.#toWrite(node);
    if (page === undefined) return;
    if (height > 0)
      for (const child of (page as Inner<TreeNode>).children) yield* this.#pagesBeneath(child, height - 1);
    else
      for (const value of (page as Leaf<TreeNode>).values) {
        if (value.kind !== DIRECTORY) continue;
        const { root, height: levels, count } = value.entries.parts;
        if (count > 0) yield* this.#pagesBeneath(root, levels);
      }
    this.pageOf(node, height);
    yield;
  }

  /** Returns the node to write for a part of a directory, or undefined if its stored page is kept. */
  #toWrite(node: EntriesNode<TreeNode>): EntriesNode<TreeNode> | undefined {
    const stored = storedPage(node);
    if (stored === undefined) return node;
    const { compactAfter, pages } = this.#options;
    const stays = compactAfter === undefined || !isScatteredPage(stored, compactAfter);
    return stays ? undefined : pages.get(stored.ref);
  }

  extentsOf(file: FileNode): readonly Extent[] {
    const extents = extentsOf(file as ContentNode);
    if (this.#options.compactAfter === undefined || extents.length < 2) return extents;
    return joined(extents, (piece) => this.#bytesToMove(piece));
  }

  pieceOf(piece: Piece): ByteLocation {
    const key = piece.stored === undefined ? piece : refKey(piece.stored);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#place(piece);
    this.#places.set(key, place);
    return place;
  }

  #place(piece: Piece): ByteLocation {
    const { stored, bytes } = piece;
    const moved = this.#bytesToMove(piece);
    if (moved === undefined && stored !== undefined && (bytes === undefined || this.#isOfThisEpoch(stored)))
      return { ...stored, offset: stored.offset - parseObjectName(stored.object).pages };
    const content = moved ?? (bytes as Uint8Array);
    // In memory, a rewritten piece keeps its old location, because earlier states refer to that.
    if (content.length >= LARGE_PIECE_BYTES || this.#contentsLength + content.length > MAX_CONTENT_OBJECT_BYTES)
      return this.#placeInContentObject(moved === undefined ? piece : undefined, content);
    const place = { object: undefined, offset: this.#contentsLength, length: content.length, hash: hashOf(content) };
    this.#contents.push(content);
    this.#contentsLength += content.length;
    return place;
  }

  /** Adds a content to an object without pages. */
  #placeInContentObject(piece: Piece | undefined, content: Uint8Array): ByteLocation {
    let open = this.#large.at(-1);
    if (open === undefined || open.length + content.length > MAX_CONTENT_OBJECT_BYTES) {
      open = { name: this.#newName(0), parts: [], length: 0, pieces: [] };
      this.#large.push(open);
    }
    const ref = { object: open.name, offset: open.length, length: content.length, hash: hashOf(content) };
    open.parts.push(content);
    open.length += content.length;
    if (piece !== undefined) open.pieces.push([piece, ref]);
    return ref;
  }

  #newName(pages: number): string {
    const { prefix, epoch, commit, newId, partBytes } = this.#options;
    return printObjectName(prefix, { epoch, commit, pages, id: newId(), partBytes });
  }

  #inodes(
    state: TreeState,
    before: { readonly inodes: unknown; readonly record: StateRecord },
  ): ByteLocation | undefined {
    if (state.inodes.size === 0) return undefined;
    const { inodes } = before.record;
    if (state.inodes === before.inodes && inodes !== null && !this.#isScattered(inodes)) return inodes;
    return this.#page(encodeInodes(state.inodes, this));
  }

  #page(bytes: Uint8Array): ByteLocation {
    const place = { object: undefined, offset: this.#pagesLength, length: bytes.length, hash: hashOf(bytes) };
    this.#pages.push(bytes);
    this.#pagesLength += bytes.length;
    return place;
  }

  #isScattered(ref: Ref): boolean {
    const { compactAfter } = this.#options;
    return compactAfter !== undefined && isScattered(ref, compactAfter);
  }

  #isOfThisEpoch(ref: Ref): boolean {
    return parseObjectName(ref.object).epoch === this.#options.epoch;
  }

  /** Returns the bytes of a small stored piece that compaction rewrites, if they are loaded. */
  #bytesToMove({ stored, bytes, length }: Piece): Uint8Array | undefined {
    if (stored === undefined || bytes !== undefined || length >= LARGE_PIECE_BYTES || !this.#isScattered(stored))
      return undefined;
    return this.#options.read(stored);
  }
}

/** Joins adjacent small extents, whose bytes are in memory or are rewritten, to pieces of at most `MAX_PIECE_BYTES`. */
function joined(extents: readonly Extent[], bytesOf: (piece: Piece) => Uint8Array | undefined): Extent[] {
  const result: Extent[] = [];
  let run: Uint8Array[] = [];
  let length = 0;
  const flush = (): void => {
    if (length > 0) result.push({ size: length, from: 0, piece: new Piece(length, concat(run, length), undefined) });
    run = [];
    length = 0;
  };
  for (const extent of extents) {
    const bytes = extent.piece === null ? undefined : (extent.piece.bytes ?? bytesOf(extent.piece));
    if (bytes === undefined || extent.size >= LARGE_PIECE_BYTES) {
      flush();
      result.push(extent);
      continue;
    }
    if (length + extent.size > MAX_PIECE_BYTES) flush();
    run.push(bytes.subarray(extent.from, extent.from + extent.size));
    length += extent.size;
  }
  flush();
  return result;
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
