import type { BackendCall, LimitStore } from '../backend.js';
import { isLimited, type Limits } from '../limits.js';
import type { CommitQueue } from './commit-queue.js';
import type { Heads } from './heads.js';

/** The filesystem's limits, stored in the head. */
export class StoredLimits implements LimitStore {
  readonly #commits: CommitQueue;
  readonly #heads: Heads;
  /** Throws if the backend is closed, or the call is aborted. */
  readonly #enter: (call: BackendCall | undefined) => void;

  constructor(commits: CommitQueue, heads: Heads, enter: (call: BackendCall | undefined) => void) {
    this.#commits = commits;
    this.#heads = heads;
    this.#enter = enter;
  }

  async open(initial: Limits, call?: BackendCall): Promise<Limits> {
    this.#enter(call);
    const { limits } = (await this.#heads.refresh()).head;
    if (isLimited(limits) || !isLimited(initial)) return limits;
    return this.#commits.edit((draft) => {
      if (isLimited(draft.limits)) return draft.limits;
      draft.limits = initial;
      draft.keepState();
      return initial;
    }, call?.signal);
  }

  async set(limits: Limits, call?: BackendCall): Promise<void> {
    this.#enter(call);
    await this.#commits.edit((draft) => {
      draft.limits = limits;
      draft.keepState();
    }, call?.signal);
  }
}
