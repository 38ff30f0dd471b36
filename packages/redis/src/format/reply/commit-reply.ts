import type { CommitResult, Limits } from '@scratchfs/core';
import { corruptReply, wholeNumber } from './corrupt.js';
import type { Reply } from './replies.js';

/** The reply of the commit script. */
export interface CommitReply {
  /** Number of objects that wait to be freed. */
  readonly queuedObjects: number;
  /** Approximate cost of the request, counted in references that were written. */
  readonly writtenReferences: number;
  /**
   * Number of the change stream's entry for this request, 0 if it changed nothing; undefined if the filesystem is not
   * watched.
   */
  readonly entry: number | undefined;
  /** One encoded result for each batch. */
  readonly results: readonly string[];
}

/** @param count number of batches of the request */
export function readCommitReply(reply: Reply, count: number): CommitReply {
  const [, , totals, ...results] = reply.map((part) => (typeof part === 'string' ? part : ''));
  const [waiting, spent, entry] = String(totals).split(' ');
  if (results.length !== count) throw corruptReply('the results of a commit', true);
  return {
    queuedObjects: wholeNumber(waiting, 'a number of objects', true),
    writtenReferences: wholeNumber(spent, 'a cost', true),
    entry: entry === '-' ? undefined : wholeNumber(entry, 'an entry', true),
    results,
  };
}

const LIMITS = ['maxTotalSize', 'maxFileSize', 'maxNodeCount'] as const;

/**
 * Decodes a batch's result as the server stores it: `o version`, `c failed checks`, `l limit allowed used requested`,
 * `q stored limits`.
 */
export function readCommitResult(text: string): CommitResult {
  if (text.startsWith('o ')) return { kind: 'ok', version: wholeNumber(text.slice(2), 'a version', true) };
  const [kind, ...rest] = text.split(' ');
  if (kind === 'c') return { kind: 'conflict', checks: rest.map((check) => wholeNumber(check, 'a check', true)) };
  if (kind === 'q') return { kind: 'other-limits', limits: readLimits(rest.join(' ')) };
  const limit = LIMITS.find((name) => name === rest[0]);
  if (kind !== 'l' || limit === undefined) throw corruptReply('a result', true);
  const [allowed, used, requested] = [1, 2, 3].map((at) => wholeNumber(rest[at], 'a limit', true)) as [
    number,
    number,
    number,
  ];
  return { kind: 'limit', limit, allowed, used, requested };
}

const NO_LIMIT = -1;

/** Encodes limits as arguments of a command. */
export function limitArguments({ maxFileSize, maxTotalSize, maxNodeCount, maxCheckpoints }: Limits): number[] {
  return [maxFileSize, maxTotalSize, maxNodeCount, maxCheckpoints].map((limit) => limit ?? NO_LIMIT);
}

/** Decodes stored limits: {@link limitArguments} separated by spaces. @throws StorageError `corrupt` */
export function readLimits(text: string): Limits {
  const numbers = text.split(' ').map(Number);
  if (numbers.length !== 4 || !numbers.every((limit) => Number.isSafeInteger(limit) && limit >= NO_LIMIT))
    throw corruptReply('limits');
  const [maxFileSize, maxTotalSize, maxNodeCount, maxCheckpoints] = numbers.map((limit) =>
    limit === NO_LIMIT ? undefined : limit,
  );
  return { maxFileSize, maxTotalSize, maxNodeCount, maxCheckpoints };
}

/** Decodes an operation's outcome. `s` means that its result is not known any more. */
export function readOutcome(text: string): CommitResult | 'absent' | 'unknown' {
  if (text === 's') return 'unknown';
  return text === 'a' || isSuperseded(text) ? 'absent' : readCommitResult(text);
}

/** Reports whether the state that a commit was staged on has changed, so that the commit was not applied. */
export function isSuperseded(text: string): boolean {
  return text === 'm';
}

/** Decodes a failed read-only batch: its position, then the indexes of its failed checks. */
export function readConflict(text: string): readonly [number, CommitResult] {
  const [position, ...checks] = text.split(' ').map((part) => wholeNumber(part, 'a check')) as [number, ...number[]];
  return [position, { kind: 'conflict', checks }];
}
