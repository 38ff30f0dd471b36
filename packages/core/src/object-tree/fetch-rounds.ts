import { StorageError } from '../errors.js';
import { type Ref, refKey } from './ref.js';

/** Maximum number of rounds. A round loads at most one more level of a tree, so this bounds the depth that is read. */
const MAX_ROUNDS = 10_000;
/**
 * Maximum number of consecutive rounds that request only bytes fetched before. A few are normal: concurrent requests
 * may have replaced them with bytes damaged in transit.
 */
const MAX_REPEATED_ROUNDS = 16;

/**
 * Bounds a loop that runs work, fetches the bytes that it misses, and runs it again. Fetched bytes stay cached while
 * the loop holds the cache, so a round normally misses bytes that no earlier round did. Create one instance per loop.
 */
export class FetchRounds {
  readonly #asked = new Set<string>();
  #rounds = 0;
  #repeated = 0;

  /**
   * Counts a round that fetches `refs`. Call it before the fetch.
   * @throws StorageError `corrupt` if the loop makes no progress, or does not end
   */
  next(refs: readonly Ref[]): void {
    const known = this.#asked.size;
    for (const ref of refs) this.#asked.add(refKey(ref));
    this.#repeated = this.#asked.size > known ? 0 : this.#repeated + 1;
    if (this.#repeated > MAX_REPEATED_ROUNDS)
      throw new StorageError(
        'corrupt',
        `The bytes of ${refs[0]?.object} changed after the object store had returned them. \`get\` must return bytes that stay as they are: a store must not reuse the buffer`,
      );
    this.#rounds += 1;
    if (this.#rounds > MAX_ROUNDS)
      throw new StorageError(
        'corrupt',
        `The stored filesystem leads to further pages after ${MAX_ROUNDS} rounds of reading`,
      );
  }
}
