import { singleSegmentChunk } from '../stored/chunk.js';

/**
 * Pieces of content that a request carries, each as an argument of its own. The request body refers to them by
 * position, from 1.
 */
export class ChunkArguments {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds bytes at an offset within their chunk. Returns the position. */
  add(offset: number, bytes: Uint8Array): number {
    const chunk = singleSegmentChunk(offset, bytes);
    this.#bytes += chunk.length;
    return this.#chunks.push(chunk);
  }

  /** Removes everything after the first `count` chunks. */
  truncate(count: number): void {
    for (const { length } of this.#chunks.splice(count)) this.#bytes -= length;
  }
}
