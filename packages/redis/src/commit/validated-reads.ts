import type { Check } from '@scratchfs/core';

/** Number of cached checks above which the cache is cleared. */
const MAX_VALIDATED_CHECKS = 10_000;

/**
 * The checks that held in the last state that was seen. They hold until the next write, so the server only has to
 * compare the state.
 */
export class ValidatedReads {
  /** Counter and state as they are stored in the head. Every write changes at least one of them. */
  #state: Buffer = Buffer.alloc(0);
  #checks = new Set<string>();

  /** Returns the state in which all of these checks held, or undefined if one of them is not known to. */
  stateWhereAllHeld(batches: readonly (readonly Check[])[]): Buffer | undefined {
    return batches.every((checks) => checks.every((check) => this.#checks.has(keyOf(check)))) ? this.#state : undefined;
  }

  /**
   * Records checks that held in a state. If the cached ones held in another state, or are too many, they are dropped
   * first.
   */
  add(state: Buffer, batches: readonly (readonly Check[])[]): void {
    if (!state.equals(this.#state) || this.#checks.size > MAX_VALIDATED_CHECKS) {
      this.#state = state;
      this.#checks = new Set();
    }
    for (const checks of batches) for (const check of checks) this.#checks.add(keyOf(check));
  }
}

function keyOf(check: Check): string {
  const version = check.kind === 'empty' ? undefined : check.version;
  return `${check.kind}${check.id === null ? ' no' : `=${check.id}`} ${version} ${check.path}`;
}
