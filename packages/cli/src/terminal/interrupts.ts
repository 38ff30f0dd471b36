import { constants } from 'node:os';
import { ExitCode } from '../errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals that end the program. */
export type EndingSignal = (typeof SIGNALS)[number];

/** Milliseconds after which work that has nothing to put in order is ended, even if it does not watch the signal. */
const GRACE_MS = 500;

/**
 * Turns signals into an abort signal, except Ctrl-C while another program has the terminal. The first signal ends the
 * work in order, the second ends the process.
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

  /** Exit code for the signal that came, 128 plus its number; for Ctrl-C if none came. */
  get exitCode(): number {
    return this.#received === undefined ? ExitCode.interrupted : 128 + constants.signals[this.#received];
  }

  /** Reports whether a signal other than Ctrl-C came: a command that runs until Ctrl-C has failed then. */
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

  /** Leaves all signals to somebody else from now on. */
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

  /** Runs work that clears up after itself when it is aborted, for as long as that takes. */
  async orderly<T>(work: () => Promise<T>): Promise<T> {
    this.#orderly++;
    try {
      return await work();
    } finally {
      this.#orderly--;
    }
  }

  /** Leaves Ctrl-C to the program that has the terminal, until the returned function is called. */
  hold(): () => void {
    this.#held++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held--;
      isHeld = false;
    };
  }
}
