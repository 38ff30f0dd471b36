import { keepOptimized } from '../engine/keep-optimized.js';

const PRIME1 = 0x9e3779b1;
const PRIME2 = 0x85ebca77;
const PRIME3 = 0xc2b2ae3d;
const PRIME4 = 0x27d4eb2f;
const PRIME5 = 0x165667b1;

/** Block size of {@link Xxh32.update}: all but the last call must give a multiple of it. */
export const STRIPE_BYTES = 16;

/**
 * The checksum XXH32 (github.com/Cyan4973/xxHash, specification 0.2.0), seed 0. It detects accidents, not forgeries, so
 * that checksummed data is validated as well.
 */
export class Xxh32 {
  readonly #lanes = Int32Array.of(PRIME1 + PRIME2, PRIME2, 0, -PRIME1);
  #length = 0;
  #tail = 0;

  /** Adds `bytes[from, to)`; only the last call may have a length that is not a multiple of {@link STRIPE_BYTES}. */
  update(bytes: Uint8Array, from = 0, to = bytes.length): this {
    if (this.#length % STRIPE_BYTES !== 0) throw new RangeError('A part of odd length must be the last');
    const end = to - ((to - from) % STRIPE_BYTES);
    mixStripes(this.#lanes, bytes, from, end);
    this.#length += to - from;
    this.#tail = 0;
    if (end < to) this.#tail = this.#finish(bytes, end, to);
    return this;
  }

  /** Returns the checksum as an unsigned number. */
  digest(): number {
    return avalanche(this.#length % STRIPE_BYTES === 0 ? this.#converged() : this.#tail);
  }

  #converged(): number {
    const [a, b, c, d] = this.#lanes as unknown as readonly [number, number, number, number];
    const start = this.#length < STRIPE_BYTES ? PRIME5 : rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return (start + (this.#length >>> 0)) | 0;
  }

  #finish(bytes: Uint8Array, from: number, to: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let hash = this.#converged();
    let at = from;
    for (; at + 4 <= to; at += 4) {
      hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), PRIME3)) | 0, 17), PRIME4);
    }
    for (; at < to; at++) {
      hash = Math.imul(rotate((hash + Math.imul(bytes[at] as number, PRIME5)) | 0, 11), PRIME1);
    }
    return hash;
  }
}

keepOptimized(new Xxh32());

/** Returns XXH32 of `bytes[from, to)`. */
export function xxh32(bytes: Uint8Array, from = 0, to = bytes.length): number {
  return new Xxh32().update(bytes, from, to).digest();
}

function mixStripes(lanes: Int32Array, bytes: Uint8Array, from: number, end: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Local constants and single variables: for values from outside or from destructuring the engine does not infer 32
  // bits and takes three times as long.
  const by = PRIME1 | 0;
  const wordBy = PRIME2 | 0;
  let a = lanes[0] as number;
  let b = lanes[1] as number;
  let c = lanes[2] as number;
  let d = lanes[3] as number;
  for (let at = from; at < end; at += STRIPE_BYTES) {
    a = Math.imul(rotate((a + Math.imul(view.getInt32(at, true), wordBy)) | 0, 13), by);
    b = Math.imul(rotate((b + Math.imul(view.getInt32(at + 4, true), wordBy)) | 0, 13), by);
    c = Math.imul(rotate((c + Math.imul(view.getInt32(at + 8, true), wordBy)) | 0, 13), by);
    d = Math.imul(rotate((d + Math.imul(view.getInt32(at + 12, true), wordBy)) | 0, 13), by);
  }
  lanes[0] = a;
  lanes[1] = b;
  lanes[2] = c;
  lanes[3] = d;
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function avalanche(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 15), PRIME2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
