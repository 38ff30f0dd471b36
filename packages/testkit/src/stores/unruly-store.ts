import { StorageError } from '@scratchfs/core';
import type { ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import type { Scheduler } from '../faults/scheduler.js';

/**
 * Fate of a request. `none`: it is handled normally. `refused`: the store refuses it. Others: the request or its
 * response is lost; it arrives long after the client has given up; it arrives a second time; the response is cut or has
 * a flipped bit.
 */
export type Mishap = 'none' | 'refused' | (typeof MISHAPS)[number];
export const MISHAPS = ['lost', 'answer lost', 'late', 'again', 'cut', 'flipped'] as const;

export type RequestKind = 'get' | 'put' | 'delete' | 'list' | 'readHead' | 'swapHead' | 'commit';

/** Decides the fate of the next request. */
export type Plan = (kind: RequestKind) => Mishap;

/** Decides when a request arrives, and when its response does. */
export type TurnScheduler = Pick<Scheduler, 'turn' | 'random'>;

/** Maximum number of turns that a late request waits. */
const LATE_TURNS = 150;

/** A store behind a network that loses, delays, repeats and damages, in an order determined by a seed. */
export class UnrulyStore implements ObjectStore {
  requests = 0;
  readonly maxObjectBytes: number | undefined;
  readonly maxDeleteNames: number | undefined;
  /** Present if the store has it. */
  readonly commit?: NonNullable<ObjectStore['commit']>;
  readonly #store: ObjectStore;
  readonly #scheduler: TurnScheduler;
  readonly #plan: Plan;
  /** Requests that have not arrived yet. */
  readonly #late: Set<Promise<void>>;

  constructor(store: ObjectStore, scheduler: TurnScheduler, plan: Plan, late: Set<Promise<void>> = new Set()) {
    this.#store = store;
    this.#scheduler = scheduler;
    this.#plan = plan;
    this.#late = late;
    const { maxObjectBytes, maxDeleteNames, commit } = store;
    this.maxObjectBytes = maxObjectBytes;
    this.maxDeleteNames = maxDeleteNames;
    if (commit !== undefined)
      this.commit = (objects, head, expected) =>
        this.#send('commit', () => commit.call(store, objects, head, expected));
  }

  get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.#send('get', () => this.#store.get(name, offset, length), damaged);
  }
  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#send('put', () => this.#store.put(name, bytes));
  }
  delete(names: readonly string[]): Promise<void> {
    return this.#send('delete', () => this.#store.delete(names));
  }
  list(prefix: string, cursor: string | undefined) {
    return this.#send('list', () => this.#store.list(prefix, cursor));
  }
  readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return this.#send(
      'readHead',
      () => this.#store.readHead(known),
      (head, how) => (typeof head === 'object' ? { ...head, bytes: damaged(head.bytes, how) as Uint8Array } : head),
    );
  }
  swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    return this.#send('swapHead', () => this.#store.swapHead(bytes, expected));
  }

  async #send<T>(
    kind: RequestKind,
    act: () => Promise<T>,
    damage: (answer: T, how: 'cut' | 'flipped') => T = (answer) => answer,
  ): Promise<T> {
    this.requests += 1;
    const mishap = this.#plan(kind);
    await this.#scheduler.turn(`${kind} ${mishap}`);
    if (mishap === 'refused')
      throw new StorageError('unavailable', 'The store refuses it', { retryable: false, mayHaveHappened: false });
    if (mishap === 'lost') throw noAnswer();
    if (mishap === 'late') {
      this.#arriveLate(kind, act);
      throw noAnswer();
    }
    const answer = await act();
    if (mishap === 'again') this.#arriveLate(kind, act);
    await this.#scheduler.turn(`answer to ${kind}`);
    if (mishap === 'answer lost') throw noAnswer();
    return mishap === 'cut' || mishap === 'flipped' ? damage(answer, mishap) : answer;
  }

  #arriveLate(kind: RequestKind, act: () => Promise<unknown>): void {
    const turns = 1 + this.#scheduler.random.below(LATE_TURNS);
    const arrive = async (): Promise<void> => {
      for (let i = 0; i < turns; i++) await this.#scheduler.turn(`late ${kind}`);
      await act();
    };
    const late = arrive().finally(() => this.#late.delete(late));
    this.#late.add(late);
  }
}

function noAnswer(): StorageError {
  return new StorageError('unavailable', 'There was no answer');
}

function damaged(bytes: Uint8Array | undefined, how: 'cut' | 'flipped'): Uint8Array | undefined {
  if (bytes === undefined || bytes.length === 0) return bytes;
  if (how === 'cut') return bytes.slice(0, bytes.length >> 1);
  const copy = bytes.slice();
  copy[bytes.length >> 1] = (copy[bytes.length >> 1] as number) ^ 1;
  return copy;
}
