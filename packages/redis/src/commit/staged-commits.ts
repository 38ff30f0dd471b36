import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, CommitResult, Write } from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import { type Session, textOf } from '../connection/client-session.js';
import { readDone, readResult } from '../format/reply/commit-reply.js';
import { namesMadeIn, type Sent, type Staged } from '../format/request/batch.js';
import { type Request, RequestWriter } from '../format/request/commit-request.js';
import { scripts } from '../lua/scripts.js';
import { Pace } from './adaptive-batch-size.js';
import { type Slice, slicesOf, workOf } from './batch-cost.js';
import { ownField, STAGED_MS } from './content-staging.js';
import { ask } from './idempotent-command.js';
import type { Sequences } from './sequences.js';

/** How long others wait for a client that is not heard of any more. */
const LOCK_MS = 5_000;
/** Times that somebody else's write undoes the preparation, before it is made with the state locked. */
const MAX_RACES = 1;

/** A request with a single batch. */
export function requestOf(batch: Batch, sent: Sent): Request {
  const request = new RequestWriter();
  request.add(batch, sent);
  return request;
}

interface Conflict {
  readonly kind: 'conflict';
  readonly checks: readonly number[];
}

/** What was prepared: its field, the version of all that it wrote, and whether others wait for it. */
interface Made {
  readonly kind: 'made';
  readonly version: number;
  readonly prepared: NonNullable<Sent['prepared']>;
  readonly isLocked: boolean;
}

/**
 * A batch of more writes than one request may have: they are made step by step in a state that nobody else sees, which
 * then becomes the state, if that is still what it was. If somebody was faster it is made again, the last time with
 * all other writers waiting.
 */
export class Prepared {
  constructor(
    private readonly session: Session,
    private readonly sequences: Sequences,
    private readonly field: string,
    /** Told how many objects wait to be freed. */
    private readonly onGarbage: (waiting: number) => void,
  ) {}

  /**
   * Makes the writes, and answers how they become real, or which checks fail.
   * @throws StorageError; the signal's reason
   */
  async make(
    batch: Batch,
    staged: ReadonlyMap<Write, Staged>,
    race: number,
    signal: AbortSignal,
  ): Promise<Made | Conflict> {
    const key = ownField(this.session, 'p');
    const replacesAll = batch.writes[0]?.kind === 'clear';
    const isLocked = !replacesAll && race > MAX_RACES;
    try {
      const begun = await ask(this.session, this.field, 'begin', [key, STAGED_MS, isLocked ? LOCK_MS : 0]);
      const version = Number(textOf(begun[2]));
      let renewed = performance.now();
      const names = namesMadeIn(batch.writes);
      await nextTurn();
      const pace = new Pace();
      for (const slice of slicesOf(batch, staged, replacesAll, () => pace.most)) {
        signal.throwIfAborted();
        if (isLocked && performance.now() - renewed > LOCK_MS / 5) {
          renewed = performance.now();
          await ask(this.session, this.field, 'lock', [LOCK_MS]);
        }
        const failed = await this.#step(key, slice, version, { staged, names }, pace);
        if (failed.length === 0) continue;
        this.giveBack(key, isLocked);
        return { kind: 'conflict', checks: failed };
      }
      return { kind: 'made', version, prepared: { key, replacesAll }, isLocked };
    } catch (error) {
      this.giveBack(key, isLocked);
      throw error;
    }
  }

  /** Which of many checks fail, all at one moment; nothing is written. @throws StorageError; the signal's reason */
  async check(batch: Batch, signal: AbortSignal): Promise<CommitResult> {
    const key = ownField(this.session, 'p');
    const begun = await ask(this.session, this.field, 'lend', [key, STAGED_MS]);
    try {
      for (const slice of slicesOf(batch, new Map(), false)) {
        signal.throwIfAborted();
        const checks = await this.#step(key, slice, 0, {});
        if (checks.length > 0) return { kind: 'conflict', checks };
      }
      return { kind: 'ok', version: Number(textOf(begun[1])) };
    } finally {
      this.giveBack(key, false);
    }
  }

  /** What was prepared or sent ahead for a commit that will not come. */
  giveBack(key: string, isLocked: boolean): void {
    ask(this.session, this.field, 'giveBack', [key])
      .then((answer) => this.onGarbage(Number(textOf(answer[3]))))
      .catch(() => {});
    if (isLocked) ask(this.session, this.field, 'unlock').catch(() => {});
  }

  /** One request on the lent state. Answers the positions of checks that fail. */
  async #step(
    key: string,
    { checks, positions, writes }: Slice,
    version: number,
    sent: Pick<Sent, 'staged' | 'names'>,
    pace?: Pace,
  ): Promise<readonly number[]> {
    const { session, sequences } = this;
    const sequence = writes.length === 0 ? 0 : sequences.next();
    const { acknowledged, restore } = sequences.acknowledge();
    try {
      const batch: Batch = { operationId: '', checks, writes, limits: {} };
      const request = requestOf(batch, { ...sent, sequence, version });
      const answer = await session.run(scripts.commit, key, request.contents, { body: request, acknowledged });
      sequences.settle(sequence);
      const { spent, results } = readDone(answer);
      if (writes.length > 0) pace?.learn(workOf(batch), spent);
      const result = readResult(results[0] ?? '');
      if (result.kind === 'conflict') return result.checks.map((at) => positions[at] as number);
      if (result.kind !== 'ok') throw new StorageError('conflict', 'A step of a large commit was refused');
      return [];
    } catch (error) {
      restore();
      sequences.failed(sequence);
      throw error;
    }
  }
}
