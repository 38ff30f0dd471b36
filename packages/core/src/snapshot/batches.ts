import type { Cursor } from '../engine/cursor.js';
import { keepOptimized } from '../engine/keep-optimized.js';

/** Items per batch. */
const BATCH_ITEMS = 64;

/**
 * Joins the items of a cursor into batches, because a step of an async iterator costs more than most items. If the
 * cursor throws because a file's content is not loaded yet, the items before it are in the batch of the next call.
 */
export class Batches<T> implements Cursor<readonly T[]> {
  #items: T[] = [];

  constructor(readonly source: Cursor<T>) {}

  next(): readonly T[] | undefined {
    const items = this.#items;
    while (items.length < BATCH_ITEMS) {
      const item = this.source.next();
      if (item === undefined) break;
      items.push(item);
    }
    this.#items = [];
    return items.length === 0 ? undefined : items;
  }
}

keepOptimized(new Batches(undefined as never));
