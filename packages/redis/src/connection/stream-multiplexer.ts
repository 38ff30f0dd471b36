import { isStorageError, type StorageError } from '@scratchfs/core';
import { wholeNumber } from '../format/reply/corrupt.js';
import { Connection, type RawEntry, type RedisClient, ServerLink, type StreamPosition } from './connection.js';

/** Milliseconds that a read of the streams blocks on the server until a change arrives. */
export const BLOCKING_READ_MS = 4_000;
/** Milliseconds during which added streams are collected, so that they interrupt a read only once. */
const COLLECT_MS = 2;

/** Multiplexers by the user's client, unless that is a cluster. */
const sharedMultiplexers = new WeakMap<RedisClient, StreamMultiplexer>();

/** An entry of a change stream. */
export interface StreamEntry {
  readonly entry: number;
  readonly text: Buffer;
}

/**
 * Reads the change streams of many filesystems over one connection. A blocking read occupies its connection, so one
 * read names all streams. If a stream is added during a read, a new connection replaces the blocked one, because
 * unblocking it would need a permission. Each stream is then read from its last entry.
 */
export class StreamMultiplexer {
  readonly #subscriptions = new Set<StreamSubscription>();
  #connection: Connection | undefined;
  #isReading = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly target: RedisClient | string,
    private readonly timeoutMs: number,
  ) {}

  /**
   * Returns the multiplexer that all filesystems of a client share. In a cluster each filesystem has its own, because a
   * read must not name keys of different slots; so has each filesystem that was opened by a URL.
   */
  static of(target: RedisClient | string, timeoutMs: number): StreamMultiplexer {
    if (typeof target === 'string' || target.isCluster) return new StreamMultiplexer(target, timeoutMs);
    const multiplexer = sharedMultiplexers.get(target) ?? new StreamMultiplexer(target, timeoutMs);
    sharedMultiplexers.set(target, multiplexer);
    return multiplexer;
  }

  /** Adds a stream. @param onReconnect called when the connection was lost and is established again */
  subscribe(key: string, onReconnect: () => void): StreamSubscription {
    const subscription = new StreamSubscription(this, key, onReconnect);
    this.#subscriptions.add(subscription);
    return subscription;
  }

  remove(subscription: StreamSubscription): void {
    if (!this.#subscriptions.delete(subscription) || this.#subscriptions.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#disconnect();
  }

  /** Starts a read soon that includes all subscriptions that wait for entries. */
  include(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isReading && [...this.#subscriptions].every((one) => one.isRead)) return;
      if (this.#isReading) this.#disconnect();
      this.#connection ??= this.#connect();
      void this.#read(this.#connection);
    }, COLLECT_MS);
  }

  #connect(): Connection {
    let isFirst = true;
    const link = new ServerLink(this.target, () => {
      if (!isFirst) for (const one of [...this.#subscriptions]) one.onReconnect();
      isFirst = false;
    });
    return new Connection(link, BLOCKING_READ_MS + this.timeoutMs);
  }

  #disconnect(): void {
    this.#connection?.close().catch(() => {});
    this.#connection = undefined;
    this.#endReading();
  }

  #endReading(): void {
    this.#isReading = false;
    for (const one of this.#subscriptions) one.readAfter = undefined;
  }

  async #read(connection: Connection): Promise<void> {
    this.#isReading = true;
    try {
      for (;;) {
        const wanted = [...this.#subscriptions].filter(({ after }) => after !== undefined);
        if (wanted.length === 0) {
          this.#endReading();
          return;
        }
        for (const one of wanted) one.readAfter = one.after;
        const found = await connection.readStreams(wanted.map(positionOf), BLOCKING_READ_MS).catch((error: unknown) => {
          if (wanted.length === 1 || !isStorageError(error) || error.retryable) throw error;
          return error;
        });
        if (connection !== this.#connection) return;
        if (isStorageError(found)) await this.#readEach(connection, wanted, found);
        else for (const one of wanted) one.receive(found.get(one.key) ?? []);
      }
    } catch (error) {
      if (connection !== this.#connection) return;
      this.#endReading();
      for (const one of [...this.#subscriptions]) one.fail(error);
    }
  }

  /** Reads streams one by one after the server has refused to read them together, so that only the damaged ones end. */
  async #readEach(connection: Connection, wanted: readonly StreamSubscription[], error: StorageError): Promise<void> {
    let isExplained = false;
    for (const one of wanted) {
      try {
        const found = await connection.readStreams([positionOf(one)]);
        if (connection === this.#connection) one.receive(found.get(one.key) ?? []);
      } catch (failure) {
        if (!isStorageError(failure) || failure.retryable) throw failure;
        isExplained = true;
        one.end(failure);
      }
    }
    if (!isExplained) throw error;
  }
}

function positionOf({ key, after }: StreamSubscription): StreamPosition {
  return { key, after: after as number };
}

/** One stream of a multiplexer. */
export class StreamSubscription {
  /**
   * Number of the entry after which reading continues. Undefined before the first call of `next`, and after the stream
   * has ended.
   */
  after: number | undefined;
  /** The entry after which the read in progress began; undefined if it does not include this stream. */
  readAfter: number | undefined;
  readonly #entries: StreamEntry[] = [];
  /** Reason why the entries after `#entries` cannot be read. */
  #failure: unknown;
  #waiting:
    | {
        readonly since: number;
        readonly resolve: (entries: readonly StreamEntry[]) => void;
        readonly reject: (error: unknown) => void;
      }
    | undefined;

  constructor(
    private readonly multiplexer: StreamMultiplexer,
    readonly key: string,
    readonly onReconnect: () => void,
  ) {}

  /** True if the read in progress covers this stream, or the stream waits for no entries. */
  get isRead(): boolean {
    return this.after === undefined || (this.readAfter !== undefined && this.readAfter <= this.after);
  }

  /**
   * Returns the entries after a given one. Returns none if none came for some time, or on close. @throws StorageError
   */
  next(after: number): Promise<readonly StreamEntry[]> {
    if (this.#entries.length > 0) return Promise.resolve(this.#entries.splice(0));
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.after = after;
    return new Promise((resolve, reject) => {
      this.#waiting = { since: performance.now(), resolve, reject };
      if (!this.isRead) this.multiplexer.include();
    });
  }

  receive(entries: readonly RawEntry[]): void {
    for (const { id, text } of entries) {
      try {
        const entry = wholeNumber(id.split('-')[0], 'the number of a change');
        this.#entries.push({ entry, text });
        this.after = entry;
      } catch (error) {
        this.end(error);
        return;
      }
    }
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    if (entries.length === 0 && performance.now() - waiting.since < BLOCKING_READ_MS - COLLECT_MS) return;
    this.#waiting = undefined;
    waiting.resolve(this.#entries.splice(0));
  }

  /** Fails the call of `next` that waits, if there is one. The next call reads again. */
  fail(error: unknown): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  /** Ends the stream: once the entries before the damage are taken, `next` fails. */
  end(error: unknown): void {
    this.#failure = error;
    this.after = undefined;
    if (this.#entries.length > 0) this.#waiting?.resolve(this.#entries.splice(0));
    else this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  close(): void {
    this.multiplexer.remove(this);
    this.#waiting?.resolve([]);
    this.#waiting = undefined;
  }
}
