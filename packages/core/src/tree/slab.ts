/** Bytes of a slab. */
export const SLAB_BYTES = 16 * 1024;

/** Bytes in slabs beneath which nothing is moved. */
const MIN_COMPACTED_BYTES = 16 * 1024 * 1024;

/** Many small contents in one array. Bytes below `used` never change; they may lie in many nodes, of many trees. */
export class Slab {
  readonly bytes = new Uint8Array(SLAB_BYTES);
  used = 0;

  get free(): number {
    return SLAB_BYTES - this.used;
  }

  /** Takes room and answers where it starts; the bytes there are zeros. */
  take(size: number): number {
    const start = this.used;
    this.used += size;
    return start;
  }
}

/** What lies in a slab. */
interface Piece {
  data: unknown;
  start: number;
  readonly size: number;
}

/**
 * Hands out room in slabs. Nobody counts who uses a slab: it is freed when no node holds it, and a compaction moves
 * what little lives in thinly used ones, which would else stay for the sake of it.
 */
export class Slabs {
  /** Bytes in slabs, as far as is known: one that nobody holds any more counts until the next compaction. */
  allocated = 0;
  /** An estimate of the bytes in use. */
  live = 0;
  private allocatedBefore = 0;
  /** What the last compaction found in use: what was forgotten without a word since then is not in the estimate. */
  private found = 0;
  private open: Slab | undefined;

  /** The slab in which there is room for `size` bytes; the caller takes them. */
  withRoom(size: number): Slab {
    this.live += size;
    if (this.open && this.open.free >= size) return this.open;
    this.allocated += SLAB_BYTES;
    this.open = new Slab();
    return this.open;
  }

  /** Compacting visits every node: it must be due, and enough must have been written since the last time to pay for it. */
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
      // One that came twice has moved already.
      if (piece.data !== slab) continue;
      const place = moved.get(piece.start)!;
      piece.data = place.to;
      piece.start = place.start;
    }
  }
}

/** Pieces that start at the same byte share it: one is the beginning of the other. */
function longestByStart(pieces: readonly Piece[]): Map<number, number> {
  const lengths = new Map<number, number>();
  for (const { start, size } of pieces) lengths.set(start, Math.max(size, lengths.get(start) ?? 0));
  return lengths;
}
