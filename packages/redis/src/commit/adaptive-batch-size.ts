import { MAX_WORK } from './batch-cost.js';

/** What a request may cost the server, in references that are written: a few milliseconds. */
const COST = 900;
/** What any request costs: the way to what it changes. */
const BASE_COST = 60;
/** What is safe wherever it is: each of its writes may copy all on the way to it, where a checkpoint shares that. */
const LEAST = 80;
/** Requests with less work say little about what work costs, but where the bound itself makes them so small. */
const TELLING = 60;

/** The work of those operations of a request that were carried out: what was refused says nothing of what work costs. */
export function workDone(operations: readonly { readonly work: number }[], answers: readonly string[]): number {
  return operations.reduce((sum, { work }, i) => (answers[i]?.startsWith('o') ? sum + work : sum), 0);
}

/**
 * How much work a request may have. The same work costs more in a large directory, and more again where that is shared with a
 * checkpoint and is copied: what the server says of one request bounds the next one.
 */
export class Pace {
  #most: number;

  /** @param start the work of the first request, of which nothing is known yet */
  constructor(start = LEAST) {
    this.#most = start;
  }

  get most(): number {
    return this.#most;
  }

  /** @param spent as the commit script answers it */
  learn(work: number, spent: number): void {
    if (work < Math.min(TELLING, this.#most / 2)) return;
    const affordable = Math.floor((COST * work) / Math.max(1, spent - BASE_COST));
    this.#most = Math.max(LEAST, Math.min(affordable, MAX_WORK, 2 * this.#most));
  }
}
