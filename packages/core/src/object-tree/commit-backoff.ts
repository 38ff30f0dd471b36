import { isStorageError } from '../errors.js';
import type { Head } from './head.js';
import type { Current, Heads } from './heads.js';
import type { ObjectStore } from './object-store.js';
import {
  isPending,
  type PriorityRequest,
  readPriorityRequest,
  removePriorityRequest,
  writePriorityRequest,
} from './priority-request.js';
import type { StoreCalls } from './store-calls.js';

/** Number of latest commits: other clients that made one of them count as competitors. */
const RECENT_COMMITS = 32;
/** Number of own commits for which a client remembers a lost race. */
const RACE_MEMORY_COMMITS = 8;
/** Consecutive lost races after which a client asks for priority. */
const PRIORITY_AFTER_LOSSES = 8;
/** Interval at which a client that loses no races checks for a priority request. */
const PRIORITY_CHECK_INTERVAL_COMMITS = 16;
/** Checks of the head after which a client no longer waits for the one that has priority. */
const MAX_YIELD_POLLS = 12;
/**
 * Checks of the head in the time that the client with priority claims to need. After `MAX_YIELD_POLLS` checks, that
 * client has had at least three times as long.
 */
const POLLS_PER_COMMIT_TIME = 4;
/** Shortest pause, for clients that compete: about the time of a commit on a fast store. */
const MIN_PAUSE_MS = 1;
/** Shortest pause in favour of a client with priority, which may need more time than it claimed on a busy machine. */
const MIN_YIELD_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1_000;
/** Longest time that a client may claim to need for a commit. */
const MAX_COMMIT_TIME_MS = 4_000;

export interface CommitBackoffOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly heads: Heads;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  /** True if no other client commits, as in a fork. */
  readonly isAlone: boolean;
}

/**
 * Decides when a client tries to commit under contention. Clients whose last commit is older go first. The others wait
 * for about the time of a commit, so that few clients prepare commits that lose. Waiting longer after each loss would
 * starve a slow client: a client that has lost often writes a priority request instead, and the others let it commit
 * first. Neither kind of waiting is needed for correctness, and both end after a time.
 */
export class CommitBackoff {
  readonly #options: CommitBackoffOptions;
  readonly #client: string;
  /** Number of further own commits during which other clients are assumed to compete. */
  #races = 0;
  #lost = 0;
  #attempts = 0;
  /** Time from which the current attempt to commit is measured. */
  #freeAt = 0;
  /** Milliseconds that the last attempt took, won or lost; at most `MAX_COMMIT_TIME_MS`. */
  #commitMs = 0;
  /** Last commit of this client. */
  #won: { readonly at: number; readonly commit: number } | undefined;
  #priority: PriorityRequest | undefined;
  /** Id of the priority request for which this client has waited without effect. */
  #ignored = '';
  #isClosed = false;

  constructor(options: CommitBackoffOptions, client: string) {
    this.#options = options;
    this.#client = client;
  }

