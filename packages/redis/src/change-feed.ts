import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, isStorageError } from '@scratchfs/core';
import { type ClientSession, replyText } from './connection/client-session.js';
import type { StreamSubscription } from './connection/stream-multiplexer.js';
import { RESET, readAnnouncements } from './format/announcements.js';
import { wholeNumber } from './format/reply/corrupt.js';
import { scripts } from './lua/scripts.js';

type Subscribe = (onReconnect: () => void) => StreamSubscription;
type Watch = Required<Backend>['watch'];
type Listener = Parameters<Watch>[0];
type OnFailure = Parameters<Watch>[1];

/** Milliseconds for which commits keep writing changes after a watcher has last renewed its lease. */
const WATCH_LEASE_MS = 30_000;
/** Interval at which a watcher renews its lease. */
const LEASE_RENEWAL_MS = 8_000;
/** Maximum time that `delivered` waits. */
const MAX_DELIVERY_WAIT_MS = 1_000;
/** Pauses between attempts after a failure. */
const MIN_RETRY_PAUSE_MS = 25;
const MAX_RETRY_PAUSE_MS = 1_000;

/**
 * Delivers the commits of all clients to this client's watchers. Commits append to a stream while the filesystem is
 * watched. The entries have consecutive numbers, so a gap shows that changes were missed.
 */
export class ChangeFeed {
  readonly #listeners = new Set<{ readonly listener: Listener; readonly onFailure: OnFailure }>();
  #reader: StreamReader | undefined;

  constructor(
    private readonly session: ClientSession,
    private readonly field: string,
    private readonly subscribe: Subscribe,
  ) {}

  /**
   * Adds a listener. Returns a function that removes it.
   * @param onFailure called at most once; the listener receives nothing after it
   */
  listen(listener: Listener, onFailure: OnFailure): () => void {
    const entry = { listener, onFailure };
    this.#listeners.add(entry);
    const deliver: Listener = (changes) => {
      for (const one of [...this.#listeners]) one.listener(changes);
    };
    this.#reader ??= new StreamReader(this.session, this.field, this.subscribe, deliver, (error) => this.#fail(error));
    return () => {
      if (this.#listeners.delete(entry) && this.#listeners.size === 0) this.close();
    };
  }

  /** Resolves when reading has begun or has failed to begin. Undefined after that, and if there are no listeners. */
  get ready(): Promise<void> | undefined {
    return this.#reader?.ready;
  }

  /**
   * Resolves when listeners have received an entry, when reading fails or ends, or after a second. Undefined if they
   * have it already, or if reading has not begun.
   */
  delivered(entry: number): Promise<void> | undefined {
    return this.#reader?.delivered(entry);
  }

  /** Asks the server for its last entry, and waits for that as `delivered` does. Ignores failures. */
  async caughtUp(): Promise<void> {
    await this.#reader?.caughtUp();
  }

  #fail(error: unknown): void {
    this.close();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const { onFailure } of listeners) onFailure(error);
  }

  close(): void {
    this.#reader?.stop();
    this.#reader = undefined;
  }
}

class StreamReader {
  /** Resolves when reading has begun or has failed to begin. Undefined after that. */
  ready: Promise<void> | undefined;
  /** Number of the entry after which changes are delivered. Undefined before reading has begun. */
  #lastEntry: number | undefined;
  readonly #subscription: StreamSubscription;
  /** Time of the last lease renewal. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** Renewals run one after the other: two concurrent ones would both report missed entries. */
  #renewing: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** True if entries may have been missed before the first successful read. */
  #hasMissed = false;
  readonly #waiting = new Set<{ readonly entry: number; readonly resolve: () => void }>();

