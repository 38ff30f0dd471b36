import type { View } from './view.js';

/**
 * Synchronous code over a {@link View}. Over a remote storage it may run several times before its result counts, so it
 * must have no effects except through the view.
 */
export type ViewFunction<A extends readonly unknown[], R> = (view: View, ...args: A) => R;
