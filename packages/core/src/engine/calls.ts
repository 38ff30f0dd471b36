import { StorageError } from '../errors.js';

/** Time outside of the filesystem's own: for deadlines and pauses. */
export interface Timer {
  /** Resolves after `ms` milliseconds, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemTimer: Timer = {
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
  const ended = new AbortController();
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    if (signal === undefined) return;
    abort = () => {
      stop.abort(signal.reason);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  const late = timer.sleep(ms, ended.signal).then(() => {
    if (ended.signal.aborted) return undefined as never;
    const error = new StorageError('timeout', `The storage did not answer within ${ms} ms`);
    stop.abort(error);
    throw error;
  });
  try {
    const answer = call(stop.signal);
    // A call that fails after we stopped waiting must not be an unhandled rejection.
    answer.catch(() => {});
    late.catch(() => {});
    aborted.catch(() => {});
    return await Promise.race([answer, late.then(() => new Promise<never>(() => {})), aborted]);
  } finally {
    ended.abort();
    if (abort !== undefined) signal?.removeEventListener('abort', abort);
  }
}
