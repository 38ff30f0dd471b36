import type { BackendCall } from '../../backend.js';
import { StorageError } from '../../errors.js';
import { onAbort } from './on-abort.js';

/** Real time, independent of the filesystem's clock, for deadlines and pauses. */
export interface Timer {
  /** Resolves after `ms` milliseconds, or immediately when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls back after `ms` milliseconds, unless the returned function is called first: cheaper than `sleep`, for
   * deadlines. Default: built on `sleep`.
   */
  after?(ms: number, work: () => void): () => void;
}

export const systemTimer: Timer = {
  after: (ms, work) => {
    const timeout = setTimeout(work, ms);
    return () => clearTimeout(timeout);
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timeout);
        forget();
        resolve();
      };
      const timeout = setTimeout(done, ms);
      const forget = onAbort(signal, done);
    }),
};

/**
 * A call that can be aborted. Its signal is created on demand, because that is expensive and many backends do not use
 * it.
 */
class Call implements BackendCall {
  isAborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/**
 * Awaits a call of the storage until a deadline. At the deadline, or when `signal` aborts, the call's own signal is
 * aborted and the call is no longer awaited. With a grace period, it is awaited for that time after an abort. Leaves no
 * listener and no timer.
 * @param ms milliseconds until the deadline
 * @param momentMs grace period for mutations: milliseconds for which the call is still awaited after an abort of
 * `signal`, so that it may report its result
 * @throws StorageError `timeout` at the deadline and after the grace period; the signal's reason, if it was aborted
 * before the call or there is no grace period; the error of the call
 */
export async function bounded<T>(
  timer: Timer,
  ms: number,
  signal: AbortSignal | undefined,
  begin: (call: BackendCall) => Promise<T>,
  momentMs = 0,
): Promise<T> {
  signal?.throwIfAborted();
  const call = new Call();
  return new Promise<T>((resolve, reject) => {
    const end = (): void => {
      cancel();
      forget();
    };
    const fail = (error: unknown): void => {
      end();
      call.abort(error);
      reject(error);
    };
    const late = (): void => fail(timedOut(ms));
    const abort = (): void => {
      if (momentMs === 0) fail(signal?.reason);
      else if (!call.isAborted) {
        cancel();
        cancel = after(timer, momentMs, () => fail(timedOut(momentMs)));
        call.abort(signal?.reason);
      }
    };
    let cancel = after(timer, ms, late);
    const forget = onAbort(signal, abort);
    try {
      begin(call).then((result) => {
        end();
        resolve(result);
      }, fail);
    } catch (error) {
      fail(error);
    }
    // Aborted while the call started: no abort event will follow.
    if (signal?.aborted === true) abort();
  });
}

/**
 * One deadline for several calls without a signal. It begins with the first call; calls that have not completed when it
 * passes are aborted and rejected. No timer is left once all calls have completed.
 */
export class SharedDeadline {
  readonly #timer: Timer;
  readonly #ms: number;
  readonly #unanswered = new Map<Call, (error: unknown) => void>();
  #cancel: (() => void) | undefined;

  constructor(timer: Timer, ms: number) {
    this.#timer = timer;
    this.#ms = ms;
  }

  /** @throws StorageError `timeout`; the error of the call */
  bound<T>(begin: (call: BackendCall) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const call = new Call();
      this.#unanswered.set(call, reject);
      this.#cancel ??= after(this.#timer, this.#ms, () => this.#pass());
      const fail = (error: unknown): void => {
        this.#end(call);
        call.abort(error);
        reject(error);
      };
      try {
        begin(call).then((result) => {
          this.#end(call);
          resolve(result);
        }, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  #end(call: Call): void {
    this.#unanswered.delete(call);
    if (this.#unanswered.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #pass(): void {
    for (const [call, reject] of this.#unanswered) {
      const error = timedOut(this.#ms);
      call.abort(error);
      reject(error);
    }
    this.#unanswered.clear();
  }
}

function timedOut(ms: number): StorageError {
  return new StorageError('timeout', `The storage did not respond within ${ms} ms`);
}

/** Calls back after a time, unless the returned function is called first. */
function after(timer: Timer, ms: number, work: () => void): () => void {
  if (timer.after !== undefined) return timer.after(ms, work);
  const ended = new AbortController();
  void timer.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) work();
  });
  return () => ended.abort(ENDED);
}

/** A constant reason, because creating the platform's default one captures a stack trace. */
const ENDED = 'ended';

/** Awaits work that cannot be stopped, but not after an abort. @throws the signal's reason */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    // Aborted while the work started: no abort event will follow.
    if (signal.aborted) abort();
    work.finally(onAbort(signal, abort)).then(resolve, reject);
  });
}
