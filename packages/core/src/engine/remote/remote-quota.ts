import type { LimitStore } from '../../backend.js';
import { isLimited, type Limits, NO_LIMITS, parseLimits, sameLimits } from '../../limits.js';
import { checkGiven, LocalQuota, type Quota } from '../quota.js';
import type { BackendClient } from './backend-client.js';

/** The limits of a remote filesystem, as this client last learned them. */
export class RemoteQuota implements Quota {
  readonly #store: LimitStore | undefined;
  readonly #client: BackendClient;
  /** Limits of this client alone, for a backend that stores none; else those last learned. */
  readonly #local: LocalQuota;
  /** Limits that this client asked to store because it found none. */
  #stored: Limits | undefined;

  constructor(store: LimitStore | undefined, client: BackendClient, limits?: Limits) {
    this.#store = store;
    this.#client = client;
    this.#local = new LocalQuota(limits);
  }

  get limits(): Limits {
    return this.#local.limits;
  }

  async open(given: Limits): Promise<void> {
    const store = this.#store;
    if (store === undefined) return this.#local.open(given);
    await this.#read(undefined);
    if (isLimited(given) && !isLimited(this.limits)) {
      const { result } = await this.#client.repeated(undefined, (call) => store.open(given, call));
      this.learn(result);
      this.#stored = given;
    }
    checkGiven(this.limits, given);
  }

  async withdraw(given: Limits): Promise<void> {
    if (this.#store === undefined) return this.#local.withdraw(given);
    if (this.#stored === given && !(await this.areOthers(given, undefined))) await this.set(NO_LIMITS);
  }

  async set(limits: Limits, signal?: AbortSignal): Promise<void> {
    const store = this.#store;
    if (store !== undefined) await this.#client.repeated(signal, (call) => store.set(limits, call));
    this.learn(limits);
  }

  learn(limits: Limits): void {
    this.#local.set(parseLimits(limits));
  }

  /** Reads the limits again, and returns them. */
  async latest(signal: AbortSignal | undefined): Promise<Limits> {
    if (this.#store !== undefined) await this.#read(signal);
    return this.limits;
  }

  /** Reads the limits again, and reports whether they differ from those that an operation relied on. */
  async areOthers(relied: Limits, signal: AbortSignal | undefined): Promise<boolean> {
    return !sameLimits(await this.latest(signal), relied);
  }

  async #read(signal: AbortSignal | undefined): Promise<void> {
    const store = this.#store as LimitStore;
    this.learn(await this.#client.retrying(signal, (call) => store.open(NO_LIMITS, call)));
  }
}