  /** Waits for this client's turn, or requests priority if it has lost often. Returns the head known then. */
  async wait(base: Current, sequence: number): Promise<Current> {
    const { now, isAlone } = this.#options;
    if (isAlone || this.#isClosed) return base;
    if (this.#lost === 0) this.#freeAt = now();
    const first = this.#priority;
    this.#priority = undefined;
    const current = first === undefined ? base : await this.#yieldTo(first, base);
    if (this.#lost < PRIORITY_AFTER_LOSSES) return this.#waitForRivals(current);
    await this.#requestPriority(current.head, sequence);
    return current;
  }

  /**
   * Reports whether another client has asked for priority and is to get it: the next `wait` then lets that client
   * commit first. Without recent races, only every 16th call reads the request; the others return false.
   */
  async mustYield({ head }: Current): Promise<boolean> {
    const { store, calls, isAlone } = this.#options;
    this.#attempts += 1;
    if (isAlone || (this.#races === 0 && this.#attempts % PRIORITY_CHECK_INTERVAL_COMMITS !== 0)) return false;
    const request = await readPriorityRequest(store, calls).catch(ignoreStorageError);
    if (request === undefined || request.client === this.#client || request.id === this.#ignored) return false;
    if (!isPending(request, head)) return false;
    this.#priority = request;
    return true;
  }

  /** Ends waiting after the current pause. */
  close(): void {
    this.#isClosed = true;
  }

  lost(): void {
    this.#lost += 1;
    this.#races = RACE_MEMORY_COMMITS;
    this.#measureCommit();
  }

  won(commit: number): void {
    this.#races = this.#lost > 0 ? RACE_MEMORY_COMMITS : Math.max(0, this.#races - 1);
    this.#lost = 0;
    this.#measureCommit();
    this.#won = { at: this.#options.now(), commit };
  }

  /** Reports whether this client may compact. Only one of several competing clients should read the scattered data. */
  mayCompact(head: Head): boolean {
    if (this.#races === 0) return true;
    return this.#rivalsAhead(head) === 0 && head.clients.some(({ client }) => client === this.#client);
  }

  #measureCommit(): void {
    const now = this.#options.now();
    this.#commitMs = Math.min(MAX_COMMIT_TIME_MS, now - this.#freeAt);
    this.#freeAt = now;
  }

  async #requestPriority({ commit }: Head, sequence: number): Promise<void> {
    const { store, calls } = this.#options;
    const request = { client: this.#client, sequence, commit, ms: Math.ceil(this.#commitMs) };
    await writePriorityRequest(store, calls, request).catch(ignoreStorageError);
  }

  async #yieldTo(request: PriorityRequest, base: Current): Promise<Current> {
    const { store, calls } = this.#options;
    let current = base;
    for (let looks = 0; !this.#isClosed && isPending(request, current.head); looks++) {
      if (looks === MAX_YIELD_POLLS) {
        this.#ignored = request.id;
        // The requesting client is probably gone or no longer waits, so other clients need not wait for it either.
        await removePriorityRequest(store, calls).catch(ignoreStorageError);
        break;
      }
      current = await this.#pauseAndRefresh(Math.max(MIN_YIELD_PAUSE_MS, request.ms / POLLS_PER_COMMIT_TIME));
    }
    return current;
  }

  async #waitForRivals(base: Current): Promise<Current> {
    const { now } = this.#options;
    let current = base;
    for (let seenAt = now(); ; ) {
      const ahead = this.#races === 0 || this.#isClosed ? 0 : this.#rivalsAhead(current.head);
      if (ahead === 0) return current;
      const newer = await this.#pauseAndRefresh((this.#commitIntervalMs(current.head) * ahead) / 2);
      if (newer.tag !== current.tag) {
        this.#races = RACE_MEMORY_COMMITS;
        seenAt = now();
        current = newer;
      } else if (now() - seenAt >= this.#commitMs * (1 + ahead / 10)) return newer;
    }
  }

  async #pauseAndRefresh(ms: number): Promise<Current> {
    const { heads, calls, now } = this.#options;
    await calls.pause(Math.max(MIN_PAUSE_MS, Math.min(MAX_PAUSE_MS, ms)));
    const newer = await heads.refresh();
    this.#freeAt = now();
    return newer;
  }

  /**
   * Estimates the milliseconds that a commit of any client takes: the average time between all commits since this
   * client's last one, but at most the time of this client's last attempt, and at least a third of that. Without
   * such commits, the time of the last attempt.
   */
  #commitIntervalMs({ commit }: Head): number {
    const most = this.#commitMs;
    if (this.#won === undefined || commit <= this.#won.commit) return most;
    const pace = (this.#options.now() - this.#won.at) / (commit - this.#won.commit);
    return Math.min(most, Math.max(most / 3, pace));
  }

  /** Counts competing clients whose last commit is older than this client's. */
  #rivalsAhead({ clients, commit }: Head): number {
    const mine = clients.find(({ client }) => client === this.#client)?.commit ?? 0;
    return clients.filter((one) => one.commit < mine && one.commit > commit - RECENT_COMMITS).length;
  }
}

/** Ignores a storage error, because the failed request was optional. Throws other errors. */
function ignoreStorageError(error: unknown): undefined {
  if (!isStorageError(error)) throw error;
}
