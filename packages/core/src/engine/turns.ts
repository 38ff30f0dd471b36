import { systemTimer, unlessAborted } from './calls.js';

/** How long a turn is waited for: whoever has it may be waiting for this one. */
const MAX_TURN_MS = 1_000;

/** Lets work begin when what came before has ended. */
export class Turns {
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
