import { StorageError } from '../errors.js';

/** Time outside of the filesystem's own: for deadlines and pauses. */
export interface Timer {
  /** Resolves after `ms` milliseconds, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls back after `ms` milliseconds, unless what it answers is called before: cheaper than `sleep`, for deadlines. Default: by `sleep`. */
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
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timeout = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    }),
};

/**
 * Waits for a call of the storage, but never longer than a deadline or an abort: then the call is told to stop and is
 * not waited for. No listener and no timer is left behind.
 * @throws StorageError `timeout`; the signal's reason
 */
export async function bounded<T>(
  timer: Timer,
  ms: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', abort);
    };
    const fail = (error: unknown): void => {
      end();
      stop.abort(error);
      reject(error);
    };
    const abort = (): void => fail(signal?.reason);
    const late = (): void => fail(new StorageError('timeout', `The storage did not answer within ${ms} ms`));
    const cancel = timer.after?.(ms, late) ?? afterSleep(timer, ms, late);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      call(stop.signal).then((answer) => {
        end();
        resolve(answer);
      }, fail);
    } catch (error) {
      fail(error);
    }
    // Aborted while the call began: nobody would tell any more.
    if (signal?.aborted === true) abort();
  });
}

function afterSleep(timer: Timer, ms: number, work: () => void): () => void {
  const ended = new AbortController();
  void timer.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) work();
  });
  return () => ended.abort(ENDED);
}

/** A reason of our own: the platform's costs a stack trace. */
const ENDED = 'ended';

/** Waits for work that cannot be stopped, but not after an abort. @throws the signal's reason */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    // Aborted while the work began: nobody would tell any more.
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });
}
