import { StorageError } from '../errors.js';
import type { CommitQueue, HeadEdit } from './commit-queue.js';
import type { Head, StateRecord } from './head.js';

export interface ForkRequest {
  readonly id: string;
  readonly createdAt: number;
  /**
   * The fork that is forked, with the state that the new fork starts with. Undefined if the filesystem itself is
   * forked: the state is then read when the new fork is registered.
   */
  readonly parent: { readonly id: string; readonly state: StateRecord } | undefined;
  /** Without a parent: the filesystem's checkpoint whose state the fork starts with. Undefined: the current state. */
  readonly from?: string | undefined;
}

export interface Registered {
  /** The head to which the record was added. */
  readonly head: Head;
  /** The state that it starts with. */
  readonly state: StateRecord;
}

/**
 * Records the start states of forks in the head of the filesystem. The filesystem's resources are kept until it and all
 * forks are closed. If a record cannot be removed, the next edit tries again.
 */
export class ForkRegistry {
  readonly #commits: CommitQueue;
  readonly #end: () => Promise<void>;
  /** Ids of open forks; undefined is the filesystem itself. */
  readonly #open = new Set<string | undefined>([undefined]);
  /** Number of closes in progress. */
  #closing = 0;
  /** Ids of forks whose records must be removed, as far as they exist. */
  readonly #toUnregister = new Set<string>();

  constructor(commits: CommitQueue, end: () => Promise<void>) {
    this.#commits = commits;
    this.#end = end;
  }

  /**
   * Returns the head to which the fork's record was added, and the state that the fork starts with; `missing` if there
   * is no such checkpoint.
   * @throws StorageError, such as `lost` if the forked fork is no longer in the head; the signal's reason
   */
  async register(
    { id, createdAt, parent, from }: ForkRequest,
    signal: AbortSignal | undefined,
  ): Promise<Registered | 'missing'> {
    this.#open.add(id);
    try {
      const registered = await this.edit((draft) => {
        // If the parent is no longer recorded, the objects that it has put may have been deleted.
        if (parent !== undefined && draft.forks.every((fork) => fork.id !== parent.id)) return undefined;
        const { head } = draft.base;
        const own = from === undefined ? head.state : draft.kept.find((kept) => kept.id === from)?.state;
        const state = parent === undefined ? own : parent.state;
        if (state === undefined) return 'missing';
        draft.forks = [...draft.forks, { id, createdAt, state }];
        draft.keepState();
        return { head, state };
      }, signal);
      if (registered === undefined)
        throw new StorageError('lost', 'The fork is no longer recorded: a collection has dropped it');
      if (registered === 'missing') await this.close(id);
      return registered;
    } catch (error) {
      // The record may exist nevertheless. It is removed with the next edit, or now if no later edit will come.
      this.#toUnregister.add(id);
      if (this.#open.size === 1) await this.close(id);
      else this.#open.delete(id);
      throw error;
    }
  }

  /** Edits the head, and removes the records of forks that are waiting to be removed. */
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

  /** Reports whether a fork belongs to this client and is open. */
  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  /** Closes a fork or, for undefined, the filesystem itself. */
  async close(id: string | undefined): Promise<void> {
    this.#open.delete(id);
    this.#closing += 1;
    if (id !== undefined) this.#toUnregister.add(id);
    // If this fails, the records remain, which only keeps their objects from being deleted.
    if (this.#toUnregister.size > 0) await this.edit(() => {}).catch(() => {});
    this.#closing -= 1;
    if (this.#open.size + this.#closing === 0) await this.#end();
  }
}
