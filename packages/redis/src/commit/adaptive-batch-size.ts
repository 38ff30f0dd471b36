import { MAX_REQUEST_COST } from './batch-cost.js';

/** Number of references that one request should write, which takes the server a few milliseconds. */
const TARGET_REFERENCES = 900;
/** Approximate number of references that a request writes besides its changes: the path from the root. */
const BASE_REFERENCES = 60;
/** Least value of `maxCost` after an adaption: small enough if each write copies a path that a checkpoint shares. */
const MIN_MAX_COST = 80;
/**
 * Cost from which a request adapts the limit, or half of the limit if that is less. Cheaper requests are too small a
 * sample.
 */
const MIN_SAMPLE_COST = 60;

/** Returns the estimated cost of the operations that were applied. A refused operation writes nothing. */
export function appliedCost(operations: readonly { readonly cost: number }[], results: readonly string[]): number {
  return operations.reduce((sum, { cost }, i) => (results[i]?.startsWith('o') ? sum + cost : sum), 0);
}

/**
 * Adapts the size of the next request to the server's report on the last one. The same estimated cost writes more in a
 * large directory, and more again if a checkpoint shares it and it has to be copied.
 */
export class AdaptiveBatchSize {
  #maxCost: number;

  /** @param initial maximum cost of the first request */
  constructor(initial = MIN_MAX_COST) {
    this.#maxCost = initial;
  }

  /** The maximum estimated cost of the next request. */
  get maxCost(): number {
    return this.#maxCost;
  }

  /** Adapts the limit after a request of estimated cost `cost` that wrote `writtenReferences`. At most doubles it. */
  adapt(cost: number, writtenReferences: number): void {
    if (cost < Math.min(MIN_SAMPLE_COST, this.#maxCost / 2)) return;
    const affordable = Math.floor((TARGET_REFERENCES * cost) / Math.max(1, writtenReferences - BASE_REFERENCES));
    this.#maxCost = Math.max(MIN_MAX_COST, Math.min(affordable, MAX_REQUEST_COST, 2 * this.#maxCost));
  }
}
