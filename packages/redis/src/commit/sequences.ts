/** How long an operation that nobody has settled holds the others up. */
const ABANDONED_MS = 60_000;
/** So many results are forgotten at once, and no more. */
const WORTH_TELLING = 16;
const MAX_TOLD = 1_000;
/** Numbers that are done with are taken out so many at a time. */
const MAX_PASSED = 1_024;

/** What has become of a number. */
const OPEN = 0;
const SETTLED = 1;
const NEVER_SENT = 2;

/** What the server is told of a client's operations. */
export interface Acknowledged {
  /** Below it all are settled. */
  readonly floor: number;
  /** Numbers whose results have arrived, with spaces between them. */
  readonly settled: string;
}

/**
 * The numbers of a client's operations. The server remembers results until it is told that they arrived; below the lowest
 * number that is not settled it takes nothing any more, so that a request that was delayed on its way is not applied
 * after its result was forgotten.
 */
export class Sequences {
  /** What has become of the numbers from `#first` on; those before `#passed` are done with. */
  readonly #states: number[] = [];
  #first = 1;
  #passed = 0;
  /** When those that are open have failed. */
  readonly #failedAt = new Map<number, number>();
  /** Settled, and below the lowest that is not: the server can be told. */
  #due: number[] = [];
  /** What the server was told last. */
  #floor = 0;

  constructor(private readonly clock: () => number) {}

  next(): number {
    this.#states.push(OPEN);
    return this.#first + this.#states.length - 1;
  }

  /** The client has the result: the server need not keep it. */
  settle(sequence: number): void {
    this.#end(sequence, SETTLED);
  }

  /** It was never sent. */
  forget(sequence: number): void {
    this.#end(sequence, NEVER_SENT);
  }

  #end(sequence: number, state: number): void {
    if (this.isOpen(sequence)) this.#states[sequence - this.#first] = state;
  }

  /** Its answer did not come; whoever wants to know asks soon. */
  failed(sequence: number): void {
    if (this.isOpen(sequence)) this.#failedAt.set(sequence, this.clock());
  }

  isOpen(sequence: number): boolean {
    const at = sequence - this.#first;
    return at >= this.#passed && this.#states[at] === OPEN;
  }

  /**
   * What the next request tells the server: the lowest number in use, and results below it that have arrived. Where these are
   * few it is told nothing new: to forget them costs a command whether they are one or many.
   */
  acknowledge(): { readonly acknowledged: Acknowledged; readonly restore: () => void } {
    this.#pass();
    if (this.#due.length < WORTH_TELLING)
      return { acknowledged: { floor: this.#floor, settled: '' }, restore: () => {} };
    const told = this.#due.splice(0, MAX_TOLD);
    this.#floor = this.#first + this.#passed;
    return {
      acknowledged: { floor: this.#floor, settled: told.join(' ') },
      restore: () => this.#due.push(...told),
    };
  }

  /** Goes on to the lowest number that is open, and has not been abandoned. */
  #pass(): void {
    const states = this.#states;
    for (; this.#passed < states.length; this.#passed++) {
      const sequence = this.#first + this.#passed;
      if (states[this.#passed] === OPEN && !this.#isAbandoned(sequence)) break;
      if (states[this.#passed] !== NEVER_SENT) this.#due.push(sequence);
      if (this.#failedAt.size > 0) this.#failedAt.delete(sequence);
    }
    if (this.#passed < MAX_PASSED) return;
    states.splice(0, this.#passed);
    this.#first += this.#passed;
    this.#passed = 0;
  }

  #isAbandoned(sequence: number): boolean {
    const failedAt = this.#failedAt.get(sequence);
    return failedAt !== undefined && this.clock() - failedAt >= ABANDONED_MS;
  }
}
