import type { Cursor } from '../engine/cursor.js';
import { keepKind } from '../engine/keep-kind.js';

/** Items per batch. */
const BATCH_ITEMS = 64;

/**
 * Batches the items of a cursor over memory: a step of an async iterator costs more than most items. A cursor that
 * throws to load something would lose the items before it.
 */
export class Batches<T> implements Cursor<readonly T[]> {
  constructor(readonly source: Cursor<T>) {}

  next(): readonly T[] | undefined {
    const items: T[] = [];
    while (items.length < BATCH_ITEMS) {
      const item = this.source.next();
      if (item === undefined) break;
      items.push(item);
    }
    return items.length === 0 ? undefined : items;
  }
}

keepKind(new Batches(undefined as never));
