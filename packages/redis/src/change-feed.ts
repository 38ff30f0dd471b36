import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, isStorageError } from '@scratchfs/core';
import { type Session, textOf } from './connection/client-session.js';
import type { Connection } from './connection/connection.js';
import { RESET, readAnnouncements } from './format/announcements.js';
import { scripts } from './lua/scripts.js';

type Connect = (onReady: () => void) => Connection;
type Tell = Parameters<NonNullable<Backend['watch']>>[0];

/** How long commits go on to be told to somebody who is not heard of any more, and how often one is. */
const LEASE_MS = 30_000;
const RENEW_MS = 8_000;
/** How long the server holds a request for news. */
export const HOLD_MS = 4_000;
/** How long a change of our own waits until those who listen here have heard of it. */
const PATIENCE_MS = 1_000;
const MAX_PAUSE_MS = 1_000;

/**
 * Everybody's commits, from a stream that they write while somebody watches. Its entries are numbered, so that one that
 * was missed is noticed; a connection that was lost goes on where it was.
 */
export class Watching {
  readonly #listeners = new Set<Tell>();
  #reader: Reader | undefined;

  constructor(
    private readonly session: Session,
    private readonly field: string,
    private readonly connect: Connect,
  ) {}

  listen(tell: Tell): () => void {
    this.#listeners.add(tell);
    this.#reader ??= new Reader(this.session, this.field, this.connect, (changes) => {
      for (const listener of [...this.#listeners]) listener(changes);
    });
    return () => {
      this.#listeners.delete(tell);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Until those who listen hear of what is sent from now on; undefined where they do, or where there are none. */
  get beginning(): Promise<void> | undefined {
    return this.#reader?.beginning;
  }

  /** Until those who listen have heard of an entry, or cannot just now. */
  told(entry: number): Promise<void> | undefined {
    return this.#reader?.told(entry);
  }

  /** Until those who listen have heard of everything so far. */
  async caughtUp(): Promise<void> {
    await this.#reader?.caughtUp();
  }

  close(): void {
    this.#reader?.stop();
    this.#reader = undefined;
  }
}

class Reader {
  /** Undefined once it has begun, or has failed to. */
  beginning: Promise<void> | undefined;
  /** The last entry that was told. */
  #last: number | undefined;
  readonly #connection: Connection;
  /** When it was last said that somebody is here, and what says so now: one at a time, or both tell what was missed. */
  #renewed = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> = Promise.resolve();
  #isStopped = false;
  #missed = false;
  readonly #waiting = new Set<{ readonly entry: number; readonly resolve: () => void }>();

  constructor(
    private readonly session: Session,
    private readonly field: string,
    connect: Connect,
    private readonly tell: Tell,
  ) {
    this.#connection = connect(() => this.#reconnected());
    this.beginning = new Promise((resolve) => void this.#run(resolve));
  }

  told(entry: number): Promise<void> | undefined {
    if (this.#isStopped || this.#last === undefined || entry <= this.#last) return undefined;
    return new Promise((resolve) => {
      const one = { entry, resolve: () => done() };
      const timer = setTimeout(() => done(), PATIENCE_MS);
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(one);
        resolve();
      };
      this.#waiting.add(one);
    });
  }

  async caughtUp(): Promise<void> {
    const answer = await this.#register().catch(() => undefined);
    if (answer !== undefined) await this.told(answer.entry);
  }

  stop(): void {
    this.#isStopped = true;
    this.#release(Number.POSITIVE_INFINITY);
    this.#connection.close().catch(() => {});
  }

  async #run(begun: () => void): Promise<void> {
    let pause = 25;
    while (!this.#isStopped) {
      try {
        await this.#renew();
        this.beginning = undefined;
        begun();
        const last = `${this.#last}-1`;
        for (const { entry, text } of await this.#connection.news(this.session.keys.changes, last, HOLD_MS))
          this.#heard(entry, text);
        pause = 25;
      } catch (error) {
        this.#missed ||= this.#last === undefined;
        this.#renewed = Number.NEGATIVE_INFINITY;
        this.beginning = undefined;
        begun();
        this.#release(Number.POSITIVE_INFINITY);
        if (this.#isStopped) return;
        if (isStorageError(error) && !error.retryable) {
          // Whoever looks now is told what is wrong.
          this.tell(RESET);
          this.stop();
          return;
        }
        await sleep(pause, undefined, { ref: false });
        pause = Math.min(2 * pause, MAX_PAUSE_MS);
      }
    }
  }

  async #register(): Promise<{ readonly entry: number; readonly isWhole: boolean }> {
    const { session, field } = this;
    const answer = await session.run(scripts.watch, field, [LEASE_MS, this.#last ?? '']);
    session.isWatched = true;
    return { entry: Number(textOf(answer[2])), isWhole: Number(textOf(answer[3])) === 1 };
  }

  /** What was asked goes again by itself; what the server has lost with the connection is told at once. */
  #reconnected(): void {
    if (this.#last === undefined || this.#isStopped) return;
    this.#renewed = Number.NEGATIVE_INFINITY;
    this.#renew().catch(() => {});
  }

  #renew(): Promise<void> {
    const renewed = this.#renewing.then(() => this.#renewNow());
    this.#renewing = renewed.catch(() => {
      this.#renewed = Number.NEGATIVE_INFINITY;
    });
    return renewed;
  }

  async #renewNow(): Promise<void> {
    if (this.#isStopped || performance.now() - this.#renewed < RENEW_MS) return;
    this.#renewed = performance.now();
    const asked = this.#last;
    const { entry, isWhole } = await this.#register();
    if (this.#isStopped || (this.#last !== undefined && isWhole)) return;
    if (this.#last !== undefined || this.#missed) this.tell(RESET);
    // A server that has lost something is behind what was told.
    this.#last = asked === undefined || entry < asked ? entry : Math.max(entry, this.#last ?? 0);
    this.#release(entry);
  }

  #heard(entry: number, text: Buffer): void {
    if (this.#isStopped || entry <= (this.#last as number)) return;
    const hasMissed = entry !== (this.#last as number) + 1;
    this.#last = entry;
    if (hasMissed) this.tell(RESET);
    if (text.length > 0 || !hasMissed) this.tell(readAnnouncements(text));
    this.#release(entry);
  }

  #release(entry: number): void {
    for (const one of [...this.#waiting]) if (one.entry <= entry) one.resolve();
  }
}
