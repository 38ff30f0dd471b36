import { systemTimer, unlessAborted } from './deadline.js';

/** Maximum milliseconds that a caller waits for its turn, because the current holder may be waiting for that caller. */
const MAX_TURN_MS = 1_000;

/**
 * Runs tasks one after the other, in the order in which they were given. A task that has waited for
 * {@link MAX_TURN_MS} starts anyway.
 */
export class FifoLock {
  #last: Promise<void> = Promise.resolve();

  async take<R>(run: () => Promise<R>, signal: AbortSignal | undefined): Promise<R> {
    const before = this.#last;
    const late = new AbortController();
    let end = (): void => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = before.then(() => mine);
    try {
      await unlessAborted(signal, Promise.race([before, systemTimer.sleep(MAX_TURN_MS, late.signal)]));
      late.abort();
      return await run();
    } finally {
      late.abort();
      end();
    }
  }
}
