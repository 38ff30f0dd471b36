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
  const late = timer.sleep(ms, ended.signal).then(() => {
    if (ended.signal.aborted) return undefined as never;
    throw new StorageError('timeout', `The storage did not answer within ${ms} ms`);
  });
  try {
    const answer = call(stop.signal);
    late.catch(() => {});
    const inTime = Promise.race([answer, late.then(() => new Promise<never>(() => {}))]);
    return await unlessAborted(signal, inTime);
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    // Without a reason the platform would make an error with a stack, for nobody.
    ended.abort('answered');
  }
}

/** Waits for work that cannot be stopped, but not after an abort. @throws the signal's reason */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  // Aborted while the work began: nobody would tell any more.
  if (signal.aborted) {
    work.catch(() => {});
    throw signal.reason;
  }
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  // Whichever comes too late must not be an unhandled rejection.
  work.catch(() => {});
  aborted.catch(() => {});
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (abort !== undefined) signal.removeEventListener('abort', abort);
  }
}
