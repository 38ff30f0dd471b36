import type { Cursor } from '../cursor.js';
import { slicesOf } from '../scheduling/time-slice.js';
import { type Need, NotLoaded } from '../source.js';
import type { View } from '../view.js';
import type { OptimisticTransaction } from './optimistic-transaction.js';

/** Bytes that a walk loads in advance per request. */
const TREE_BUDGET = 4 * 2 ** 20;
/** Maximum number of items collected from a walk that has not listed a directory yet. */
const MAX_HELD = 64;

type Start<T> = (view: View) => Cursor<T>;

/** Returns a cursor's items. Missing listings are loaded a subtree at a time. */
export function itemsOf<T>(
  transaction: OptimisticTransaction,
  start: Start<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  return slicesOf(withLoads(start(transaction.view), subtreeLoads(transaction, signal)), signal);
}

/** Opens the transaction, then yields the items of {@link itemsOf}. */
export async function* stepsOf<T>(
  transaction: OptimisticTransaction,
  start: Start<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  await transaction.open(signal);
  yield* itemsOf(transaction, start, signal);
}

/** A walk that {@link beginWalk} has advanced. */
export interface BegunWalk<T> {
  /** Items that the cursor has returned so far. */
  readonly held: readonly T[];
  /** Undefined if the walk has ended. */
  readonly cursor: Cursor<T> | undefined;
}

/**
 * Advances a cursor to its first listing, or by {@link MAX_HELD} items if it has none before. If data is missing, it
 * throws `NotLoaded`. The caller loads everything and begins again, so that the path to the directory and its listing
 * are from one point in time.
 */
export function beginWalk<T>(transaction: OptimisticTransaction, start: Start<T>): BegunWalk<T> {
  const cursor = start(transaction.view);
  const held: T[] = [];
  for (;;) {
    const item = cursor.next();
    if (item === undefined) return { held, cursor: undefined };
    held.push(item);
    if (transaction.hasListed || held.length >= MAX_HELD) return { held, cursor };
  }
}

/**
 * Yields the items of a begun walk: first those already collected, then the rest. Missing listings are loaded a subtree
 * at a time.
 */
export async function* restOf<T>(
  transaction: OptimisticTransaction,
  { held, cursor }: BegunWalk<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  yield* held;
  if (cursor !== undefined) yield* slicesOf(withLoads(cursor, subtreeLoads(transaction, signal)), signal);
}

/** Opens a transaction and yields a cursor's items over it. Loads only what the cursor reads. */
export async function* exactStepsOf<T>(
  transaction: OptimisticTransaction,
  start: Start<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  await transaction.open(signal);
  const load = async ({ needs }: NotLoaded): Promise<void> => {
    await transaction.loader.load(needs, signal);
    transaction.checkProgress(needs);
  };
  yield* slicesOf(withLoads(start(transaction.view), load), signal);
}

/** Yields a cursor's items over two transactions. Loads only what the cursor reads. */
export async function* bothSides<T>(
  before: OptimisticTransaction,
  after: OptimisticTransaction,
  start: (a: View, b: View) => Cursor<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  await Promise.all([before.open(signal), after.open(signal)]);
  const loadOne = async ({ needs, source }: NotLoaded): Promise<void> => {
    const transaction = source === after ? after : before;
    await transaction.loader.load(needs, signal);
    transaction.checkProgress(needs);
  };
  const load = async (missing: NotLoaded): Promise<void> => {
    await Promise.all([missing, ...(missing.also === undefined ? [] : [missing.also])].map(loadOne));
  };
  yield* slicesOf(withLoads(start(before.view, after.view), load), signal);
}

/**
 * Returns a function that returns a cursor's next item. If a step misses data, `load` loads it and the step is
 * repeated.
 */
function withLoads<T>(cursor: Cursor<T>, load: (missing: NotLoaded) => Promise<void>): () => Promise<T | undefined> {
  return async () => {
    for (;;) {
      try {
        return cursor.next();
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        await load(error);
      }
    }
  };
}

function subtreeLoads(
  transaction: OptimisticTransaction,
  signal: AbortSignal | undefined,
): (missing: NotLoaded) => Promise<void> {
  return async ({ needs }) => {
    await transaction.loader.load(needs.map(widen), signal);
    transaction.checkProgress(needs);
  };
}

/** Extends the request of a listing to the subtree, up to the budget of one request. */
export function widen(need: Need): Need {
  return need.kind === 'list' && need.after === undefined
    ? { kind: 'tree', at: need.at, budget: TREE_BUDGET, contents: false }
    : need;
}
