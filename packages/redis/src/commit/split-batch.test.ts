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

function sliced(checks: readonly Check[], writes: readonly Write[], replacesAll = false): BatchPart[] {
  const batch: Batch = { operationId: 'o', checks, writes, limits: {} };
  return [...splitBatch(batch, new Map(), replacesAll)];
}

describe('slices of a large batch', () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `/d/${i}`);

  it('have bounded work, and together everything once', () => {
    const slices = sliced(
      [there('/d'), ...names.map(free)],
      names.map((name) => made(name)),
    );
    expect(slices.length).toBe(7);
    for (const { writes } of slices) expect(costOf({ checks: [], writes })).toBeLessThanOrEqual(MAX_REQUEST_COST);
    const written = slices.flatMap(({ writes }) => writes.map((write) => (write as { path: string }).path));
    expect([...written].sort()).toEqual([...names].sort());
    const positions = slices.flatMap(({ positions }) => positions);
    expect([...positions].sort((a, b) => a - b)).toEqual(Array.from({ length: 1_001 }, (_, i) => i));
  });

  it('have fewer writes where each is in another directory', () => {
    const written = (path: string): Write => ({ kind: 'write', path, size: 0, parts: [], meta: META });
    const [near] = sliced(
      [],
      Array.from({ length: 1_000 }, (_, i) => written(`/d/${i}`)),
    );
    const [far] = sliced(
      [],
      Array.from({ length: 1_000 }, (_, i) => written(`/${i}/d`)),
    );
    expect(far?.writes.length).toBeLessThan((near?.writes.length ?? 0) / 2);
  });

  it('look whether a name is free where they take it, and at all else before', () => {
    const [first, ...rest] = sliced(
      [...names.map(free), there('/d')],
      names.map((name) => made(name)),
    );
    expect(first?.positions[0]).toBe(1_000);
    for (const { checks, writes } of rest)
      expect(checks.map(({ path }) => path)).toEqual(writes.map((write) => (write as { path: string }).path));
  });

  it('look first whether names are free that something moved or removed may have freed', () => {
    const removal: Write = { kind: 'remove', path: '/d/0', time: 1 };
    const slices = sliced([free('/d/0'), free('/e')], [removal, made('/d/0'), made('/e')]);
    expect(slices).toHaveLength(1);
    expect(slices[0]?.positions).toEqual([0, 1]);
    const many = sliced(names.map(free), [removal, ...names.map((name) => made(name))]);
    expect(many.flatMap(({ checks, writes }) => (checks.length > 0 ? [writes.length] : []))[0]).toBe(0);
  });

  it('check the names of one directory together, in the order of the buckets they are in', () => {
    const mixed = names.flatMap((name, i) => [there(name), there(`/e/${i}`)]);
    const checked = sliced(mixed, []).flatMap(({ checks }) => checks.map(({ path }) => path));
    expect([...checked].sort()).toEqual(mixed.map(({ path }) => path).sort());
    expect(checked.findLastIndex((path) => path.startsWith('/d/'))).toBe(999);
    // With 64 buckets the last 6 bits of a name's hash say which it is.
    const bucketOf = (path: string): number => createHash('sha1').update(path.slice(3)).digest().readUInt32BE(0) % 64;
    const buckets = checked.slice(0, 1_000).map(bucketOf);
    expect(buckets.filter((bucket, i) => bucket !== buckets[i - 1]).length).toBe(64);
  });

  it('keep the order of writes in different directories, and have bounded bytes', () => {
    const writes = [made('/a', 200_000), made('/b/c', 200_000), made('/a2', 200_000)];
    const slices = sliced([], writes);
    expect(slices.flatMap((slice) => slice.writes)).toEqual(writes);
    for (const slice of slices)
      expect(
        slice.writes.reduce((sum, write) => sum + (write as { content: Uint8Array }).content.length, 0),
      ).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  });

  it('of checks alone hold nothing but these; what replaces everything brings its own', () => {
    expect(sliced(names.map(there), []).map(({ checks, writes }) => [checks.length, writes.length])).toEqual([
      ...Array.from({ length: 1_000 / MAX_CHECK_REQUEST_COST }, () => [MAX_CHECK_REQUEST_COST, 0]),
    ]);
    const clear: Write = { kind: 'clear', meta: META };
    expect(sliced([there('/')], [clear], true).flatMap(({ checks }) => checks)).toEqual([]);
  });
});
