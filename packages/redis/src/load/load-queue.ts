import type { LoadRequest, LoadResult } from '@scratchfs/core';
import type { ClientSession } from '../connection/client-session.js';
import { isDamage } from '../connection/errors.js';
import { decodingError } from '../format/reply/corrupt.js';
import type { StoredState } from '../format/reply/nodes.js';
import type { Reply } from '../format/reply/replies.js';
import { MAX_LOAD_REQUESTS, readResults, startOf } from './read-results.js';
import { StateLease } from './state-lease.js';
import { StateChangedError, StateReader } from './state-reader.js';

/** While this many requests are in flight, further loads wait, to be sent together in the next request. */
const MAX_REQUESTS_IN_FLIGHT = 4;

interface QueuedLoad {
  readonly requests: readonly LoadRequest[];
  readonly resolve: (results: readonly LoadResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Loads of one turn of the event loop may share requests. A load whose replies come from different states starts again
 * on a state that the server pins for it.
 */
export class LoadQueue {
  readonly #waiting: QueuedLoad[] = [];
  #requestsInFlight = 0;
  #isScheduled = false;

  constructor(
    readonly session: ClientSession,
    readonly field: string,
    /** True if the state cannot change. */
    readonly isImmutable = false,
  ) {}

  load(requests: readonly LoadRequest[]): Promise<readonly LoadResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ requests, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#requestsInFlight >= MAX_REQUESTS_IN_FLIGHT || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      const group: QueuedLoad[] = [];
      for (let count = 0; count < MAX_LOAD_REQUESTS && this.#waiting.length > 0; ) {
        const next = this.#waiting.shift() as QueuedLoad;
        group.push(next);
        count += next.requests.length;
      }
      if (group.length > 0) void this.#send(group);
      this.#schedule();
    });
  }

  async #send(group: readonly QueuedLoad[]): Promise<void> {
    this.#requestsInFlight += 1;
    try {
      const requests = group.flatMap((load) => load.requests);
      const reader = new StateReader(this.session, this.field, this.isImmutable);
      const { state, replies } = await reader.load(
        requests.slice(0, MAX_LOAD_REQUESTS).map((request) => ({ request, from: startOf(request) })),
      );
      let at = 0;
      for (const load of group) {
        const own = replies.slice(at, at + load.requests.length);
        at += load.requests.length;
        this.#finish(load, own, state, reader);
      }
    } catch (error) {
      // Only the loads that meet the damage may fail.
      if (group.length > 1 && isDamage(error)) for (const load of group) await this.#send([load]);
      else for (const load of group) load.reject(decodingError(error));
    } finally {
      this.#requestsInFlight -= 1;
      this.#schedule();
    }
  }

  /** Completes a load. If replies are missing, it continues with requests of its own. */
  #finish(
    { requests, resolve, reject }: QueuedLoad,
    replies: readonly Reply[],
    state: StoredState,
    reader: StateReader,
  ): void {
    readResults(reader, requests, replies, state).then(resolve, (error: unknown) => {
      if (error instanceof StateChangedError)
        this.#loadPinned(requests).then(resolve, (later: unknown) => reject(decodingError(later)));
      else reject(decodingError(error));
    });
  }

  async #loadPinned(requests: readonly LoadRequest[]): Promise<readonly LoadResult[]> {
    const lease = await StateLease.take(this.session, this.field);
    try {
      return await readResults(new StateReader(this.session, lease.field, true), requests, []);
    } finally {
      lease.release();
    }
  }
}
