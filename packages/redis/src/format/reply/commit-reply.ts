import type { CommitResult } from '@scratchfs/core';
import { corrupt } from './nodes.js';
import type { Answer } from './replies.js';

/** What a request with batches has come to. */
export interface Done {
  /** Objects that wait to be freed. */
  readonly waiting: number;
  /** What it has cost, in references. */
  readonly spent: number;
  /** The number of what watchers were told, 0 where there was nothing to tell them; undefined where nobody watches. */
  readonly entry: number | undefined;
  /** Of each batch. */
  readonly results: readonly string[];
}

/** Reads what the commit script answers, after its counter. */
export function readDone(answer: Answer): Done {
  const [, , beside, ...results] = answer as readonly string[];
  const [waiting, spent, entry] = String(beside).split(' ');
  return { waiting: Number(waiting), spent: Number(spent), entry: entry === '-' ? undefined : Number(entry), results };
}

const LIMITS = ['maxTotalSize', 'maxFileSize', 'maxNodeCount'] as const;

/** A batch's result as the server remembers it: `o version`, `c failed checks`, `l limit allowed used requested`. */
export function readResult(text: string): CommitResult {
  if (text.startsWith('o ')) return { kind: 'ok', version: Number(text.slice(2)) };
  const [kind, ...rest] = text.split(' ');
  if (kind === 'c') return { kind: 'conflict', checks: rest.map(Number) };
  const limit = LIMITS.find((name) => name === rest[0]);
  if (kind !== 'l' || limit === undefined) throw corrupt('a result');
  const [allowed, used, requested] = rest.slice(1).map(Number) as [number, number, number];
  return { kind: 'limit', limit, allowed, used, requested };
}

/** What became of an operation, as the server has it, or says that it does not know. */
export function readOutcome(text: string): CommitResult | 'absent' | 'unknown' {
  if (text === 's') return 'unknown';
  return text === 'a' || isOvertaken(text) ? 'absent' : readResult(text);
}

/** Whether others had changed what it was prepared for: it did not happen, and never will under its number. */
export function isOvertaken(text: string): boolean {
  return text === 'm';
}

/** The position of a batch that only checks and does not hold, and which of its checks failed: `position failed checks`. */
export function readConflict(text: string): readonly [number, CommitResult] {
  const [position, ...checks] = text.split(' ').map(Number) as [number, ...number[]];
  return [position, { kind: 'conflict', checks }];
}
