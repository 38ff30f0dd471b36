import { type ContentNode, ContentStore } from '../tree/content.js';
import type { Owner } from '../tree/owner.js';
import { BytesNotLoaded, type Ref } from './ref.js';

/** Greatest piece, in bytes. A piece is verified as a whole, so reading a part reads all of it. */
export const MAX_PIECE_BYTES = 2 ** 20;

/** Bytes of a file that were written together. `stored` is their location once they are stored. */
export class Piece {
  constructor(
    readonly length: number,
    /** Undefined if the piece was read from a page: then its bytes are loaded on demand. */
    readonly bytes: Uint8Array | undefined,
    public stored: Ref | undefined,
  ) {}
}

/** A run of bytes of a file. */
export interface Extent {
  /** Number of bytes. */
  readonly size: number;
  /** First byte within the piece. */
  readonly from: number;
  /** The piece that holds the bytes; null for zeros. */
  readonly piece: Piece | null;
}

/** Locations of a file's bytes, in order. Immutable. */
export class Extents {
  constructor(readonly list: readonly Extent[]) {}
}

/** Reads stored bytes; undefined if they are not loaded. */
export type ReadStored = (ref: Ref) => Uint8Array | undefined;

/**
 * Contents in objects, as lists of extents: overwriting, cutting and appending do not read the old bytes. Reading
 * requires loaded bytes.
 */
export class StoredContents extends ContentStore {
  readonly #read: ReadStored;
  /**
   * Pieces by the bytes that they were made of, so that a commit that is prepared again gets the same pieces for the
   * same bytes.
   */
  readonly #pieces = new WeakMap<Uint8Array, readonly Piece[]>();

  constructor(read: ReadStored) {
    super();
    this.#read = read;
  }

  override fromBytes(node: ContentNode, bytes: Uint8Array): void {
    set(node, this.#extentsOf(bytes), bytes.length);
  }

  override bytes(node: ContentNode): Uint8Array<ArrayBuffer> {
    return this.slice(node, 0, node.size);
  }

  override slice(node: ContentNode, start: number, end: number): Uint8Array<ArrayBuffer> {
    const stop = Math.min(end, node.size);
    const extents = cut(extentsOf(node), start, stop);
    const missing = extents.flatMap(({ piece }) =>
      piece?.stored !== undefined && piece.bytes === undefined && this.#read(piece.stored) === undefined
        ? [piece.stored]
        : [],
    );
    if (missing.length > 0) throw new BytesNotLoaded(missing);
    const bytes = new Uint8Array(Math.max(0, stop - start));
    let at = 0;
    for (const { size, from, piece } of extents) {
      if (piece !== null) {
        const source = piece.bytes ?? (this.#read(piece.stored as Ref) as Uint8Array);
        bytes.set(source.subarray(from, from + size), at);
      }
      at += size;
    }
    return bytes;
  }

  override patch(target: ContentNode, source: ContentNode, _owner: Owner, position: number, bytes: Uint8Array): void {
    const extents = extentsOf(source);
    const end = position + bytes.length;
    const gap = position - source.size;
    set(
      target,
      [
        ...cut(extents, 0, Math.min(position, source.size)),
        ...(gap > 0 ? [{ size: gap, from: 0, piece: null }] : []),
        ...this.#extentsOf(bytes),
        ...cut(extents, end, source.size),
      ],
      Math.max(source.size, end),
    );
  }

  override resize(target: ContentNode, source: ContentNode, _owner: Owner, size: number): void {
    const extents = cut(extentsOf(source), 0, Math.min(size, source.size));
    const growth = size - source.size;
    set(target, growth > 0 ? [...extents, { size: growth, from: 0, piece: null }] : extents, size);
  }

  #extentsOf(bytes: Uint8Array): Extent[] {
    let pieces = this.#pieces.get(bytes);
    if (pieces === undefined) {
      const made: Piece[] = [];
      for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
        const part = bytes.subarray(at, at + MAX_PIECE_BYTES);
        made.push(new Piece(part.length, part, undefined));
      }
      pieces = made;
      this.#pieces.set(bytes, pieces);
    }
    return pieces.map((piece) => ({ size: piece.length, from: 0, piece }));
  }
}

export function extentsOf(node: ContentNode): readonly Extent[] {
  return node.data instanceof Extents ? node.data.list : [];
}

function set(node: ContentNode, list: readonly Extent[], size: number): void {
  node.data = list.length === 0 ? null : new Extents(list);
  node.start = 0;
  node.size = size;
}

/** Returns the extents that cover the bytes of a file from `start` to `end`. */
function cut(extents: readonly Extent[], start: number, end: number): Extent[] {
  const kept: Extent[] = [];
  let at = 0;
  for (const extent of extents) {
    const from = Math.max(start, at);
    const to = Math.min(end, at + extent.size);
    if (from < to) kept.push({ size: to - from, from: extent.from + (from - at), piece: extent.piece });
    at += extent.size;
  }
  return kept;
}
