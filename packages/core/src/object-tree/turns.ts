import { isStorageError } from '../errors.js';
import type { Head } from './head.js';
import type { Current, Heads } from './heads.js';
import type { ObjectStore } from './object-store.js';
import type { StoreCalls } from './store-calls.js';
import { isWaiting, readTicket, removeTicket, type Ticket, writeTicket } from './ticket.js';

/** Commits of others among which those that compete are counted, and how long a race is remembered. */
const RECENT = 32;
const REMEMBERED_RACES = 8;
/** Lost races in a row after which a client asks the others to let it go first. */
const ASKS_AFTER = 8;
/** How often a client that loses no races looks whether another asks. */
const LOOKS_EVERY = 16;
/** How often the head is looked at while another goes first: four times in what it needs, and given up after three times that. */
const LOOKS = 12;
const LOOKS_IN_ITS_TIME = 4;
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1_000;
/** What a client may say it needs for a commit. */
const MAX_NEEDED_MS = 4_000;

export interface TurnOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly heads: Heads;
  /** Never goes back. */
  readonly now: () => number;
  /** Nobody else commits. */
  readonly isAlone: boolean;
}

/**
 * When a client tries to commit while others do. Those whose last commit is older go first, so that few prepare what then loses; one
 * waits for their turns, and goes when they do not take them. Waiting longer after each loss would starve who is slow: who has lost often
 * puts up a ticket instead, for which all others wait. Neither is needed for anything to be right, and both end by themselves.
 */
export class Turns {
  readonly #options: TurnOptions;
  readonly #client: string;
  /** Commits for which competition is still expected. */
  #races = 0;
  #lost = 0;
  #attempts = 0;
  /** Since when this client is free to go, and how long it took from there to a commit. */
  #freeAt = 0;
  #neededMs = 0;
  /** The last commit of this client. */
  #won: { readonly at: number; readonly commit: number } | undefined;
  #goesFirst: Ticket | undefined;
  /** For whom this client has waited in vain. */
  #ignored = '';
  #isClosed = false;

  constructor(options: TurnOptions, client: string) {
    this.#options = options;
    this.#client = client;
  }

  /** Until it is this client's turn; answers the head as it is known then. */
  async wait(base: Current, flight: number): Promise<Current> {
    const { now, isAlone } = this.#options;
    if (isAlone || this.#isClosed) return base;
    if (this.#lost === 0) this.#freeAt = now();
    const first = this.#goesFirst;
    this.#goesFirst = undefined;
    const current = first === undefined ? base : await this.#giveWay(first, base);
    if (this.#lost < ASKS_AFTER) return this.#inTurn(current);
    await this.#ask(current.head, flight);
    return current;
  }

  /** Whether another client has asked to go first: then the next `wait` is for that one. */
  async isLater({ head }: Current): Promise<boolean> {
    const { store, calls, isAlone } = this.#options;
    this.#attempts += 1;
    if (isAlone || (this.#races === 0 && this.#attempts % LOOKS_EVERY !== 0)) return false;
    const ticket = await readTicket(store, calls).catch(unlessFailed);
    if (ticket === undefined || ticket.client === this.#client || ticket.id === this.#ignored) return false;
    if (!isWaiting(ticket, head)) return false;
    this.#goesFirst = ticket;
    return true;
  }

  /** Nothing waits from here on. */
  close(): void {
    this.#isClosed = true;
  }

  lost(): void {
    this.#lost += 1;
    this.#races = REMEMBERED_RACES;
    this.#hasGone();
  }

  won(commit: number): void {
    this.#races = this.#lost > 0 ? REMEMBERED_RACES : Math.max(0, this.#races - 1);
    this.#lost = 0;
    this.#hasGone();
    this.#won = { at: this.#options.now(), commit };
  }

  /** Whether this client brings together what is scattered, where that is due: of those who compete only one should read it. */
  gathers(head: Head): boolean {
    if (this.#races === 0) return true;
    return this.#rivalsAhead(head) === 0 && head.clients.some(({ client }) => client === this.#client);
  }

  #hasGone(): void {
    const now = this.#options.now();
    this.#neededMs = Math.min(MAX_NEEDED_MS, now - this.#freeAt);
    this.#freeAt = now;
  }

  async #ask({ commit }: Head, flight: number): Promise<void> {
    const { store, calls } = this.#options;
    const ticket = { client: this.#client, flight, commit, ms: Math.ceil(this.#neededMs) };
    await writeTicket(store, calls, ticket).catch(unlessFailed);
  }

  async #giveWay(ticket: Ticket, base: Current): Promise<Current> {
    const { store, calls } = this.#options;
    let current = base;
    for (let looks = 0; !this.#isClosed && isWaiting(ticket, current.head); looks++) {
      if (looks === LOOKS) {
        this.#ignored = ticket.id;
        // Its client is gone, or wants it no longer: whoever comes next need not wait for it too.
        await removeTicket(store, calls).catch(unlessFailed);
        break;
      }
      current = await this.#later(ticket.ms / LOOKS_IN_ITS_TIME);
    }
    return current;
  }

  async #inTurn(base: Current): Promise<Current> {
    const { now } = this.#options;
    let current = base;
    for (let seenAt = now(); ; ) {
      const ahead = this.#races === 0 || this.#isClosed ? 0 : this.#rivalsAhead(current.head);
      if (ahead === 0) return current;
      const newer = await this.#later((this.#pace(current.head) * ahead) / 2);
      if (newer.tag !== current.tag) {
        this.#races = REMEMBERED_RACES;
        seenAt = now();
        current = newer;
      } else if (now() - seenAt >= this.#neededMs * (1 + ahead / 10)) return newer;
    }
  }

  async #later(ms: number): Promise<Current> {
    const { heads, calls, now } = this.#options;
    await calls.pause(Math.max(MIN_PAUSE_MS, Math.min(MAX_PAUSE_MS, ms)));
    const newer = await heads.refresh();
    this.#freeAt = now();
    return newer;
  }

  /** Milliseconds from one commit to the next, as seen since the last one of this client; about what a client needs. */
  #pace({ commit }: Head): number {
    const most = this.#neededMs;
    if (this.#won === undefined || commit <= this.#won.commit) return most;
    const pace = (this.#options.now() - this.#won.at) / (commit - this.#won.commit);
    return Math.min(most, Math.max(most / 3, pace));
  }

  /** Clients that committed not long ago, and before this one did. */
  #rivalsAhead({ clients, commit }: Head): number {
    const mine = clients.find(({ client }) => client === this.#client)?.commit ?? 0;
    return clients.filter((one) => one.commit < mine && one.commit > commit - RECENT).length;
  }
}

/** What a store refuses or does not answer here is done without. */
function unlessFailed(error: unknown): undefined {
  if (!isStorageError(error)) throw error;
}
