import { type Head, MAX_CLIENTS } from './head.js';
import type { ObjectStore } from './object-store.js';
import type { StoreCalls } from './store-calls.js';

/** Where a client that keeps losing asks to go first: the one object that is written again and again. */
export const TICKET = 'turn';

const MAX_BYTES = 1_000;
/**
 * Commits after which a ticket is an old one: who still wants to go first has put up another by then, and a head may have
 * forgotten who has gone.
 */
const OLD = MAX_CLIENTS;

export interface Ticket {
  /** Drawn for each. */
  readonly id: string;
  readonly client: string;
  /** What it wants to commit. */
  readonly flight: number;
  /** Of the head when it asked. */
  readonly commit: number;
  /** How long it needs for a commit, in milliseconds. */
  readonly ms: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One that cannot be read is none. @throws StorageError */
export async function readTicket(store: ObjectStore, calls: StoreCalls): Promise<Ticket | undefined> {
  const bytes = await calls.once(undefined, (call) => store.get(TICKET, 0, MAX_BYTES, call));
  const found = bytes && /^([0-9a-z]+) (\d+) (\d+) (\d+)$/.exec(decoder.decode(bytes));
  if (!found) return undefined;
  const [id, client = '', ...numbers] = found;
  const [flight = 0, commit = 0, ms = 0] = numbers.map(Number);
  return { id, client, flight, commit, ms };
}

/** @throws StorageError */
export async function writeTicket(store: ObjectStore, calls: StoreCalls, ticket: Omit<Ticket, 'id'>): Promise<void> {
  const { client, flight, commit, ms } = ticket;
  await calls.once(undefined, (call) => store.put(TICKET, encoder.encode(`${client} ${flight} ${commit} ${ms}`), call));
}

/** Takes it away, whosever it is by now: who still wants to go first asks again. @throws StorageError */
export async function removeTicket(store: ObjectStore, calls: StoreCalls): Promise<void> {
  await calls.once(undefined, (call) => store.delete([TICKET], call));
}

/** Whether its client has not yet committed what it asked for. */
export function isWaiting({ client, flight, commit }: Ticket, head: Head): boolean {
  if (head.commit >= commit + OLD) return false;
  const record = head.clients.find((one) => one.client === client);
  return record === undefined || record.flight < flight;
}
