import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileSystemOn } from '@scratchfs/core';
import { DiskStorage } from '@scratchfs/disk';
import { createFileSystem } from 'scratchfs';
import { afterEach, expect, it, vi } from 'vitest';
import { StoredApprovals } from './approvals.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const WHAT = { attempt: 'calm-otter', head: 3, action: 'accept', details: { as: 'apply', paths: ['/a'] } };
const ASKED = { ...WHAT, summary: 'Accept 1 file' };
const settled = expect.objectContaining({ code: 'settled' });

function approvalsAt(store = createFileSystem(), start = 1_000) {
  const time = { now: start };
  return { store, time, approvals: new StoredApprovals(store, () => time.now) };
}

it('an approval is asked for, approved, and used once', async () => {
  const { approvals } = approvalsAt();
  const asked = await approvals.request({ ...ASKED, ttlMs: 500 });
  expect(asked).toEqual({ ...ASKED, id: 1, state: 'pending', createdAt: 1_000, expiresAt: 1_500 });
  expect(await approvals.use(1, WHAT)).toBe(false);
  expect(await approvals.approve(1)).toEqual({ ...asked, state: 'approved' });
  expect(await approvals.use(1, WHAT)).toBe(true);
  expect(await approvals.use(1, WHAT)).toBe(false);
  expect((await approvals.get(1)).state).toBe('approved');
  await approvals.request(ASKED);
  expect((await approvals.list()).map(({ id }) => id)).toEqual([2, 1]);
  expect((await approvals.list({ state: 'pending' })).map(({ id }) => id)).toEqual([2]);
});

it('it counts only for the same attempt, head, action and details', async () => {
  const { approvals } = approvalsAt();
  const { id } = await approvals.request(ASKED);
  await approvals.approve(id);
  const others: object[] = [
    { attempt: 'other' },
    { head: 4 },
    { action: 'run' },
    { details: undefined },
    { details: { as: 'apply', paths: ['/a', '/b'] } },
    { details: { as: 'apply', paths: '/a' } },
    { details: JSON.parse('{"as":"apply","paths":["/a"],"__proto__":{}}') as object },
  ];
  for (const other of others) expect(await approvals.use(id, { ...WHAT, ...other })).toBe(false);
  for (const other of [0, -1, 1.5, Number.NaN, 2, '1' as unknown as number])
    expect(await approvals.use(other, WHAT)).toBe(false);
  expect(await approvals.use(id, { ...WHAT, details: { paths: ['/a'], as: 'apply' } })).toBe(true);
});

it('what was denied or has expired stays so, also if the clock goes back', async () => {
  const { approvals, time } = approvalsAt();
  for (let i = 0; i < 4; i++) await approvals.request({ ...ASKED, ttlMs: 500 });
  await approvals.deny(1);
  await expect(approvals.approve(1)).rejects.toEqual(settled);
  await approvals.approve(2);
  await expect(approvals.deny(2)).rejects.toEqual(settled);
  time.now = 1_500;
  expect((await approvals.list()).map(({ state }) => state)).toEqual(['expired', 'expired', 'expired', 'denied']);
  expect(await approvals.use(2, WHAT)).toBe(false);
  await expect(approvals.approve(3)).rejects.toEqual(settled);
  time.now = 900;
  await expect(approvals.approve(3)).rejects.toEqual(settled);
  expect((await approvals.get(3)).state).toBe('expired');
});

it('an unknown number is an error that names what waits', async () => {
  const { approvals, store } = approvalsAt();
  for (const id of [1, 0, -1, 1.5, Number.NaN, '../workspace' as unknown as number])
    await expect(approvals.get(id)).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringMatching(/Nothing waits/),
    });
  expect(store.readdirSync('/')).toEqual([]);
  await approvals.request(ASKED);
  await expect(approvals.deny(7)).rejects.toMatchObject({
    code: 'not-found',
    message: expect.stringMatching(/These wait: 1/),
  });
});

it.each([
  [{ attempt: '' }, RangeError],
  [{ attempt: 7 }, TypeError],
  [{ head: -1 }, RangeError],
  [{ head: '3' }, TypeError],
  [{ action: '\ud800' }, RangeError],
  [{ summary: 'x'.repeat(10_001) }, RangeError],
  [{ ttlMs: 0 }, RangeError],
  [{ ttlMs: Number.POSITIVE_INFINITY }, RangeError],
  [{ details: { run: () => 1 } }, TypeError],
  [{ details: 1n }, TypeError],
  [{ details: { at: new Date(0) } }, TypeError],
  [{ details: new Map([['a', 1]]) }, TypeError],
  [{ details: Number.NaN }, TypeError],
  [{ other: 1 }, TypeError],
])('request() refuses %o', async (wrong, kind) => {
  const { approvals, store } = approvalsAt();
  await expect(approvals.request({ ...ASKED, ...wrong } as never)).rejects.toThrow(kind);
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  await expect(approvals.request({ ...ASKED, details: cycle })).rejects.toThrow(/cycles/);
  expect(store.readdirSync('/')).toEqual([]);
});

it('of several processes one decides and one uses', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'approvals-'));
  cleanUps.push(() => rmSync(directory, { recursive: true, force: true }));
  const clients = Array.from({ length: 6 }, () => {
    const storage = new DiskStorage(join(directory, 'store'), { durability: 'process' });
    cleanUps.push(() => storage.close());
    return new StoredApprovals(fileSystemOn(storage), () => 1_000);
  });
  const first = clients[0] as StoredApprovals;
  const asked = await Promise.all(clients.map((client) => client.request(ASKED)));
  expect(asked.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  const decided = await Promise.allSettled(
    clients.map((client, i) => (i % 2 === 0 ? client.approve(1) : client.deny(1))),
  );
  expect(decided.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await first.approve(2);
  const used = await Promise.all(clients.map((client) => client.use(2, WHAT)));
  expect(used.filter(Boolean)).toHaveLength(1);
});

it('a list reads only what can still change, and adds few listeners to a signal', async () => {
  const { approvals, store } = approvalsAt();
  for (let i = 0; i < 30; i++) await approvals.deny((await approvals.request(ASKED)).id);
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  cleanUps.push(() => process.off('warning', note));
  const { signal } = new AbortController();
  expect(await approvals.list({ signal })).toHaveLength(30);
  const read = vi.spyOn(store, 'readText');
  expect(await approvals.list({ signal })).toHaveLength(30);
  expect(read).not.toHaveBeenCalled();
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
