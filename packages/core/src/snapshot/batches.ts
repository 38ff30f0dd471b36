import type { Cursor } from '../engine/cursor.js';
import { keepKind } from '../engine/keep-kind.js';

/** Items of a batch. */
const BATCH_ITEMS = 64;

/**
 * The items of a cursor over what is in memory, many at a time: a step of an async iterator costs more than most of
 * them. What throws for something to be loaded first would lose the items before it.
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
