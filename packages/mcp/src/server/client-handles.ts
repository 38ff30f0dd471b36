import { randomUUID } from 'node:crypto';
import { InputError } from '@scratchfs/tools';
import { setNewest } from './newest.js';
import type { ClientMemory } from './shared-workspace.js';

/** Maximum number of handles that calls have used, and also of those that no call has used yet. */
const MAX_CLIENTS = 64;

/**
 * Clients whose requests belong to no connection: over HTTP, each request without a session stands alone. A client is
 * known by a handle, which the first result gives it and its later calls pass as `client`.
 */
export class ClientHandles {
  /** In the order of their last use. */
  readonly #used = new Map<string, ClientMemory>();
  readonly #offered = new Map<string, ClientMemory>();

  /**
   * Returns what is known of the client that makes a call. For an unknown client, `offer` returns a new handle for the
   * result. A client to which nothing is offered takes no place.
   * @throws InputError if the call needs a known client and the client is unknown, or if the handle is not a string
   */
  take(handle: unknown, needsKnown: boolean): { readonly memory: ClientMemory; readonly offer?: () => string } {
    if (handle !== undefined && typeof handle !== 'string')
      throw new InputError('client must be a string: the handle that a result has named.');
    const known = handle === undefined ? undefined : (this.#used.get(handle) ?? this.#offered.get(handle));
    if (handle !== undefined && known !== undefined) {
      this.#offered.delete(handle);
      setNewest(this.#used, handle, known, MAX_CLIENTS);
      return { memory: known };
    }
    const memory: ClientMemory = new Map();
    const offer = (): string => {
      // It begins with a letter: some clients send a text of digits as a number.
      const offered = `c${randomUUID().slice(0, 8)}`;
      setNewest(this.#offered, offered, memory, MAX_CLIENTS);
      return offered;
    };
    if (!needsKnown) return { memory, offer };
    const again = `Nothing was done: read again what you are about to change, and pass client: "${offer()}" in every call.`;
    throw new InputError(
      handle === undefined
        ? `This call needs client, so that a file that was changed since you read it is noticed. ${again}`
        : `The server no longer knows what this client has read. ${again}`,
    );
  }
}