  constructor(
    private readonly session: ClientSession,
    private readonly field: string,
    subscribe: Subscribe,
    private readonly deliver: Listener,
    /** Called at most once; nothing is delivered after it. */
    private readonly fail: (error: unknown) => void,
  ) {
    this.#subscription = subscribe(() => this.#onReconnect());
    this.ready = new Promise((resolve) => void this.#run(resolve));
  }

  delivered(entry: number): Promise<void> | undefined {
    if (this.#isStopped || this.#lastEntry === undefined || entry <= this.#lastEntry) return undefined;
    return new Promise((resolve) => {
      const one = { entry, resolve: () => done() };
      const timer = setTimeout(() => done(), MAX_DELIVERY_WAIT_MS);
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(one);
        resolve();
      };
      this.#waiting.add(one);
    });
  }

  async caughtUp(): Promise<void> {
    const registered = await this.#register().catch(() => undefined);
    if (registered !== undefined) await this.delivered(registered.entry);
  }

  stop(): void {
    this.#isStopped = true;
    this.#release(Number.POSITIVE_INFINITY);
    this.#subscription.close();
  }

  async #run(begun: () => void): Promise<void> {
    let pause = MIN_RETRY_PAUSE_MS;
    while (!this.#isStopped) {
      try {
        await this.#renew();
        this.ready = undefined;
        begun();
        const entries = await this.#subscription.next(this.#lastEntry as number);
        for (const { entry, text } of entries) this.#receive(entry, text);
        pause = MIN_RETRY_PAUSE_MS;
      } catch (error) {
        this.#hasMissed ||= this.#lastEntry === undefined;
        this.#renewedAt = Number.NEGATIVE_INFINITY;
        this.ready = undefined;
        begun();
        this.#release(Number.POSITIVE_INFINITY);
        if (this.#isStopped) return;
        if (isStorageError(error) && !error.retryable) {
          this.fail(error);
          return;
        }
        await sleep(pause, undefined, { ref: false });
        pause = Math.min(2 * pause, MAX_RETRY_PAUSE_MS);
      }
    }
  }

  /**
   * Renews the lease. Returns the stream's last entry, and whether all entries after the last delivered one still
   * exist.
   */
  async #register(): Promise<{ readonly entry: number; readonly isComplete: boolean }> {
    const { session, field } = this;
    const reply = await session.run(scripts.watch, field, [WATCH_LEASE_MS, this.#lastEntry ?? '']);
    session.isWatched = true;
    return { entry: wholeNumber(replyText(reply[2]), 'an entry'), isComplete: Number(replyText(reply[3])) === 1 };
  }

  /** Renews the lease, which the server may have lost. ioredis sends the blocking read again by itself. */
  #onReconnect(): void {
    if (this.#lastEntry === undefined || this.#isStopped) return;
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    this.#renew().catch(() => {});
  }

  #renew(): Promise<void> {
    const renewed = this.#renewing.then(() => this.#renewNow());
    this.#renewing = renewed.catch(() => {
      this.#renewedAt = Number.NEGATIVE_INFINITY;
    });
    return renewed;
  }

  async #renewNow(): Promise<void> {
    if (this.#isStopped || performance.now() - this.#renewedAt < LEASE_RENEWAL_MS) return;
    this.#renewedAt = performance.now();
    const lastBefore = this.#lastEntry;
    const { entry, isComplete } = await this.#register();
    if (this.#isStopped || (this.#lastEntry !== undefined && isComplete)) return;
    if (this.#lastEntry !== undefined || this.#hasMissed) this.deliver(RESET);
    // A lower number than before shows that the server has lost entries. Reading then continues from the server's
    // number.
    this.#lastEntry = lastBefore === undefined || entry < lastBefore ? entry : Math.max(entry, this.#lastEntry ?? 0);
    this.#release(entry);
  }

  #receive(entry: number, text: Buffer): void {
    if (this.#isStopped || entry <= (this.#lastEntry as number)) return;
    const isGap = entry !== (this.#lastEntry as number) + 1;
    this.#lastEntry = entry;
    if (isGap) this.deliver(RESET);
    if (text.length > 0 || !isGap) this.deliver(readAnnouncements(text));
    this.#release(entry);
  }

  /** Resolves the promises of callers that wait for this entry or an earlier one. */
  #release(entry: number): void {
    for (const one of [...this.#waiting]) if (one.entry <= entry) one.resolve();
  }
}
