/** How long an operation that nobody has settled holds the others up. */
const ABANDONED_MS = 60_000;
/** So many results are forgotten at once, and no more. */
const WORTH_TELLING = 16;
const MAX_TOLD = 1_000;

/**
 * The numbers of a client's operations. The server remembers results until it is told that they arrived; below the lowest
 * number that is not settled it takes nothing any more, so that a request that was delayed on its way is not applied
 * after its result was forgotten.
 */
export class Sequences {
  #last = 0;
  /** Not settled, in their order, with when they failed. */
  readonly #open = new Map<number, number | undefined>();
  /** Settled, and not below the lowest that was not when they were looked through last. */
  #settled: number[] = [];
  #lookedThroughAt = 0;
  /** Settled, and below the lowest that is not: the server can be told. */
  #due: number[] = [];
  /** What the server was told last. */
  #floor = 0;

  constructor(private readonly clock: () => number) {}

  next(): number {
    this.#last += 1;
    this.#open.set(this.#last, undefined);
    return this.#last;
  }

  /** The client has the result: the server need not keep it. */
  settle(sequence: number): void {
    if (this.#open.delete(sequence)) this.#settled.push(sequence);
  }

  /** It was never sent. */
  forget(sequence: number): void {
    this.#open.delete(sequence);
  }

  /** Its answer did not come; whoever wants to know asks soon. */
  failed(sequence: number): void {
    if (this.#open.has(sequence)) this.#open.set(sequence, this.clock());
  }

  isOpen(sequence: number): boolean {
    return this.#open.has(sequence);
  }

  /**
   * What the next request tells the server: the lowest number in use, and results below it that have arrived. Where these are
   * few it is told nothing new: to forget them costs a command whether they are one or many.
   */
  acknowledge(): { readonly floor: number; readonly settled: string; readonly restore: () => void } {
    const floor = this.#lowest();
    if (floor > this.#lookedThroughAt) {
      for (const sequence of this.#settled) if (sequence < floor) this.#due.push(sequence);
      this.#settled = this.#settled.filter((sequence) => sequence >= floor);
      this.#lookedThroughAt = floor;
    }
    if (this.#due.length < WORTH_TELLING) return { floor: this.#floor, settled: '', restore: () => {} };
    const told = this.#due.splice(0, MAX_TOLD);
    this.#floor = floor;
    return { floor, settled: told.join(' '), restore: () => this.#due.push(...told) };
  }

  #lowest(): number {
    for (const [sequence, failedAt] of this.#open) {
      if (failedAt === undefined || this.clock() - failedAt < ABANDONED_MS) return sequence;
      this.settle(sequence);
    }
    return this.#last + 1;
  }
}
