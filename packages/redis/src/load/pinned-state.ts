import { type LoadRequest, type LoadResult, type PinnedRead, StorageError } from '@scratchfs/core';
import { type ClientSession, StateGoneError } from '../connection/client-session.js';
import { LoadQueue } from './load-queue.js';
import type { StateLease } from './state-lease.js';

/** A leased state as the engine reads it. */
export class PinnedState implements PinnedRead {
  readonly #loadQueue: LoadQueue;

  constructor(
    session: ClientSession,
    private readonly lease: StateLease,
  ) {
    this.#loadQueue = new LoadQueue(session, lease.field, true);
  }

  async load(requests: readonly LoadRequest[]): Promise<readonly LoadResult[]> {
    if (requests.length === 0) return [];
    try {
      return await this.#loadQueue.load(requests);
    } catch (error) {
      if (!(error instanceof StateGoneError)) throw error;
      throw new StorageError('conflict', 'The server no longer keeps the state that is being read', {
        cause: error,
        retryable: false,
      });
    }
  }

  release(): void {
    this.lease.release();
  }
}
