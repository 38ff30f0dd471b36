import type { Backend, BackendCall, Batch, CommitResult } from '../../backend.js';
import { isStorageError, OutcomeUnknownError } from '../../errors.js';
import { randomId } from '../defaults.js';
import { bounded, SharedDeadline, type Timer } from '../scheduling/deadline.js';
import { onAbort } from '../scheduling/on-abort.js';
import { mayHaveHappened, withMayHaveHappened } from './may-have-happened.js';

export interface BackendClientOptions {
  /** Milliseconds after which a request without a response fails. */
  readonly timeoutMs: number;
  /** Maximum number of retries of a request after temporary failures. */
  readonly retries: number;
  /** Returns a whole number from 0 to `below` - 1, for ids and pauses. */
  readonly random: (below: number) => number;
  readonly timer: Timer;
}

interface Changed<T> {
  readonly result: T;
  /** True if an earlier attempt whose reply was lost may have made the change. */
  readonly wasLost: boolean;
}

/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 200;
/** Milliseconds after an abort in which a change may still find out its result. */
const SETTLE_MS = 800;

/** Calls of a backend: bounded in time, repeated if that is safe, settled if a response was lost. */
export class BackendClient {
  readonly #backend: Backend;
  readonly #options: BackendClientOptions;
  /** Deadline of the calls without a signal that began in this run of synchronous code. */
  #deadline: SharedDeadline | undefined;
  /** Prefix of this client's operation ids, drawn when the first is needed, and the number of ids so far. */
  #client = '';
  #operations = 0;

  constructor(backend: Backend, options: BackendClientOptions) {
    this.#backend = backend;
    this.#options = options;
  }

  newOperationId(): string {
    if (this.#client === '') this.#client = randomId(this.#options.random);
    this.#operations += 1;
    return `${this.#client}${this.#operations}`;
  }

  /**
   * Sends a batch until its result is known. After an abort it rejects with the signal's reason only if the batch
   * certainly was not applied.
   * @throws OutcomeUnknownError if the result cannot be found out; the signal's reason; otherwise the last error, with
   * `mayHaveHappened: false` if it is a StorageError
   */
  async commit(batch: Batch, signal: AbortSignal | undefined): Promise<CommitResult> {
    signal?.throwIfAborted();
    let sent = batch;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#bounded(signal, (call) => this.#backend.commit(sent, call));
      } catch (error) {
        const isLost = signal?.aborted === true || mayHaveHappened(error);
        if (!isLost && !(isStorageError(error) && error.retryable)) throw error;
        if (sent.writes.length > 0) {
          const outcome = isLost ? await this.#outcome(sent.operationId, error, signal) : 'absent';
          if (outcome !== 'absent') return outcome;
          // The batch was not applied and never will be under this id, so it may be sent again under another one.
          sent = { ...sent, operationId: this.newOperationId() };
        }
        signal?.throwIfAborted();
        if (attempt >= this.#options.retries) throw withMayHaveHappened(error, false);
      }
      await this.pause(attempt + 1, signal);
    }
  }

