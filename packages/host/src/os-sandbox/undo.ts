import { isFsError } from '@scratchfs/core';
import { isSandboxError } from '@scratchfs/sandbox';

/** What a call was refused for has changed nothing; after any other failure nobody knows. */
export const isRefusal = (error: unknown): error is Error => isSandboxError(error) || isFsError(error);

/** How to take back what was done, the last of it first. */
export class Undo {
  readonly #inverses: (() => Promise<void>)[] = [];

  /** How far it has come: where {@link back} stops. */
  get mark(): number {
    return this.#inverses.length;
  }

  /** Does what `inverse` takes back, which has to bear that it was not done. */
  async does(work: () => Promise<unknown>, inverse: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isRefusal(error)) this.#inverses.push(inverse);
      throw error;
    }
    this.#inverses.push(inverse);
  }

  /** Where one thing cannot be taken back, it and what was done before it stay to be taken back. */
  async back(mark = 0): Promise<void> {
    for (let last = this.#inverses.at(-1); last !== undefined && this.mark > mark; last = this.#inverses.at(-1)) {
      await last();
      this.#inverses.pop();
    }
  }
}
