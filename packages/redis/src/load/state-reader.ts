import type { LoadRequest } from '@scratchfs/core';
import { type ClientSession, replyText } from '../connection/client-session.js';
import { corruptReply } from '../format/reply/corrupt.js';
import { readState, type StoredState } from '../format/reply/nodes.js';
import type { Reply } from '../format/reply/replies.js';
import { writeLoadRequest } from '../format/request/load-request.js';
import { Writer } from '../format/request/writer.js';
import { scripts } from '../lua/scripts.js';

/**
 * Approximate processor time that the server may spend on one reply, in microseconds, as the load script estimates it.
 */
const SERVER_BUDGET_MICROS = 5_200;

/** Thrown if a write came between two requests of one load, so that their replies are not from one state. */
export class StateChangedError extends Error {}

/** Sends load requests whose replies must all be from the same state. */
export class StateReader {
  #counter: string | undefined;

  constructor(
    readonly session: ClientSession,
    readonly field: string,
    /** True if the state cannot change, so that the counter of its replies does not matter. */
    readonly isImmutable = false,
  ) {}

  /**
   * Sends load requests, each from a chunk or bucket on. The replies may be only those to the first few of them.
   * @throws StateChangedError
   */
  async load(
    requests: readonly { readonly request: LoadRequest; readonly from: number }[],
  ): Promise<{ readonly state: StoredState; readonly replies: readonly Reply[] }> {
    const body = new Writer();
    body.u16(requests.length);
    for (const { request, from } of requests) writeLoadRequest(request, from, body);
    const reply = await this.session.run(scripts.load, this.field, [SERVER_BUDGET_MICROS], { body });
    const [, counter, state] = reply;
    if (!Buffer.isBuffer(state)) throw corruptReply('an answer');
    this.#counter ??= replyText(counter);
    if (!this.isImmutable && this.#counter !== replyText(counter)) throw new StateChangedError();
    return { state: readState(state), replies: reply.slice(3) as readonly Reply[] };
  }

  /** Sends a request again for its results from a chunk or bucket on. */
  async loadMore(request: LoadRequest, from: number): Promise<Reply> {
    const [reply] = (await this.load([{ request, from }])).replies;
    if (reply === undefined) throw corruptReply('a reply without results');
    return reply;
  }
}
