import { MAX_DEPTH, MAX_PATH_BYTES, utf8Length } from '../paths.js';

/**
 * Measures the paths of entries in preorder. A snapshot holds no path that could not be given to a filesystem: a tree
 * made of longer ones would cost the square of its depth wherever paths are put together.
 */
export class PathMeter {
  /** Bytes of the path to each depth, from the root to the entry before. */
  readonly #bytes: number[] = [0];

  /** Which limit a name at this depth exceeds; undefined where it is within both. */
  exceeded(depth: number, name: string): 'depth' | 'path' | undefined {
    if (depth > MAX_DEPTH) return 'depth';
    const bytes = (this.#bytes[depth - 1] as number) + 1 + utf8Length(name);
    this.#bytes[depth] = bytes;
    return bytes > MAX_PATH_BYTES ? 'path' : undefined;
  }
}
