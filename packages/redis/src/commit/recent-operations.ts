/** Number of operations per generation. Those of the last two generations are remembered. */
const OPERATIONS_PER_GENERATION = 5_000;
/** Maximum number of undecided operations that move on to the next generation; older ones are dropped. */
const MAX_PENDING_OPERATIONS = 50_000;

/**
 * The most recent operations by id: the result of each, or the operation itself while it is undecided.
 *
 * Entries are dropped a generation at a time. Deleting them one by one makes a map grow new tables again and again. V8
 * links each outgrown table to the next, so one old table keeps the contents of all later ones alive.
 */
export class RecentOperations<Pending extends object, Result> {
  #young = new Map<string, Pending | Result>();
  #old = new Map<string, Pending | Result>();
  #youngCount = 0;
  #hasForgotten = false;

  constructor(readonly isPending: (one: Pending | Result) => one is Pending) {}

  /** True once an operation has been dropped. From then on an unknown id proves nothing. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  get(operationId: string): Pending | Result | undefined {
    return this.#young.get(operationId) ?? this.#old.get(operationId);
  }

  /** Returns an operation that has no result yet. */
  pending(operationId: string): Pending | undefined {
    const one = this.get(operationId);
    return one !== undefined && this.isPending(one) ? one : undefined;
  }

  result(operationId: string): Result | undefined {
    const one = this.get(operationId);
    return one === undefined || this.isPending(one) ? undefined : one;
  }

  add(operationId: string, one: Pending | Result): void {
    if (this.#youngCount >= OPERATIONS_PER_GENERATION) this.#nextGeneration();
    this.#youngCount += 1;
    this.#young.set(operationId, one);
  }

  /** Replaces an entry, or adds it. */
  set(operationId: string, one: Pending | Result): void {
    if (this.#young.has(operationId)) this.#young.set(operationId, one);
    else if (this.#old.has(operationId)) this.#old.set(operationId, one);
    else this.add(operationId, one);
  }

  /**
   * Records a result and returns it. If the operation already has one, returns that instead: the first result stands.
   */
  end(operationId: string, result: Result): Result {
    const young = this.#young.get(operationId);
    const known = young ?? this.#old.get(operationId);
    if (known === undefined) this.add(operationId, result);
    else if (!this.isPending(known)) return known;
    else {
      if (young === undefined) this.#old.set(operationId, result);
      // A slow operation may be in the old generation when it ends. Its result may be asked for after that, so it
      // becomes young.
      this.#young.set(operationId, result);
    }
    return result;
  }

  /** Drops the older generation, except for its last {@link MAX_PENDING_OPERATIONS} undecided operations. */
  #nextGeneration(): void {
    const kept = [...this.#old].filter(([, one]) => this.isPending(one)).slice(-MAX_PENDING_OPERATIONS);
    this.#hasForgotten ||= kept.length < this.#old.size;
    this.#old = this.#young;
    this.#young = new Map(kept);
    this.#youngCount = 0;
  }
}
