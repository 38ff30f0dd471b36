import { expect, it } from 'vitest';
import type { Head } from './head.js';
import { isPending, type PriorityRequest } from './priority-request.js';

const request: PriorityRequest = { id: 'x', client: 'slow', sequence: 3, commit: 100, ms: 1_000 };

const headOf = (commit: number, flight?: number): Head => {
  const clients = flight === undefined ? [] : [{ client: 'slow', flight }];
  return { commit, clients } as unknown as Head;
};

it('a priority request is pending until its client has committed', () => {
  expect([headOf(101), headOf(101, 2), headOf(101, 3)].map((head) => isPending(request, head))).toEqual([
    true,
    true,
    false,
  ]);
});

it('a priority request expires after 256 commits, whether the head names its client or not', () => {
  expect([headOf(355), headOf(355, 2)].map((head) => isPending(request, head))).toEqual([true, true]);
  expect([headOf(356), headOf(356, 2)].map((head) => isPending(request, head))).toEqual([false, false]);
});
