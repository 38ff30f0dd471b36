import { isFsError } from '@scratchfs/core';
import { isSandboxError } from '@scratchfs/sandbox';

/**
 * Reports whether an error counts as a refusal, after which nothing has changed. After any other failure the outcome
 * counts as unknown.
 */
export const isRefusal = (error: unknown): error is Error => isSandboxError(error) || isFsError(error);

/** Inverses of the changes made so far, applied in reverse order. */
export class Undo {
  readonly #inverses: (() => Promise<void>)[] = [];

  /** Current position, which {@link back} accepts. */
  get mark(): number {
    return this.#inverses.length;
  }

  /** Runs `work` and, unless that is refused, records `inverse`, which must also work if `work` had no effect. */
  async does(work: () => Promise<unknown>, inverse: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isRefusal(error)) this.#inverses.push(inverse);
      throw error;
    }
    this.#inverses.push(inverse);
  }

  /** Undoes all changes after `mark`. If one inverse fails, it and the earlier ones stay recorded. */
  async back(mark = 0): Promise<void> {
    for (let last = this.#inverses.at(-1); last !== undefined && this.mark > mark; last = this.#inverses.at(-1)) {
      await last();
      this.#inverses.pop();
    }
  }
}
