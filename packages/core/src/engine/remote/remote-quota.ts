import type { LimitStore } from '../../backend.js';
import { type Limits, NO_LIMITS, parseLimits, sameLimits } from '../../limits.js';
import { checkGiven, LocalQuota, type Quota } from '../quota.js';
import type { BackendClient } from './backend-client.js';

/** The limits of a remote filesystem, as this client last learned them. */
export class RemoteQuota implements Quota {
  readonly #store: LimitStore | undefined;
  readonly #client: BackendClient;
  /** Limits of this client alone, for a backend that stores none; else those last learned. */
  readonly #local: LocalQuota;

  constructor(store: LimitStore | undefined, client: BackendClient, limits?: Limits) {
    this.#store = store;
    this.#client = client;
    this.#local = new LocalQuota(limits);
  }

  get limits(): Limits {
    return this.#local.limits;
  }

  async open(given: Limits): Promise<void> {
    if (this.#store === undefined) return this.#local.open(given);
    await this.#read(given, undefined);
    checkGiven(this.limits, given);
  }

  async set(limits: Limits, signal?: AbortSignal): Promise<void> {
    const store = this.#store;
    if (store !== undefined) await this.#client.repeated(signal, (call) => store.set(limits, call));
    this.learn(limits);
  }

  learn(limits: Limits): void {
    this.#local.set(parseLimits(limits));
  }

  /** Reads the limits again, and reports whether they are others than those that an operation relied on. */
  async areOthers(relied: Limits, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#store !== undefined) await this.#read(NO_LIMITS, signal);
    return !sameLimits(this.limits, relied);
  }

  async #read(initial: Limits, signal: AbortSignal | undefined): Promise<void> {
    const store = this.#store as LimitStore;
    this.learn(await this.#client.retrying(signal, (call) => store.open(initial, call)));
  }
}
