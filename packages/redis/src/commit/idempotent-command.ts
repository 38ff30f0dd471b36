import { type BackendCall, StorageError } from '@scratchfs/core';
import { type ClientSession, replyText } from '../connection/client-session.js';
import { isTemporary, withMayHaveHappened } from '../connection/errors.js';
import type { Argument } from '../connection/script-command.js';
import { sendStateCommand } from '../connection/state-commands.js';
import { scripts } from '../lua/scripts.js';
import type { Sequences } from './sequences.js';

/** Maximum attempts of a command. It is repeated only after an attempt that was certainly not applied. */
const MAX_ATTEMPTS = 3;

/** Outcomes that the script reports instead of a result. */
const ABSENT = 'a';
const UNKNOWN = 's';

/**
 * Runs a command on checkpoints, forks or limits that is applied at most once, however often it has to be sent.
 * @throws StorageError `unavailable` or `timeout` if the server cannot be reached, or if the outcome is unknown;
 *   `closed`; others that the server causes. Its `mayHaveHappened` is false if the command was certainly not applied
 */
export async function runIdempotent(
  session: ClientSession,
  sequences: Sequences,
  field: string,
  action: string,
  args: readonly Argument[],
  call?: BackendCall,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    await waitForConnection(session, call);
    const [sequence, begun] = [sequences.next(), Date.now()];
    const { acknowledged, restore } = sequences.acknowledge();
    try {
      const reply = await sendStateCommand(session, field, action, args, { acknowledged, sequence });
      sequences.settle(sequence);
      if (reply.length > 0 && replyText(reply[2]) !== UNKNOWN) return replyText(reply[2]);
      throw new StorageError('unavailable', 'The operation was given up before it arrived');
    } catch (error) {
      restore();
      sequences.failed(sequence);
      if (!isTemporary(error) || !error.mayHaveHappened) throw error;
      const outcome = await requestOutcome(session, sequences, field, sequence).catch((failure: unknown) => {
        if (isTemporary(failure)) return UNKNOWN;
        throw failure;
      });
      if (outcome !== UNKNOWN) sequences.settle(sequence);
      if (outcome !== ABSENT && outcome !== UNKNOWN) return outcome;
      if (outcome === UNKNOWN || session.hasLostResultsSince(begun)) throw error;
      // The command was not applied, and never will be under this number.
      if (attempt >= MAX_ATTEMPTS)
        throw new StorageError(error.kind, error.message, { cause: error, mayHaveHappened: false });
    }
  }
}

/** Waits for the connection. @throws StorageError if the call aborts first, or no connection comes about */
async function waitForConnection({ connection }: ClientSession, call: BackendCall | undefined): Promise<void> {
  const signal = call?.signal;
  const ready = connection.whenReady();
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new StorageError('unavailable', 'The operation was given up', { mayHaveHappened: false }));
    if (signal?.aborted === true) stop();
    else if (ready !== undefined) signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([stopped, ready]);
  } catch (error) {
    throw withMayHaveHappened(error, false);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/**
 * Asks the server for an operation's outcome: its result, `a` if it was not applied and never will be, or `s` if that
 * is no longer known. The request also acknowledges results, so that a client whose commits all fail still
 * acknowledges.
 */
export async function requestOutcome(
  session: ClientSession,
  sequences: Sequences,
  field: string,
  sequence: number,
): Promise<string> {
  const { acknowledged, restore } = sequences.acknowledge();
  try {
    return replyText((await session.run(scripts.outcome, field, [sequence], { acknowledged }))[2]);
  } catch (error) {
    restore();
    throw error;
  }
}
