import type { Quota } from '../quota.js';
import type { OptimisticTransaction } from './optimistic-transaction.js';

/** The outcome of running an operation once everything that it needed was loaded. */
export type Attempted<R> = { readonly ok: true; readonly value: R } | { readonly ok: false; readonly error: unknown };

/** Runs operations over the view of an optimistic transaction and loads what they miss. */
export interface AttemptRunner {
  readonly quota: Quota;
  attempt<R>(
    transaction: OptimisticTransaction,
    work: () => R | Promise<R>,
    signal?: AbortSignal,
  ): Attempted<R> | Promise<Attempted<R>>;
}
