import type { Backend, BackendCall, CheckpointStore, Limits, LoadRequest, LoadResult } from '@scratchfs/core';
import type { ChangeFeed } from './change-feed.js';
import { runIdempotent } from './commit/idempotent-command.js';
import type { Sequences } from './commit/sequences.js';
import { throwIfAborted } from './connection/abort.js';
import { type ClientSession, replyText, StateGoneError } from './connection/client-session.js';
import { runStateCommand } from './connection/state-commands.js';
import { readCommitResult } from './format/reply/commit-reply.js';
import { corruptReply } from './format/reply/corrupt.js';
import { LoadQueue } from './load/load-queue.js';

/**
 * Bytes before the name in a row of the list: the checkpoint's creation time, then its position in the order of
 * creation.
 */
const CHECKPOINT_HEADER_BYTES = 16;

/** Checkpoints in Redis. A checkpoint is one more reference to the root of a state. */
export class RedisCheckpointStore implements CheckpointStore {
  constructor(
    private readonly session: ClientSession,
    private readonly sequences: Sequences,
    private readonly field: string,
    private readonly onGarbage: () => void,
    private readonly changeFeed: ChangeFeed,
    private readonly forkOf: (state: string, call: BackendCall | undefined) => Promise<Backend>,
  ) {}

  async create(
    id: string,
    name: string | undefined,
    createdAt: number,
    max: number | undefined,
    call?: BackendCall,
  ): Promise<'ok' | 'exists' | 'limit'> {
    const args = [id, name === undefined ? '' : `=${name}`, createdAt, max ?? -1];
    const reply = await runIdempotent(this.session, this.sequences, this.field, 'create', args, call);
    if (reply !== 'ok' && reply !== 'exists' && reply !== 'limit') throw corruptReply('a result', true);
    return reply;
  }

  async list(call?: BackendCall): Promise<{ id: string; name: string | undefined; createdAt: number }[]> {
    throwIfAborted(call);
    const rows = (await runStateCommand(this.session, this.field, 'list'))[2];
    if (!Array.isArray(rows)) throw corruptReply('a list of checkpoints');
    const found: { id: string; name: string | undefined; createdAt: number; order: number }[] = [];
    for (let i = 0; i + 1 < rows.length; i += 2) {
      const row = rows[i + 1];
      if (!Buffer.isBuffer(row) || row.length < CHECKPOINT_HEADER_BYTES) throw corruptReply('a checkpoint');
      const name = row.length > CHECKPOINT_HEADER_BYTES ? row.toString('utf8', CHECKPOINT_HEADER_BYTES + 1) : undefined;
      found.push({ id: replyText(rows[i]), name, createdAt: row.readDoubleBE(0), order: row.readDoubleBE(8) });
    }
    return found.sort((a, b) => a.order - b.order).map(({ id, name, createdAt }) => ({ id, name, createdAt }));
  }

  async restore(id: string, limits: Limits, call?: BackendCall): ReturnType<CheckpointStore['restore']> {
    await this.changeFeed.ready;
    const args = [id, limits.maxTotalSize ?? -1, limits.maxNodeCount ?? -1];
    const reply = await runIdempotent(this.session, this.sequences, this.field, 'restore', args, call);
    this.onGarbage();
    if (reply === 'ok') await this.changeFeed.caughtUp();
    if (reply === 'ok' || reply === 'missing') return reply;
    const result = readCommitResult(reply);
    if (result.kind !== 'limit') throw corruptReply('a result');
    return result;
  }

  async drop(id: string, call?: BackendCall): Promise<boolean> {
    const reply = await runIdempotent(this.session, this.sequences, this.field, 'drop', [id], call);
    this.onGarbage();
    if (reply !== 'ok' && reply !== 'missing') throw corruptReply('a result', true);
    return reply === 'ok';
  }

  async load(
    id: string,
    requests: readonly LoadRequest[],
    call?: BackendCall,
  ): Promise<readonly LoadResult[] | 'missing'> {
    throwIfAborted(call);
    return orMissing(new LoadQueue(this.session, this.#stateField(id), true).load(requests));
  }

  async fork(id: string, call?: BackendCall): Promise<Backend | 'missing'> {
    return orMissing(this.forkOf(this.#stateField(id), call));
  }

  /** Returns the field of the head that has a checkpoint's state. */
  #stateField(id: string): string {
    return `c/${this.field}/${id}`;
  }
}

async function orMissing<T>(result: Promise<T>): Promise<T | 'missing'> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof StateGoneError) return 'missing';
    throw error;
  }
}
