import type { Check } from '@scratchfs/core';

/** Checks that are remembered. */
const MAX_CHECKS = 10_000;

/**
 * Which checks have held in the state that was seen last. As long as nobody has written they hold, and a server that is asked
 * for them has to say no more than that the state is still this one.
 */
export class Held {
  /** The counter and the state as the head has them: no write leaves both as they are. */
  #state: Buffer = Buffer.alloc(0);
  #checks = new Set<string>();

  /** The state in which all these hold, or undefined where that is not known of one of them. */
  stateOf(batches: readonly (readonly Check[])[]): Buffer | undefined {
    return batches.every((checks) => checks.every((check) => this.#checks.has(keyOf(check)))) ? this.#state : undefined;
  }

  /** All these have held in a state. */
  learn(state: Buffer, batches: readonly (readonly Check[])[]): void {
    if (!state.equals(this.#state) || this.#checks.size > MAX_CHECKS) {
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
