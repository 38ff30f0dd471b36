import type { Cursor } from '../cursor.js';
import { afterLoading } from '../function-files.js';

/** Milliseconds that work may hold the event loop before other work gets a turn. */
export const SLICE_MS = 8;

/** Lets other work of the event loop run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Divides long work into slices of {@link SLICE_MS}, between which other work of the event loop runs. */
export class Yielder {
  #since = performance.now();

  constructor(readonly signal?: AbortSignal | undefined) {}

  /** True if the current slice is used up. */
  get isDue(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Begins a new slice without waiting, for a caller that has just yielded by its own means. */
  restart(): void {
    this.#since = performance.now();
  }

  /** Lets other work run, then begins a new slice. @throws the signal's reason */
  async pause(): Promise<void> {
    await nextTurn();
    this.signal?.throwIfAborted();
    this.restart();
  }

  /** Call this between small pieces of work: it pauses only if the slice is used up. @throws the signal's reason */
  async pauseIfDue(): Promise<void> {
    if (this.isDue) await this.pause();
  }
}

/** Work that can be interrupted at each yield. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs all steps in slices. @throws the signal's reason */
export async function runInSlices<T>(steps: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
  const yielder = new Yielder(signal);
  for (;;) {
    const step = steps.next();
    if (step.done) {
      // The caller continues in this turn of the event loop, unless the slice is used up. Then other work runs first.
      if (yielder.isDue) await nextTurn();
      return step.value;
    }
    if (yielder.isDue) await yielder.pause();
  }
}

/** Iterates over a cursor in slices, however fast the consumer is. @throws the signal's reason */
export async function* inSlices<T>(cursor: Cursor<T>, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
  const yielder = new Yielder(signal);
  for (;;) {
    let item: T | undefined;
    try {
      item = cursor.next();
    } catch (error) {
      item = await afterLoading(error, () => cursor.next(), signal);
    }
    if (item === undefined) return;
    yield item;
    if (yielder.isDue) await yielder.pause();
  }
}

/** {@link inSlices} for items that may have to be waited for. */
export async function* slicesOf<T>(
  next: () => Promise<T | undefined>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const yielder = new Yielder(signal);
  for (let item = await next(); item !== undefined; item = await next()) {
    yield item;
    if (yielder.isDue) await yielder.pause();
  }
}

export async function collectItems<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
