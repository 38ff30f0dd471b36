import { Cache } from './cache.js';
import type { Ref } from './ref.js';

/** Runs of bytes of objects, as they were read or written. */
export class Segments {
  readonly #runs: Cache<Uint8Array>;
  /** By object: where its runs begin, and how long they are. */
  readonly #index = new Map<string, Map<number, number>>();

  constructor(maxBytes: number) {
    this.#runs = new Cache(maxBytes);
  }

  hold(): () => void {
    return this.#runs.hold();
  }

  add(object: string, offset: number, bytes: Uint8Array): void {
    let runs = this.#index.get(object);
    if (runs === undefined) {
      runs = new Map();
      this.#index.set(object, runs);
    }
    if ((runs.get(offset) ?? -1) > bytes.length && this.#runs.has(`${object}@${offset}`)) return;
    runs.set(offset, bytes.length);
    this.#runs.set(`${object}@${offset}`, bytes, bytes.length);
    if (this.#index.size > 20_000) this.#sweep();
  }

  /** A view of the bytes, where all of them are here. */
  find({ object, offset, length }: Ref): Uint8Array | undefined {
    const runs = this.#index.get(object);
    if (runs === undefined) return undefined;
    for (const [start, size] of runs) {
      if (start > offset || start + size < offset + length) continue;
      const bytes = this.#runs.get(`${object}@${start}`);
      if (bytes !== undefined) return bytes.subarray(offset - start, offset - start + length);
      runs.delete(start);
    }
    if (runs.size === 0) this.#index.delete(object);
    return undefined;
  }

  /** Forgets what holds these bytes: they were wrong. */
  drop({ object, offset, length }: Ref): void {
    const runs = this.#index.get(object) ?? new Map<number, number>();
    for (const [start, size] of runs) {
      if (start > offset || start + size < offset + length) continue;
      this.#runs.delete(`${object}@${start}`);
      runs.delete(start);
    }
  }

  #sweep(): void {
    for (const [object, runs] of this.#index) {
      for (const start of runs.keys()) if (!this.#runs.has(`${object}@${start}`)) runs.delete(start);
      if (runs.size === 0) this.#index.delete(object);
    }
  }
}
