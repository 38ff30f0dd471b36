/**
 * A resumable walk: `next` returns the next item, or undefined at the end. If something is not loaded, `next` throws;
 * called again once it is loaded, it continues with the same item.
 */
export interface Cursor<T> {
  next(): T | undefined;
}
