const SLICE_MS = 8;

/** Gives the event loop its turns in long work. */
export class Turns {
  #since = performance.now();

  constructor(readonly signal?: AbortSignal | undefined) {}

  /** To be called between small pieces of work; waits only now and then. @throws the signal's reason */
  async pause(): Promise<void> {
    if (performance.now() - this.#since <= SLICE_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
