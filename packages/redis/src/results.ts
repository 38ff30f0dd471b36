import type { CommitResult } from '@scratchfs/core';
import type { Answer } from './format/answers.js';
import { corrupt } from './format/facts.js';
import { textOf } from './session.js';

/** Objects that wait to be freed, and what a request has cost: what commits answer beside the results. */
export function waitingOf(answer: Answer): number {
  return Number(textOf(answer[2]).split(' ')[0]);
}
export function spentOf(answer: Answer): number {
  return Number(textOf(answer[2]).split(' ')[1]);
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
