import { FsError } from '../errors.js';
import { isLimited, type Limits, NO_LIMITS, sameLimits } from '../limits.js';

/** The limits of a filesystem as this client knows them. */
export interface Quota {
  readonly limits: Limits;
  /**
   * Stores the limits that a client was opened with, if the filesystem has none.
   * @throws FsError EINVAL if the client was opened with limits and the filesystem has others
   */
  open(given: Limits): void | Promise<void>;
  /**
   * Removes the limits that `open` stored for a filesystem that then could not be opened, unless another client has
   * replaced them.
   */
  withdraw(given: Limits): void | Promise<void>;
  /** Replaces the limits, for every client. */
  set(limits: Limits, signal?: AbortSignal): void | Promise<void>;
}

/** Limits that are kept in this process. */
export class LocalQuota implements Quota {
  limits: Limits;
  readonly #check: () => void;

  /** `check` throws if the limits cannot be changed now. */
  constructor(limits: Limits = NO_LIMITS, check: () => void = () => {}) {
    this.limits = limits;
    this.#check = check;
  }

  open(given: Limits): void {
    checkGiven(this.claim(given), given);
  }

  /** Returns the limits; stores the given ones first if there are none. */
  claim(given: Limits): Limits {
    if (!isLimited(this.limits)) this.limits = given;
    return this.limits;
  }

  withdraw(given: Limits): void {
    // Compared by identity: equal limits that another opening has set stay.
    if (this.limits === given) this.limits = NO_LIMITS;
  }

  set(limits: Limits): void {
    this.#check();
    this.limits = limits;
  }
}

/** @throws FsError EINVAL if a client was opened with limits that are not the stored ones */
export function checkGiven(stored: Limits, given: Limits): void {
  if (!isLimited(given) || sameLimits(stored, given)) return;
  throw new FsError('EINVAL', {
    syscall: 'open',
    hint: `The stored limits are ${JSON.stringify(stored)}, not ${JSON.stringify(given)}: open with limits: 'stored', then call setLimits`,
  });
}

/** Returns the error of `setLimits` for a layer, or for a filesystem that `at` returned. */
export function fixedLimits(): FsError {
  return new FsError('EPERM', {
    syscall: 'setLimits',
    hint: 'Layers and at() cannot change limits: use the filesystem under them',
  });
}
