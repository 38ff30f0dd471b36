import { StorageError } from '../errors.js';
import type { CommitQueue, HeadEdit } from './commit-queue.js';
import type { Head, StateRecord } from './head.js';

/** A fork to be registered. */
export interface ForkRequest {
  readonly id: string;
  readonly createdAt: number;
  /** Of the fork that is forked, with its state; undefined for the filesystem itself, whose state is found in the very step. */
  readonly parent: { readonly id: string; readonly state: StateRecord } | undefined;
}

/**
 * Writes down in the head of the filesystem what its forks begin with. What it works with stays until the filesystem and
 * all forks are closed; a record that could not be taken out again goes with the next change that it makes.
 */
export class ForkRegistry {
  readonly #commits: CommitQueue;
  readonly #end: () => Promise<void>;
  /** The forks that are not closed; undefined is the filesystem itself. */
  readonly #open = new Set<string | undefined>([undefined]);
  /** How many are being closed. */
  #closing = 0;
  /** Forks whose record is to go, where there is one. */
  readonly #toUnregister = new Set<string>();

  constructor(commits: CommitQueue, end: () => Promise<void>) {
    this.#commits = commits;
    this.#end = end;
  }

  /**
   * Answers the head that the fork is recorded on.
   * @throws StorageError `lost` where what is forked is a fork of which the head knows no more
   */
  async register({ id, createdAt, parent }: ForkRequest, signal: AbortSignal | undefined): Promise<Head> {
    this.#open.add(id);
    try {
      const registered = await this.edit((draft) => {
        // What it has put may be gone.
        if (parent !== undefined && draft.forks.every((fork) => fork.id !== parent.id)) return undefined;
        const { head } = draft.base;
        draft.forks = [...draft.forks, { id, createdAt, state: parent?.state ?? head.state }];
        draft.keepState();
        return head;
      }, signal);
      if (registered === undefined)
        throw new StorageError('lost', 'The fork is no longer recorded: a collection has dropped it');
      return registered;
    } catch (error) {
      // It may be recorded all the same: taken out with the next change, or now where there will be none.
      this.#toUnregister.add(id);
      if (this.#open.size === 1) await this.close(id);
      else this.#open.delete(id);
      throw error;
    }
  }

  /** Changes the head, and takes out what is to go. */
  async edit<R>(work: HeadEdit<R>, signal?: AbortSignal): Promise<R> {
    const unregistered = [...this.#toUnregister];
    const result = await this.#commits.edit(
      (draft) => {
        draft.forks = draft.forks.filter(({ id }) => !unregistered.includes(id));
        if (draft.forks.length < draft.base.head.forks.length) draft.keepState();
        return work(draft);
      },
      signal,
      true,
    );
    for (const id of unregistered) this.#toUnregister.delete(id);
    return result;
  }

  /** Whether a fork is one of this client's that somebody may work on. */
  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  /** A fork is closed, or the filesystem itself. */
  async close(id: string | undefined): Promise<void> {
    this.#open.delete(id);
    this.#closing += 1;
    if (id !== undefined) this.#toUnregister.add(id);
    // A record that stays keeps objects alive, no more.
    if (this.#toUnregister.size > 0) await this.edit(() => {}).catch(() => {});
    this.#closing -= 1;
    if (this.#open.size + this.#closing === 0) await this.#end();
  }
}
