import type { ClientSession } from './client-session.js';
import { runStateCommand } from './state-commands.js';

/** Number of renewals within the time of one lease, so that a few lost requests do not end the lease. */
const RENEWALS_PER_LEASE = 6;

/**
 * Renews the lease of a state in Redis until the returned function is called. Does not keep the process running.
 * @param field field of the head that has the state
 * @param leaseMs time in milliseconds for which the server keeps the state after a renewal
 */
export function renewLease(session: ClientSession, field: string, leaseMs: number): () => void {
  const renew = (): void => void runStateCommand(session, field, 'renew', [leaseMs]).catch(() => {});
  const timer = setInterval(renew, leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return () => clearInterval(timer);
}
