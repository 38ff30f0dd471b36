import type { View } from './view.js';

/**
 * A rule of the filesystem: synchronous code over a {@link View} that checks everything first and then performs writes
 * that cannot fail. Over a remote storage it may run several times before it counts, so its only effects must be
 * through the view.
 */
export type ViewFunction<A extends readonly unknown[], R> = (view: View, ...args: A) => R;
