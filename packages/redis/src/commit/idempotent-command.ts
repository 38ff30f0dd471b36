import { type BackendCall, isStorageError, StorageError } from '@scratchfs/core';
import { type Session, textOf } from '../connection/client-session.js';
import type { Argument } from '../connection/connection.js';
import type { Answer } from '../format/reply/replies.js';
import { scripts } from '../lua/scripts.js';
import type { Acknowledged, Sequences } from './sequences.js';

/** Times that something is tried again which surely did not happen. */
const MAX_TRIES = 3;

/**
 * Does something to a kept state, once however often it has to be sent.
 * @throws StorageError; of kind `unavailable` or `timeout` where nobody can say whether it happened, unless it says that it did not
 */
export async function once(
  session: Session,
  sequences: Sequences,
  field: string,
  action: string,
  args: readonly Argument[],
  call?: BackendCall,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    await untilConnected(session, call);
    const [sequence, begun] = [sequences.next(), Date.now()];
    const { acknowledged, restore } = sequences.acknowledge();
    try {
      const answer = await runStates(session, field, action, args, { acknowledged, sequence });
      sequences.settle(sequence);
      if (answer.length > 0 && textOf(answer[2]) !== 's') return textOf(answer[2]);
      throw new StorageError('unavailable', 'The operation was given up before it arrived');
    } catch (error) {
      restore();
      sequences.failed(sequence);
      if (!isStorageError(error) || (error.kind !== 'unavailable' && error.kind !== 'timeout')) throw error;
      const outcome = await outcomeOf(session, sequences, field, sequence);
      if (outcome !== 's') sequences.settle(sequence);
      if (outcome !== 'a' && outcome !== 's') return outcome;
      if (outcome === 's' || session.hasForgotten(begun)) throw error;
      // It never happened, and never will under this number.
      if (attempt >= MAX_TRIES)
        throw new StorageError(error.kind, error.message, { cause: error, mayHaveHappened: false });
    }
  }
}

/** Until there is a connection. @throws StorageError where the call is told to stop before */
async function untilConnected({ connection }: Session, call: BackendCall | undefined): Promise<void> {
  const signal = call?.signal;
  const opening = connection.opened();
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new StorageError('unavailable', 'The operation was given up', { mayHaveHappened: false }));
    if (signal?.aborted === true) stop();
    else if (opening !== undefined) signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([stopped, opening]);
  } catch (error) {
    if (!isStorageError(error) || !error.mayHaveHappened) throw error;
    throw new StorageError(error.kind, error.message, { cause: error, mayHaveHappened: false });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Asks for something about kept states that may be asked again. */
export function ask(session: Session, field: string, action: string, args: readonly Argument[] = []): Promise<Answer> {
  return runStates(session, field, action, args, { sequence: 0 });
}

function runStates(
  session: Session,
  field: string,
  action: string,
  args: readonly Argument[],
  { acknowledged, sequence }: { readonly acknowledged?: Acknowledged; readonly sequence: number },
): Promise<Answer> {
  return session.run(scripts.states, field, [sequence, action, ...args], { acknowledged });
}

/**
 * What an operation answered; `a` where it never happened and never will; `s` where that is no longer known. As a commit
 * does, it tells what has arrived: where all commits fail, nobody else does.
 */
export async function outcomeOf(
  session: Session,
  sequences: Sequences,
  field: string,
  sequence: number,
): Promise<string> {
  const { acknowledged, restore } = sequences.acknowledge();
  try {
    return textOf((await session.run(scripts.outcome, field, [sequence], { acknowledged }))[2]);
  } catch (error) {
    restore();
    throw error;
  }
}
