import type { Reply } from '../format/reply/replies.js';
import type { Acknowledgement } from '../format/request/request-header.js';
import { scripts } from '../lua/scripts.js';
import type { ClientSession } from './client-session.js';
import type { Argument } from './script-command.js';

/** Runs a command of the states script that is safe to repeat. */
export function runStateCommand(
  session: ClientSession,
  field: string,
  action: string,
  args: readonly Argument[] = [],
): Promise<Reply> {
  return sendStateCommand(session, field, action, args, { sequence: 0 });
}

/** Runs a command of the states script under a sequence number; 0 if it need not be recorded. */
export function sendStateCommand(
  session: ClientSession,
  field: string,
  action: string,
  args: readonly Argument[],
  { acknowledged, sequence }: { readonly acknowledged?: Acknowledgement; readonly sequence: number },
): Promise<Reply> {
  return session.run(scripts.states, field, [sequence, action, ...args], { acknowledged, isChange: sequence > 0 });
}
