import { expect, it } from 'vitest';
import type { Head } from './head.js';
import { isWaiting, type Ticket } from './ticket.js';

const ticket: Ticket = { id: 'x', client: 'slow', flight: 3, commit: 100, ms: 1_000 };

const headOf = (commit: number, flight?: number): Head => {
  const clients = flight === undefined ? [] : [{ client: 'slow', flight }];
  return { commit, clients } as unknown as Head;
};

it('a ticket holds until its client has committed what it asked for', () => {
  expect([headOf(101), headOf(101, 2), headOf(101, 3)].map((head) => isWaiting(ticket, head))).toEqual([
    true,
    true,
    false,
  ]);
});

it('a ticket ends after 256 commits, whether the head names its client or not', () => {
  expect([headOf(355), headOf(355, 2)].map((head) => isWaiting(ticket, head))).toEqual([true, true]);
  expect([headOf(356), headOf(356, 2)].map((head) => isWaiting(ticket, head))).toEqual([false, false]);
});
