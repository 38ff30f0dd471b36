import type { Steps } from '../engine/scheduling/time-slice.js';

/** Bytes examined between two pauses. */
const SLICE_BYTES = 2 ** 20;
const NEWLINE = 10;

/**
 * Start offsets of the lines of a text. A line includes its line break, so that a last line without one differs from
 * the same line with it.
 */
export class Lines {
  count = 0;
  /** Offsets of the lines' starts, then the offset of the end of the text. */
  starts: Int32Array<ArrayBuffer>;

  private constructor(
    /** UTF-8. */
    readonly bytes: Uint8Array,
  ) {
    // A first estimate: 8 bytes per line, at most 2^16 lines. It grows if there are more.
    this.starts = new Int32Array(Math.min(2 ** 16, (bytes.length >> 3) + 2));
  }

  static *of(bytes: Uint8Array): Steps<Lines> {
    const lines = new Lines(bytes);
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      lines.#scan(from, Math.min(bytes.length, from + SLICE_BYTES));
      yield;
    }
    return lines;
  }

  #scan(from: number, to: number): void {
    const { bytes } = this;
    for (let at = from; at < to; at++) if (bytes[at] === NEWLINE) this.#add(at + 1);
    if (to === bytes.length && bytes[to - 1] !== NEWLINE) this.#add(to);
  }

  #add(start: number): void {
    if (this.count + 1 === this.starts.length) this.starts = grown(this.starts);
    this.starts[++this.count] = start;
  }
}

export function grown(numbers: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const more = new Int32Array(numbers.length * 2);
  more.set(numbers);
  return more;
}
