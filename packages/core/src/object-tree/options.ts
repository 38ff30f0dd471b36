import type { AsyncStorageOptions } from '../backend-storage.js';
import { checkBoolean, checkInteger, checkOptions } from '../engine/arguments.js';
import { systemClock, systemRandom } from '../engine/defaults.js';
import { systemTimer, type Timer } from '../engine/scheduling/deadline.js';

/** Options of a filesystem over an {@link ObjectStore}. */
export interface ObjectTreeOptions extends AsyncStorageOptions {
  /** Create the filesystem if it does not exist; with false: `StorageError` of kind `lost`. Default true. */
  readonly create?: boolean | undefined;
  /** Milliseconds by which a read of the current state may be stale. Default 0. */
  readonly maxStalenessMs?: number | undefined;
  /**
   * Milliseconds after which a request to the store without a response fails. Default 10,000. To determine the
   * outcome of a write, further requests and pauses follow: if the store responds to none, a write fails after up to
   * some ten times as long with the default `retries`.
   */
  readonly timeoutMs?: number | undefined;
  /** Retries of a request after a temporary failure. Default 4. */
  readonly retries?: number | undefined;
  /** Memory for cached objects, in bytes. Default 64 MiB. */
  readonly maxCacheBytes?: number | undefined;
}

/** Names of the options, for storages that add their own. */
export const OBJECT_TREE_OPTIONS = [
  'create',
  'maxStalenessMs',
  'timeoutMs',
  'retries',
  'maxCacheBytes',
  'clock',
  'random',
  'timer',
] as const satisfies readonly (keyof ObjectTreeOptions)[];

/** Checked options with their defaults. */
export interface ObjectTreeSettings {
  readonly create: boolean;
  readonly maxStalenessMs: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxCacheBytes: number;
  readonly clock: () => number;
  readonly random: (below: number) => number;
  readonly timer: Timer;
}

/**
 * Checks a caller's options, except the types of `clock`, `random` and `timer`; own properties only.
 * @throws TypeError for a wrong type or an unknown option; RangeError for a number out of range
 */
export function parseObjectTreeOptions(options: ObjectTreeOptions | undefined): ObjectTreeSettings {
  const { create, maxStalenessMs, timeoutMs, retries, maxCacheBytes, clock, random, timer } =
    checkOptions<ObjectTreeOptions>(options, OBJECT_TREE_OPTIONS, 'objectTreeStorage', false);
  return {
    create: create === undefined ? true : checkBoolean(create, 'create'),
    maxStalenessMs: checkInteger(maxStalenessMs ?? 0, 'maxStalenessMs'),
    timeoutMs: checkInteger(timeoutMs ?? 10_000, 'timeoutMs', 1),
    retries: checkInteger(retries ?? 4, 'retries'),
    maxCacheBytes: checkInteger(maxCacheBytes ?? 64 * 2 ** 20, 'maxCacheBytes'),
    clock: clock ?? systemClock,
    random: random ?? systemRandom,
    timer: timer ?? systemTimer,
  };
}
