import type { BackendCall, Facts, Limits, References, Want } from '@scratchfs/core';
import type { Watching } from './change-feed.js';
import { ask, once } from './commit/idempotent-command.js';
import type { Sequences } from './commit/sequences.js';
import { throwIfAborted } from './connection/abort.js';
import { type Session, StateGone, textOf } from './connection/client-session.js';
import { readResult } from './format/reply/commit-reply.js';
import { corrupt } from './format/reply/nodes.js';
import type { Answer } from './format/reply/replies.js';
import { Loads } from './load/load-queue.js';

/** Checkpoints: states that the server keeps by one more reference to their root. */
export class Checkpoints implements References {
  constructor(
    private readonly session: Session,
    private readonly sequences: Sequences,
    private readonly field: string,
    private readonly onGarbage: () => void,
    private readonly watching: Watching,
  ) {}

  async create(
    id: string,
    name: string | undefined,
    createdAt: number,
    max: number | undefined,
    call?: BackendCall,
  ): Promise<'ok' | 'exists' | 'limit'> {
    const args = [id, name === undefined ? '' : `=${name}`, createdAt, max ?? -1];
    return (await once(this.session, this.sequences, this.field, 'create', args, call)) as 'ok' | 'exists' | 'limit';
  }

  async list(call?: BackendCall): Promise<{ id: string; name: string | undefined; createdAt: number }[]> {
    throwIfAborted(call);
    const rows = (await ask(this.session, this.field, 'list'))[2] as Answer;
    const found: { id: string; name: string | undefined; createdAt: number; order: number }[] = [];
    for (let i = 0; i + 1 < rows.length; i += 2) {
      const row = rows[i + 1];
      if (!Buffer.isBuffer(row) || row.length < 16) throw corrupt('a checkpoint');
      const name = row.length > 16 ? row.toString('utf8', 17) : undefined;
      found.push({ id: textOf(rows[i]), name, createdAt: row.readDoubleBE(0), order: row.readDoubleBE(8) });
    }
    return found.sort((a, b) => a.order - b.order).map(({ id, name, createdAt }) => ({ id, name, createdAt }));
  }

  async restore(id: string, limits: Limits, call?: BackendCall): ReturnType<References['restore']> {
    await this.watching.beginning;
    const args = [id, limits.maxTotalSize ?? -1, limits.maxNodeCount ?? -1];
    const answer = await once(this.session, this.sequences, this.field, 'restore', args, call);
    this.onGarbage();
    if (answer === 'ok') await this.watching.caughtUp();
    if (answer === 'ok' || answer === 'missing') return answer;
    const result = readResult(answer);
    if (result.kind !== 'limit') throw corrupt('a result');
    return result;
  }

  async drop(id: string, call?: BackendCall): Promise<boolean> {
    const answer = await once(this.session, this.sequences, this.field, 'drop', [id], call);
    this.onGarbage();
    return answer === 'ok';
  }

  async load(id: string, wants: readonly Want[], call?: BackendCall): Promise<readonly Facts[] | 'missing'> {
    throwIfAborted(call);
    try {
      return await new Loads(this.session, `c/${this.field}/${id}`).load(wants);
    } catch (error) {
      if (error instanceof StateGone) return 'missing';
      throw error;
    }
  }
}
