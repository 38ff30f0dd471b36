import type { Timer } from '@scratchfs/core';
import { Random } from '../random.js';

interface PendingTurn {
  readonly label: string;
  /** For a sleeper: when it wakes, in virtual milliseconds. */
  readonly at: number | undefined;
  settle(): void;
}

/** Least milliseconds of a wait that counts as a deadline, not as a pause. */
const MIN_DEADLINE_LEAP_MS = 5_000;

/**
 * Decides which of the pending promises settles next: the same seed and the same program give the same order. Time is
 * virtual: each turn takes a millisecond, and if only sleepers are left it jumps to the first of them.
 */
export class Scheduler {
  readonly random: Random;
  /** Virtual milliseconds since the start. */
  now = 0;
  /** Labels of what settled, in order. */
  readonly log: string[] = [];
  readonly #pending: PendingTurn[] = [];
  /** Number of running calls of `outside`. */
  #outside = 0;

  constructor(readonly seed: number) {
    this.random = new Random(seed);
  }

  /** Waits for a turn. */
  turn(label: string): Promise<void> {
    return new Promise((resolve) => this.#pending.push({ label, at: undefined, settle: resolve }));
  }

  /** Runs work that takes real time, such as a call of a disk. Virtual time stands still until it has ended. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    this.#outside += 1;
    try {
      return await work();
    } finally {
      this.#outside -= 1;
    }
  }

  /** Timer for the engine's deadlines and pauses. */
  readonly timer: Timer = {
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve();
          return;
        }
        const sleeper: PendingTurn = {
          label: `sleep ${ms}`,
          at: this.now + ms,
          settle: () => {
            signal.removeEventListener('abort', wake);
            resolve();
          },
        };
        const wake = (): void => {
          const index = this.#pending.indexOf(sleeper);
          if (index >= 0) this.#pending.splice(index, 1);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
        this.#pending.push(sleeper);
      }),
  };

  /** Lets turns and sleepers settle, one at a time, until the work is done. @throws if nothing can settle any more */
  async run<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const end = (): void => {
      done = true;
    };
    work.then(end, end);
    for (let idle = 0, turns = 1; !done; turns++) {
      // Work that waits for the event loop must not starve.
      if (turns % 64 === 0) await macrotask();
      await settleMicrotasks();
      if (done) break;
      if (this.#outside > 0) {
        await macrotask();
        continue;
      }
      // A deadline passes only if nothing else continues, however many microtasks that needs.
      if (this.#msUntilNext() >= MIN_DEADLINE_LEAP_MS) await macrotask();
      const next = this.#choose();
      if (next === undefined) {
        // Something waits for the event loop.
        idle += 1;
        if (idle > 1_000)
          throw new Error(`Nothing can settle any more (seed ${this.seed}, after ${this.log.length} turns)`);
        await macrotask();
        continue;
      }
      idle = 0;
      // A turn takes time, so that sleepers wake although others are busy.
      if (next.at === undefined) this.now += 1;
      this.log.push(next.label);
      next.settle();
    }
    return work;
  }

  /** Returns the milliseconds until something can settle. */
  #msUntilNext(): number {
    let at = Infinity;
    for (const pending of this.#pending) at = Math.min(at, pending.at ?? this.now);
    return at - this.now;
  }

  #choose(): PendingTurn | undefined {
    const ready = this.#pending.filter((pending) => pending.at === undefined || pending.at <= this.now);
    let chosen = ready.length === 0 ? undefined : this.random.pick(ready);
    if (chosen === undefined) {
      for (const pending of this.#pending)
        if (chosen === undefined || (pending.at ?? 0) < (chosen.at ?? 0)) chosen = pending;
      if (chosen?.at !== undefined) this.now = chosen.at;
    }
    if (chosen !== undefined) this.#pending.splice(this.#pending.indexOf(chosen), 1);
    return chosen;
  }
}

/** Runs enough microtasks for the chains of awaits that occur between two waits. */
async function settleMicrotasks(): Promise<void> {
  for (let i = 0; i < 60; i++) await null;
}

function macrotask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
