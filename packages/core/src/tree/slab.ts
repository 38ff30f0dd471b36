export const SLAB_BYTES = 16 * 1024;

/** Allocation below which nothing is compacted, in bytes. */
const MIN_COMPACTED_BYTES = 16 * 1024 * 1024;

/** Many small contents in one array. Nodes of many trees may share bytes, so later writes use bytes from `used` on. */
export class Slab {
  readonly bytes = new Uint8Array(SLAB_BYTES);
  used = 0;

  get free(): number {
    return SLAB_BYTES - this.used;
  }

  /** Reserves space and returns its start; the bytes there are zeros. */
  take(size: number): number {
    const start = this.used;
    this.used += size;
    return start;
  }
}

/** Content in a slab. */
interface Piece {
  data: unknown;
  start: number;
  readonly size: number;
}

/**
 * Allocates space in slabs. The garbage collector frees a slab that no node refers to. One small content keeps its
 * whole slab alive, so a compaction moves the contents out of slabs that are little used.
 */
export class Slabs {
  /** Bytes allocated in slabs. A slab that is no longer referenced counts until the next compaction. */
  allocated = 0;
  /** Estimate of the bytes in use. */
  live = 0;
  private allocatedBefore = 0;
  /**
   * Bytes that the last compaction found in use. `live` may be much higher, because it still counts contents that were
   * dropped without being reported as released.
   */
  private found = 0;
  private open: Slab | undefined;

  /** Returns a slab with space for `size` bytes; the caller reserves them. */
  withRoom(size: number): Slab {
    this.live += size;
    if (this.open && this.open.free >= size) return this.open;
    this.allocated += SLAB_BYTES;
    this.open = new Slab();
    return this.open;
  }

  /** Reports whether to compact. Compacting visits every node, so enough must have been written since the last time. */
  shouldCompact(): boolean {
    if (this.allocated > Math.max(MIN_COMPACTED_BYTES, 3 * this.found)) return true;
    const since = this.allocated - this.allocatedBefore;
    return (
      this.allocated > Math.max(MIN_COMPACTED_BYTES, 2 * this.live) &&
      since > Math.max(MIN_COMPACTED_BYTES, this.allocated) / 4
    );
  }

  compact(pieces: Iterable<Piece>): void {
    const bySlab = new Map<Slab, Piece[]>();
    for (const piece of pieces) {
      if (!(piece.data instanceof Slab)) continue;
      const held = bySlab.get(piece.data);
      if (held) held.push(piece);
      else bySlab.set(piece.data, [piece]);
    }
    this.live = 0;
    this.allocated = 0;
    this.open = undefined;
    for (const [slab, held] of bySlab) {
      const lengths = longestByStart(held);
      const used = [...lengths.values()].reduce((sum, length) => sum + length, 0);
      if (used * 2 < SLAB_BYTES) this.move(slab, held, lengths);
      else {
        this.allocated += SLAB_BYTES;
        this.live += used;
      }
    }
    this.allocatedBefore = this.allocated;
    this.found = this.live;
  }

  private move(slab: Slab, held: readonly Piece[], lengths: ReadonlyMap<number, number>): void {
    const moved = new Map<number, { to: Slab; start: number }>();
    for (const [start, length] of lengths) {
      const to = this.withRoom(length);
      const newStart = to.take(length);
      to.bytes.set(slab.bytes.subarray(start, start + length), newStart);
      moved.set(start, { to, start: newStart });
    }
    for (const piece of held) {
      // A piece listed twice has already moved.
      if (piece.data !== slab) continue;
      const place = moved.get(piece.start)!;
      piece.data = place.to;
      piece.start = place.start;
    }
  }
}

/**
 * Returns, for each start of a piece, the length of the longest piece that starts there. Shorter pieces with the same
 * start are prefixes of it and share its bytes.
 */
function longestByStart(pieces: readonly Piece[]): Map<number, number> {
  const lengths = new Map<number, number>();
  for (const { start, size } of pieces) lengths.set(start, Math.max(size, lengths.get(start) ?? 0));
  return lengths;
}
