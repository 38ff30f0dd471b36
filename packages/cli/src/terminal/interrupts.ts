/** Turns Ctrl-C into an abort signal, except while another program has the terminal. */
export class Interrupts {
  readonly #controller = new AbortController();
  #held = 0;
  #orderly = 0;

  /** Aborts at the first Ctrl-C. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called for each Ctrl-C. Returns false at the second one: the process should end. */
  interrupt(): boolean {
    if (this.#held > 0) return true;
    if (this.signal.aborted) return false;
    this.#controller.abort();
    return true;
  }

  /** Called for SIGTERM. Returns false if the process should end at once: nothing is to be put in order. */
  terminate(): boolean {
    if (this.#orderly === 0 || this.signal.aborted) return false;
    this.#controller.abort();
    return true;
  }

  /** Runs work that clears up after itself when it is aborted. */
  async orderly<T>(work: () => Promise<T>): Promise<T> {
    this.#orderly++;
    try {
      return await work();
    } finally {
      this.#orderly--;
    }
  }

  /** Runs work during which Ctrl-C is for the program in the terminal alone. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held++;
    try {
      return await work();
    } finally {
      this.#held--;
    }
  }
}
