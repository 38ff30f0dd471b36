import { chunkOf } from '../stored/chunk.js';

/** Contents that go with a request, each an argument of its own: what refers to them has their positions, from 1 on. */
export class Contents {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Answers the position. */
  add(offset: number, bytes: Uint8Array): number {
    const chunk = chunkOf(offset, bytes);
    this.#bytes += chunk.length;
    return this.#chunks.push(chunk);
  }

  /** Takes back what was added after so many. */
  truncate(count: number): void {
    for (const { length } of this.#chunks.splice(count)) this.#bytes -= length;
  }
}
