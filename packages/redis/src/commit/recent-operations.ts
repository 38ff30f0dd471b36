/** Of a generation: two of them are remembered. */
const GENERATION = 5_000;
/** Of a generation: of which it is not known what became of them. */
const MAX_OPEN = 50_000;

/**
 * The last operations by their ids: what became of each, and until that is known the operation itself. Nothing is taken out one
 * by one: a map out of which goes what came in is made anew again and again, and each of its outgrown tables leads to the next, so
 * that one that has become old keeps alive what was in all of them.
 */
export class RememberedOperations<Open extends object, Result> {
  #young = new Map<string, Open | Result>();
  #old = new Map<string, Open | Result>();
  #added = 0;
  #isIncomplete = false;

  constructor(readonly isOpen: (one: Open | Result) => one is Open) {}

  /** Whether one is remembered no more. */
  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  get(operationId: string): Open | Result | undefined {
    return this.#young.get(operationId) ?? this.#old.get(operationId);
  }

  /** One that has not ended. */
  open(operationId: string): Open | undefined {
    const one = this.get(operationId);
    return one !== undefined && this.isOpen(one) ? one : undefined;
  }

  result(operationId: string): Result | undefined {
    const one = this.get(operationId);
    return one === undefined || this.isOpen(one) ? undefined : one;
  }

  /** One that begins. */
  add(operationId: string, one: Open | Result): void {
    if (this.#added >= GENERATION) this.#forget();
    this.#added += 1;
    this.#young.set(operationId, one);
  }

  /** Puts something in the place of one. */
  set(operationId: string, one: Open | Result): void {
    if (this.#young.has(operationId)) this.#young.set(operationId, one);
    else if (this.#old.has(operationId)) this.#old.set(operationId, one);
    else this.add(operationId, one);
  }

  /** What was said of an operation first stands, and is answered. */
  end(operationId: string, result: Result): Result {
    const young = this.#young.get(operationId);
    const known = young ?? this.#old.get(operationId);
    if (known === undefined) this.add(operationId, result);
    else if (!this.isOpen(known)) return known;
    else {
      if (young === undefined) this.#old.set(operationId, result);
      // One that took long has only just ended: who asks does so after that.
      this.#young.set(operationId, result);
    }
    return result;
  }

  /** Forgets the older half, but for what has not ended. */
  #forget(): void {
    const kept = [...this.#old].filter(([, one]) => this.isOpen(one)).slice(-MAX_OPEN);
    this.#isIncomplete ||= kept.length < this.#old.size;
    this.#old = this.#young;
    this.#young = new Map(kept);
    this.#added = 0;
  }
}
