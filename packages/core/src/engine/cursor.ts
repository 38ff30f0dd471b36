/**
 * A resumable walk: `next` returns the next item, or undefined at the end. If something is not loaded, `next` throws
 * before it has changed its own state, and is called again once it is loaded.
 */
export interface Cursor<T> {
  next(): T | undefined;
}
