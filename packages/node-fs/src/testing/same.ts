import { expect } from 'vitest';
import { onBoth, onBothLater, type Result, type Work } from './twin.js';

/** Runs the same work on node:fs and on scratchfs, expects equal results, and returns the result. */
export function same<T>(work: Work<T>): Result {
  const { host, own } = onBoth(work);
  expect(own).toEqual(host);
  return own;
}

export async function sameLater<T>(work: Work<Promise<T>>): Promise<Result> {
  const { host, own } = await onBothLater(work);
  expect(own).toEqual(host);
  return own;
}

/** Returns the visible parts of an error, or the value. */
export async function outcomeOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message, ...(error as object) };
  }
}
