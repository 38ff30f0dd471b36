import type { View } from './view.js';

/**
 * A rule of the filesystem: synchronous code over a {@link View} that checks everything first and then writes, which
 * cannot fail. Over a remote storage it may run several times before its result counts, so it must have no effects
 * except through the view.
 */
export type ViewFunction<A extends readonly unknown[], R> = (view: View, ...args: A) => R;
