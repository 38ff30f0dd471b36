/**
 * A walk that can be resumed: `next` answers the next item, or undefined at the end. Where something is not loaded,
 * `next` throws before it has changed its own state, and is called again once it is.
 */
export interface Cursor<T> {
  next(): T | undefined;
}
