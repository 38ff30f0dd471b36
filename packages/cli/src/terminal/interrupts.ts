import { constants } from 'node:os';
import { ExitCode } from '../errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals that end the program. */
export type EndingSignal = (typeof SIGNALS)[number];

/** Milliseconds from the first signal until the process exits, unless work in `orderly()` is not done yet. */
const GRACE_MS = 500;

/**
 * Turns signals into an abort signal. The first signal lets the work clean up and end, the second ends the process
 * immediately. Ctrl-C is ignored while another program has the terminal.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  #received: EndingSignal | undefined;
  #held = 0;
  #orderly = 0;
  #release: () => void = () => {};

  /** Aborts at the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code for the signal that came: 128 plus its number. If none came, that of Ctrl-C. */
  get exitCode(): number {
    return this.#received === undefined ? ExitCode.interrupted : 128 + constants.signals[this.#received];
  }

  /** Reports whether a signal other than Ctrl-C came. A command that runs until Ctrl-C has failed then. */
  get isTerminated(): boolean {
    return this.#received !== undefined && this.#received !== 'SIGINT';
  }

  /** Listens to the signals of this process. */
  listen(): void {
    const listeners = SIGNALS.map((name) => {
      const listener = (): void => this.#receive(name);
      process.on(name, listener);
      return () => process.off(name, listener);
    });
    this.#release = () => {
      for (const off of listeners) off();
    };
  }

  /** Stops listening, because other code of this process handles the signals from now on. */
  release(): void {
    this.#release();
  }

  #receive(name: EndingSignal): void {
    if (name === 'SIGINT' && this.#held > 0) return;
    if (this.signal.aborted) process.exit(this.exitCode);
    this.#received = name;
    this.#controller.abort();
    setInterval(() => {
      if (this.#orderly === 0) process.exit(this.exitCode);
    }, GRACE_MS).unref();
  }

  /** Runs work that cleans up when it is aborted. The process waits for its end, unless a second signal comes. */
  async orderly<T>(work: () => Promise<T>): Promise<T> {
    this.#orderly++;
    try {
      return await work();
    } finally {
      this.#orderly--;
    }
  }

  /** Ignores Ctrl-C, which is for the program that has the terminal, until the returned function is called. */
  hold(): () => void {
    this.#held++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held--;
      isHeld = false;
    };
  }
}
