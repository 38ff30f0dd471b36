import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, CommitResult, Write } from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import { type ClientSession, replyText } from '../connection/client-session.js';
import { runStateCommand } from '../connection/state-commands.js';
import { readCommitReply, readCommitResult } from '../format/reply/commit-reply.js';
import { type BatchContext, countCreatedNames, type StagedContent } from '../format/request/batch.js';
import { type CommitRequest, CommitRequestWriter } from '../format/request/commit-request.js';
import { scripts } from '../lua/scripts.js';
import { AdaptiveBatchSize } from './adaptive-batch-size.js';
import { costOf } from './batch-cost.js';
import { STAGING_LEASE_MS } from './content-staging.js';
import type { Sequences } from './sequences.js';
import { type BatchPart, splitBatch } from './split-batch.js';

/** Milliseconds for which a lock blocks other writers after its holder has last renewed it. */
const LOCK_LEASE_MS = 5_000;
/** Attempts that other writes may invalidate before the batch is staged with the state locked. */
const MAX_UNLOCKED_ATTEMPTS = 1;

export function singleBatchRequest(batch: Batch, context: BatchContext): CommitRequest {
  const request = new CommitRequestWriter();
  request.add(batch, context);
  return request;
}

interface Conflict {
  readonly kind: 'conflict';
  readonly checks: readonly number[];
}

interface StagedCommit {
  readonly kind: 'staged';
  /** Version of everything that the batch writes. */
  readonly version: number;
  readonly stagedState: NonNullable<BatchContext['stagedState']>;
  /** True if the state is locked for this commit. */
  readonly isLocked: boolean;
}

/**
 * Commits of batches that exceed one request. The writes are applied in several requests to a private copy of the
 * state. One last request makes the copy the current state, if that has not changed or the batch begins with `clear`.
 * Otherwise the batch is staged again with other writers locked out.
 */
export class StagedCommits {
  constructor(
    private readonly session: ClientSession,
    private readonly sequences: Sequences,
    private readonly field: string,
    /** Receives the number of objects that wait to be freed. */
    private readonly onGarbage: (queuedObjects: number) => void,
  ) {}

  /**
   * Applies the writes to a private copy of the state.
   * @returns the staged commit, or the checks that fail
   * @throws StorageError; the signal's reason
   */
  async stage(
    batch: Batch,
    stagedContents: ReadonlyMap<Write, StagedContent>,
    attempt: number,
    signal: AbortSignal,
  ): Promise<StagedCommit | Conflict> {
    const key = this.session.uniqueField('p');
    const replacesAll = batch.writes[0]?.kind === 'clear';
    const isLocked = !replacesAll && attempt > MAX_UNLOCKED_ATTEMPTS;
    try {
      const args = [key, STAGING_LEASE_MS, isLocked ? LOCK_LEASE_MS : 0];
      const begun = await runStateCommand(this.session, this.field, 'begin', args);
      const version = Number(replyText(begun[2]));
      let lockRenewed = performance.now();
      const createdNames = countCreatedNames(batch.writes);
      await nextTurn();
      const size = new AdaptiveBatchSize();
      for (const part of splitBatch(batch, stagedContents, replacesAll, () => size.maxCost)) {
        signal.throwIfAborted();
        if (isLocked && performance.now() - lockRenewed > LOCK_LEASE_MS / 5) {
          lockRenewed = performance.now();
          await runStateCommand(this.session, this.field, 'lock', [LOCK_LEASE_MS]);
        }
        const failed = await this.#runPart(key, part, version, { stagedContents, createdNames }, size);
        if (failed.length === 0) continue;
        this.discard(key, isLocked);
        return { kind: 'conflict', checks: failed };
      }
      return { kind: 'staged', version, stagedState: { key, replacesAll }, isLocked };
    } catch (error) {
      this.discard(key, isLocked);
      throw error;
    }
  }

  /**
   * Evaluates more checks than one request may have, all against one state, which is pinned for that.
   * @throws StorageError; the signal's reason
   */
  async check(batch: Batch, signal: AbortSignal): Promise<CommitResult> {
    const key = this.session.uniqueField('p');
    const begun = await runStateCommand(this.session, this.field, 'lend', [key, STAGING_LEASE_MS]);
    try {
      for (const part of splitBatch(batch, new Map(), false)) {
        signal.throwIfAborted();
        const checks = await this.#runPart(key, part, 0, {});
        if (checks.length > 0) return { kind: 'conflict', checks };
      }
      return { kind: 'ok', version: Number(replyText(begun[1])) };
    } finally {
      this.discard(key, false);
    }
  }

  /**
   * Deletes a staged or pinned state, or an uploaded content, that is not needed any more, and unlocks the state if
   * `isLocked` is true. Does not wait, and ignores failures: leases and locks expire.
   */
  discard(key: string, isLocked: boolean): void {
    runStateCommand(this.session, this.field, 'giveBack', [key])
      .then((reply) => this.onGarbage(Number(replyText(reply[3]))))
      .catch(() => {});
    if (isLocked) runStateCommand(this.session, this.field, 'unlock').catch(() => {});
  }

  /**
   * Runs one part of a batch on the private state. Returns the positions in the whole batch of the checks that fail.
   */
  async #runPart(
    key: string,
    { checks, positions, writes }: BatchPart,
    version: number,
    context: Pick<BatchContext, 'stagedContents' | 'createdNames'>,
    size?: AdaptiveBatchSize,
  ): Promise<readonly number[]> {
    const { session, sequences } = this;
    const sequence = writes.length === 0 ? 0 : sequences.next();
    const { acknowledged, restore } = sequences.acknowledge();
    try {
      const batch: Batch = { operationId: '', checks, writes, limits: {} };
      const request = singleBatchRequest(batch, { ...context, sequence, version });
      const reply = await session.run(scripts.commit, key, request.chunks, { body: request, acknowledged });
      sequences.settle(sequence);
      const { writtenReferences, results } = readCommitReply(reply, 1);
      if (writes.length > 0) size?.adapt(costOf(batch), writtenReferences);
      const result = readCommitResult(results[0] ?? '');
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
