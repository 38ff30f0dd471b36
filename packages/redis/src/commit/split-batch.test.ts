import { createHash } from 'node:crypto';
import type { Batch, Check, Metadata, Write } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { costOf, MAX_CHECK_REQUEST_COST, MAX_REQUEST_BYTES, MAX_REQUEST_COST } from './batch-cost.js';
import { type BatchPart, splitBatch } from './split-batch.js';

const META: Metadata = { mode: 0o100644, uid: 0, gid: 0, atime: 1, mtime: 1, ctime: 1, birthtime: 1 };
const made = (path: string, length = 0): Write => ({
  kind: 'create',
  path,
  id: path,
  type: 'file',
  meta: META,
  content: new Uint8Array(length),
});
const free = (path: string): Check => ({ kind: 'entry', path, id: null });
const there = (path: string): Check => ({ kind: 'entry', path, id: path, version: 1 });

function split(checks: readonly Check[], writes: readonly Write[], replacesAll = false): BatchPart[] {
  const batch: Batch = { operationId: 'o', checks, writes, limits: {} };
  return [...splitBatch(batch, new Map(), replacesAll)];
}

describe('splitBatch()', () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `/d/${i}`);

  it('bounds the cost of each part, and covers every write and check once', () => {
    const parts = split(
      [there('/d'), ...names.map(free)],
      names.map((name) => made(name)),
    );
    expect(parts.length).toBe(7);
    for (const { writes } of parts) expect(costOf({ checks: [], writes })).toBeLessThanOrEqual(MAX_REQUEST_COST);
    const written = parts.flatMap(({ writes }) => writes.map((write) => (write as { path: string }).path));
    expect([...written].sort()).toEqual([...names].sort());
    const positions = parts.flatMap(({ positions }) => positions);
    expect([...positions].sort((a, b) => a - b)).toEqual(Array.from({ length: 1_001 }, (_, i) => i));
  });

  it('puts fewer writes into a part if each is in another directory', () => {
    const written = (path: string): Write => ({ kind: 'write', path, size: 0, parts: [], meta: META });
    const [near] = split(
      [],
      Array.from({ length: 1_000 }, (_, i) => written(`/d/${i}`)),
    );
    const [far] = split(
      [],
      Array.from({ length: 1_000 }, (_, i) => written(`/${i}/d`)),
    );
    expect(far?.writes.length).toBeLessThan((near?.writes.length ?? 0) / 2);
  });

  it('checks that a name is free in the part that creates it, and everything else before', () => {
    const [first, ...rest] = split(
      [...names.map(free), there('/d')],
      names.map((name) => made(name)),
    );
    expect(first?.positions[0]).toBe(1_000);
    for (const { checks, writes } of rest)
      expect(checks.map(({ path }) => path)).toEqual(writes.map((write) => (write as { path: string }).path));
  });

  it('checks first whether names are free if earlier writes may free them', () => {
    const removal: Write = { kind: 'remove', path: '/d/0', time: 1 };
    const parts = split([free('/d/0'), free('/e')], [removal, made('/d/0'), made('/e')]);
    expect(parts).toHaveLength(1);
    expect(parts[0]?.positions).toEqual([0, 1]);
    const many = split(names.map(free), [removal, ...names.map((name) => made(name))]);
    expect(many.flatMap(({ checks, writes }) => (checks.length > 0 ? [writes.length] : []))[0]).toBe(0);
  });

  it('orders the checks of a directory by bucket', () => {
    const mixed = names.flatMap((name, i) => [there(name), there(`/e/${i}`)]);
    const checked = split(mixed, []).flatMap(({ checks }) => checks.map(({ path }) => path));
    expect([...checked].sort()).toEqual(mixed.map(({ path }) => path).sort());
    expect(checked.findLastIndex((path) => path.startsWith('/d/'))).toBe(999);
    // With 64 buckets the last 6 bits of a hash select the bucket.
    const bucketOf = (path: string): number => createHash('sha1').update(path.slice(3)).digest().readUInt32BE(0) % 64;
    const buckets = checked.slice(0, 1_000).map(bucketOf);
    expect(buckets.filter((bucket, i) => bucket !== buckets[i - 1]).length).toBe(64);
  });

  it('keeps the order of writes in different directories, and bounds the bytes of a part', () => {
    const writes = [made('/a', 200_000), made('/b/c', 200_000), made('/a2', 200_000)];
    const parts = split([], writes);
    expect(parts.flatMap((part) => part.writes)).toEqual(writes);
    for (const part of parts)
      expect(
        part.writes.reduce((sum, write) => sum + (write as { content: Uint8Array }).content.length, 0),
      ).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  });

  it('splits checks without writes, and leaves out the checks of a batch that replaces everything', () => {
    expect(split(names.map(there), []).map(({ checks, writes }) => [checks.length, writes.length])).toEqual([
      ...Array.from({ length: 1_000 / MAX_CHECK_REQUEST_COST }, () => [MAX_CHECK_REQUEST_COST, 0]),
    ]);
    const clear: Write = { kind: 'clear', meta: META };
    expect(split([there('/')], [clear], true).flatMap(({ checks }) => checks)).toEqual([]);
  });
});
