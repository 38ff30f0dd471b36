import type { BackendCall, LimitStore, Limits } from '@scratchfs/core';
import { runIdempotent } from './commit/idempotent-command.js';
import type { Sequences } from './commit/sequences.js';
import { throwIfAborted } from './connection/abort.js';
import { type ClientSession, replyText } from './connection/client-session.js';
import { MAIN_STATE } from './connection/keys.js';
import { runStateCommand } from './connection/state-commands.js';
import { limitArguments, readLimits } from './format/reply/commit-reply.js';

/** Limits in a field of the head, which the scripts that commit read. */
export class RedisLimitStore implements LimitStore {
  constructor(
    private readonly session: ClientSession,
    private readonly sequences: Sequences,
  ) {}

  async open(initial: Limits, call?: BackendCall): Promise<Limits> {
    throwIfAborted(call);
    const reply = await runStateCommand(this.session, MAIN_STATE, 'limits', [0, ...limitArguments(initial)]);
    return readLimits(replyText(reply[2]));
  }

  async set(limits: Limits, call?: BackendCall): Promise<void> {
    await runIdempotent(this.session, this.sequences, MAIN_STATE, 'limits', [1, ...limitArguments(limits)], call);
  }
}
