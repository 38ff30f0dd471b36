import { MAX_DEPTH, MAX_PATH_BYTES, utf8Length } from '../paths.js';

/**
 * Measures the paths of entries in preorder. A snapshot must not contain a path that a filesystem would refuse: with
 * deeper trees, code that joins paths would take time quadratic in the depth.
 */
export class PathMeter {
  /** Bytes of the path to each depth, from the root to the previous entry. */
  readonly #bytes: number[] = [0];

  /** Returns the limit that the path to a name at this depth exceeds, or undefined. */
  exceeded(depth: number, name: string): 'depth' | 'path' | undefined {
    if (depth > MAX_DEPTH) return 'depth';
    const bytes = (this.#bytes[depth - 1] as number) + 1 + utf8Length(name);
    this.#bytes[depth] = bytes;
    return bytes > MAX_PATH_BYTES ? 'path' : undefined;
  }
}
