import type { Acknowledgement } from '../format/request/request-header.js';

/** Time after which an operation whose reply was lost no longer holds back the floor. */
const ABANDONED_AFTER_MS = 60_000;
/** Number of results that must have arrived before any is acknowledged. */
const MIN_ACKNOWLEDGED = 16;
/** Maximum number of results that one request acknowledges. */
const MAX_ACKNOWLEDGED = 1_000;
/** Number of passed sequence numbers after which they are removed from the array in one step. */
const MAX_PASSED_KEPT = 1_024;

/** States of a number. */
const OPEN = 0;
const SETTLED = 1;
const NEVER_SENT = 2;

/**
 * The sequence numbers of a client's operations. The server stores a result until it is acknowledged or expires. It
 * refuses every number below the floor, so that a delayed request is not applied after its result was deleted. No
 * number that is open and not abandoned is below the floor.
 */
export class Sequences {
  /** States of the numbers from `#first` on. The next floor lies above the first `#passed` of them. */
  readonly #states: number[] = [];
  #first = 1;
  #passed = 0;
  /** Times at which open operations failed. */
  readonly #failedAt = new Map<number, number>();
  /** Settled and abandoned numbers below the lowest open one that are not acknowledged yet. */
  #unacknowledged: number[] = [];
  /** The floor of the last acknowledgement. */
  #floor = 0;

  constructor(private readonly clock: () => number) {}

  next(): number {
    this.#states.push(OPEN);
    return this.#first + this.#states.length - 1;
  }

  /** Marks a number whose result has arrived or is not needed any more, so that the server need not keep it. */
  settle(sequence: number): void {
    this.#end(sequence, SETTLED);
  }

  /** Marks a number under which nothing was applied, so that the server has no result. */
  discard(sequence: number): void {
    this.#end(sequence, NEVER_SENT);
  }

  #end(sequence: number, state: number): void {
    if (this.isOpen(sequence)) this.#states[sequence - this.#first] = state;
  }

  /** Marks a number whose request failed. It stays open for a while, so that its outcome can be asked for. */
  failed(sequence: number): void {
    if (this.isOpen(sequence)) this.#failedAt.set(sequence, this.clock());
  }

  isOpen(sequence: number): boolean {
    const at = sequence - this.#first;
    return at >= this.#passed && this.#states[at] === OPEN;
  }

  /**
   * Returns the acknowledgement for the next request, and a function to call if that fails, so that a later one names
   * the same results. While few results have arrived it acknowledges nothing: deleting results costs the server one
   * command, however many they are.
   */
  acknowledge(): { readonly acknowledged: Acknowledgement; readonly restore: () => void } {
    this.#advance();
    if (this.#unacknowledged.length < MIN_ACKNOWLEDGED)
      return { acknowledged: { floor: this.#floor, settled: '' }, restore: () => {} };
    const acknowledged = this.#unacknowledged.splice(0, MAX_ACKNOWLEDGED);
    this.#floor = this.#first + this.#passed;
    return {
      acknowledged: { floor: this.#floor, settled: acknowledged.join(' ') },
      restore: () => this.#unacknowledged.push(...acknowledged),
    };
  }

  /** Advances to the lowest number that is open and not abandoned. */
  #advance(): void {
    const states = this.#states;
    for (; this.#passed < states.length; this.#passed++) {
      const sequence = this.#first + this.#passed;
      if (states[this.#passed] === OPEN && !this.#isAbandoned(sequence)) break;
      if (states[this.#passed] !== NEVER_SENT) this.#unacknowledged.push(sequence);
      if (this.#failedAt.size > 0) this.#failedAt.delete(sequence);
    }
    if (this.#passed < MAX_PASSED_KEPT) return;
    states.splice(0, this.#passed);
    this.#first += this.#passed;
    this.#passed = 0;
  }

  #isAbandoned(sequence: number): boolean {
    const failedAt = this.#failedAt.get(sequence);
    return failedAt !== undefined && this.clock() - failedAt >= ABANDONED_AFTER_MS;
  }
}
