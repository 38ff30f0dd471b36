import type { BackendCall } from '../backend.js';
import { bounded, type Timer } from '../engine/scheduling/deadline.js';
import { Yielder } from '../engine/scheduling/time-slice.js';
import { isStorageError, StorageError } from '../errors.js';

export interface StoreCallOptions {
  /** Milliseconds after which a request without a response fails. */
  readonly timeoutMs: number;
  /** Retries of a request after a temporary failure. */
  readonly retries: number;
  readonly random: (below: number) => number;
  readonly timer: Timer;
}

/**
 * Microtasks of a short turn. A caller that gets a result and makes its next request needs some 20, layers add some.
 */
const SHORT_TURN_MICROTASKS = 100;
const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 2_000;

/** Requests to a store: bounded in time, and repeated if that is harmless. */
export class StoreCalls {
  readonly #options: StoreCallOptions;
  readonly #unstopped = new AbortController().signal;
  readonly #yielder = new Yielder();

  constructor(options: StoreCallOptions) {
    this.#options = options;
  }

  /** Sends a request with a deadline. @throws StorageError, `timeout` for the deadline; the signal's reason */
  once<T>(signal: AbortSignal | undefined, request: (call: BackendCall) => Promise<T>): Promise<T> {
    const { timer, timeoutMs } = this.#options;
    return bounded(timer, timeoutMs, signal, async (call) => {
      try {
        return await request(call);
      } catch (error) {
        throw isStorageError(error) ? error : unexpected(error);
      }
    });
  }

  /** Sends a request that may arrive twice, with retries. */
  async retrying<T>(signal: AbortSignal | undefined, call: (options: BackendCall) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.once(signal, call);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        if (!isStorageError(error) || !error.retryable || attempt >= this.#options.retries) throw error;
      }
      await this.pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), signal);
    }
  }

  /** Waits for a turn of the event loop, which takes about a millisecond. */
  async nextTurn(): Promise<void> {
    await this.#options.timer.sleep(0, this.#unstopped);
    this.#yielder.restart();
  }

  /**
   * Waits long enough for most callers that have just got a result to make their next request, without a turn of the
   * event loop unless one is due.
   */
  async shortTurn(): Promise<void> {
    if (this.#yielder.isDue) return this.nextTurn();
    for (let i = 0; i < SHORT_TURN_MICROTASKS; i++) await undefined;
  }

  /** Waits for a random time between 0.5 and 1.5 times `ms`. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    const { timer, random } = this.#options;
    await timer.sleep(ms * (0.5 + random(1000) / 1000), signal ?? this.#unstopped);
    signal?.throwIfAborted();
  }
}

/** Returns the failure for an error that says nothing about the outcome of the request. */
function unexpected(cause: unknown): StorageError {
  return new StorageError('unavailable', 'The object store failed without a StorageError: see the cause', {
    retryable: false,
    cause,
  });
}

/** Runs work for every item, `width` at a time; after the first failure no more are started. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
