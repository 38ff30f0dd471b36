/** Bytes of a slab. */
export const SLAB_SIZE = 16 * 1024;

/** Many small contents in one array. Bytes below `used` never change; they may lie in many nodes, of many trees. */
export class Slab {
  readonly bytes = new Uint8Array(SLAB_SIZE);
  used = 0;

  get free(): number {
    return SLAB_SIZE - this.used;
  }

  /** Takes room and answers where it starts; the bytes there are zeros. */
  take(size: number): number {
    const start = this.used;
    this.used += size;
    return start;
  }
}