  /** @throws OutcomeUnknownError if the outcome cannot be found out */
  async #outcome(
    operationId: string,
    cause: unknown,
    signal: AbortSignal | undefined,
  ): Promise<CommitResult | 'absent'> {
    const { timer, retries, timeoutMs } = this.#options;
    const tries = signal?.aborted === true ? 1 : retries + 1;
    // An abort before or during the call leaves the storage a grace period.
    const late = new AbortController();
    const replied = new AbortController();
    const hurry = (): void =>
      void timer
        .sleep(SETTLE_MS, replied.signal)
        .then(() => late.abort())
        .catch(() => {});
    if (signal?.aborted === true) hurry();
    const forget = onAbort(signal, hurry);
    try {
      for (let attempt = 0; attempt < tries; attempt++) {
        try {
          const outcome = await bounded(timer, timeoutMs, late.signal, (call) =>
            this.#backend.outcome(operationId, call),
          );
          if (outcome === 'unknown') break;
          return outcome;
        } catch (error) {
          if (late.signal.aborted) break;
          if (!isStorageError(error)) throw error;
          await this.pause(attempt, undefined);
        }
      }
    } finally {
      replied.abort();
      forget();
    }
    throw new OutcomeUnknownError(operationId, cause);
  }

  /**
   * Sends a request that changes nothing.
   * @throws the error of the last attempt, with `mayHaveHappened: false` if it is a StorageError; the signal's reason
   */
  async retrying<T>(signal: AbortSignal | undefined, call: (call: BackendCall) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#bounded(signal, call);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        if (!isStorageError(error) || !error.retryable || attempt >= this.#options.retries)
          throw withMayHaveHappened(error, false);
        await this.pause(attempt, signal);
      }
    }
  }

  /**
   * Sends a change whose outcome the storage does not record. It is sent again only if it certainly did not happen.
   * After an abort the storage has a short time to report the result.
   * @throws OutcomeUnknownError if the outcome is unknown; if the change did not happen, the error that refused it or
   * the signal's reason
   */
  async once<T>(signal: AbortSignal | undefined, call: (call: BackendCall) => Promise<T>): Promise<T> {
    return (await this.#change(signal, call, false)).result;
  }

  /**
   * Sends a change that has the same effect however often it arrives. `wasLost` is true if an earlier attempt may have
   * been applied.
   * @throws as `once`
   */
  repeated<T>(signal: AbortSignal | undefined, call: (call: BackendCall) => Promise<T>): Promise<Changed<T>> {
    return this.#change(signal, call, true);
  }

  async #change<T>(
    signal: AbortSignal | undefined,
    call: (call: BackendCall) => Promise<T>,
    mayRepeat: boolean,
  ): Promise<Changed<T>> {
    const isAborted = (): boolean => signal?.aborted === true;
    let loss: unknown;
    for (let attempt = 0; ; attempt++) {
      if (isAborted()) throw loss === undefined ? signal?.reason : new OutcomeUnknownError('', loss);
      try {
        return { result: await this.#bounded(signal, call, SETTLE_MS), wasLost: loss !== undefined };
      } catch (error) {
        // A call that rejects with the abort's reason does not report its result.
        if (mayHaveHappened(error) || (isAborted() && !isStorageError(error))) loss = error;
        const isOver = !isStorageError(error) || !error.retryable || (attempt >= this.#options.retries && !isAborted());
        if (loss !== undefined && (isOver || !mayRepeat)) throw new OutcomeUnknownError('', loss);
        if (isOver) throw error;
      }
      // An abort ends the pause early, and is handled above.
      await this.pause(attempt, signal).catch(() => {});
    }
  }

  /**
   * Waits before another attempt. The pause grows with `attempt`, up to {@link MAX_PAUSE_MS}, and is partly random, so
   * that clients that lost a race are less likely to collide again. For `attempt` 0 it only lets other tasks run.
   */
  async pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
    const { timer, random } = this.#options;
    const ms = Math.min(MAX_PAUSE_MS, 5 * 2 ** Math.min(attempt, 8)) * (0.5 + random(1000) / 2000);
    await timer.sleep(attempt === 0 ? 0 : ms, signal ?? new AbortController().signal);
    signal?.throwIfAborted();
  }

  #bounded<T>(signal: AbortSignal | undefined, call: (call: BackendCall) => Promise<T>, momentMs?: number): Promise<T> {
    const { timer, timeoutMs } = this.#options;
    if (signal !== undefined) return bounded(timer, timeoutMs, signal, call, momentMs);
    if (this.#deadline === undefined) {
      this.#deadline = new SharedDeadline(timer, timeoutMs);
      queueMicrotask(() => {
        this.#deadline = undefined;
      });
    }
    return this.#deadline.bound(call);
  }
}
