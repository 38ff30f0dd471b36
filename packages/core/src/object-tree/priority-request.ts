import { type Head, MAX_REMEMBERED_CLIENTS } from './head.js';
import type { ObjectStore } from './object-store.js';
import type { StoreCalls } from './store-calls.js';

/**
 * Name of the object in which a client that keeps losing races asks to commit first. Apart from the head, the only
 * object that is overwritten repeatedly. The name is part of the format.
 */
export const PRIORITY_REQUEST = 'turn';

const MAX_BYTES = 1_000;
/** Commits after which a request has expired: by then the head may no longer remember that its client has committed. */
const MAX_AGE_COMMITS = MAX_REMEMBERED_CLIENTS;

export interface PriorityRequest {
  /** Identifies the request: its text. */
  readonly id: string;
  readonly client: string;
  /** The sequence number of the commit that is waiting, as `ClientRecord.flight` will record it. */
  readonly sequence: number;
  /** Commit number of the head when the request was made. */
  readonly commit: number;
  /** Milliseconds that the client needs for a commit. */
  readonly ms: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads the current request; undefined if there is none or it is unreadable. @throws StorageError */
export async function readPriorityRequest(store: ObjectStore, calls: StoreCalls): Promise<PriorityRequest | undefined> {
  const bytes = await calls.once(undefined, (call) => store.get(PRIORITY_REQUEST, 0, MAX_BYTES, call));
  const found = bytes && /^([0-9a-z]+) (\d+) (\d+) (\d+)$/.exec(decoder.decode(bytes));
  if (!found) return undefined;
  const [id, client = '', ...numbers] = found;
  const [sequence = 0, commit = 0, ms = 0] = numbers.map(Number);
  return { id, client, sequence, commit, ms };
}

/** @throws StorageError */
export async function writePriorityRequest(
  store: ObjectStore,
  calls: StoreCalls,
  request: Omit<PriorityRequest, 'id'>,
): Promise<void> {
  const { client, sequence, commit, ms } = request;
  await calls.once(undefined, (call) =>
    store.put(PRIORITY_REQUEST, encoder.encode(`${client} ${sequence} ${commit} ${ms}`), call),
  );
}

/**
 * Removes the request, even if it is another client's by now: a client that still waits writes it again.
 * @throws StorageError
 */
export async function removePriorityRequest(store: ObjectStore, calls: StoreCalls): Promise<void> {
  await calls.once(undefined, (call) => store.delete([PRIORITY_REQUEST], call));
}

/** Reports whether the request is still valid: not expired, and its client has not committed since. */
export function isPending({ client, sequence, commit }: PriorityRequest, head: Head): boolean {
  if (head.commit >= commit + MAX_AGE_COMMITS) return false;
  const record = head.clients.find((one) => one.client === client);
  return record === undefined || record.flight < sequence;
}
