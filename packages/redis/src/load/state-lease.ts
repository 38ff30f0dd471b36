import type { ClientSession } from '../connection/client-session.js';
import { renewLease } from '../connection/renew-lease.js';
import { runStateCommand } from '../connection/state-commands.js';

/**
 * Time for which the server keeps a pinned state whose client has ended without releasing it. An open lease is renewed.
 */
const LEASE_MS = 300_000;

/** A pinned state: one more reference to the root of the current state, kept in a field of the head under a lease. */
export class StateLease {
  readonly #stopRenewal: () => void;

  private constructor(
    private readonly session: ClientSession,
    /** Field of the head that has the pinned state. */
    readonly field: string,
    private readonly owner: string,
  ) {
    this.#stopRenewal = renewLease(session, field, LEASE_MS);
  }

  /** Pins the current state of a field. @throws StorageError */
  static async take(session: ClientSession, owner: string): Promise<StateLease> {
    const field = session.uniqueField('p');
    await runStateCommand(session, owner, 'lend', [field, LEASE_MS]);
    return new StateLease(session, field, owner);
  }

  /** Gives the state back in the background. If that request is lost, the lease expires. */
  release(): void {
    this.#stopRenewal();
    runStateCommand(this.session, this.owner, 'giveBack', [this.field]).catch(() => {});
  }
}
