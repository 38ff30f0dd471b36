import { type Batch, type Check, parentPath, type Write } from '@scratchfs/core';
import type { StagedContent } from '../format/request/batch.js';
import { hashOfName } from '../format/stored/name-hash.js';
import { costOfCheck, costOfWrite, MAX_CHECK_REQUEST_COST, MAX_REQUEST_BYTES, MAX_REQUEST_COST } from './batch-cost.js';
import { contentBytesOf } from './content-staging.js';

/** A part of a batch that fits into one request. */
export interface BatchPart {
  readonly checks: readonly Check[];
  /** Indexes of `checks` in the whole batch. */
  readonly positions: readonly number[];
  readonly writes: readonly Write[];
}

/**
 * Splits a batch into parts. Checks come before the writes that could invalidate them. The check that a name is free
 * comes with the write that creates the name, because both need the same bucket, unless an earlier write may change the
 * result.
 * @param replacesAll the batch begins with `clear`; its checks are left out, because the last request of the commit has
 *   them
 * @param maxCost returns the cost from which a part gets no more writes
 */
export function* splitBatch(
  batch: Batch,
  staged: ReadonlyMap<Write, StagedContent>,
  replacesAll: boolean,
  maxCost: () => number = () => MAX_REQUEST_COST,
): Generator<BatchPart, void, undefined> {
  const freeNames = new Map<string, number>();
  const firstChecks: number[] = [];
  const created = createdBeforeMoves(batch.writes);
  batch.checks.forEach((check, i) => {
    if (replacesAll) return;
    if (check.kind === 'entry' && check.id === null && created.has(check.path)) freeNames.set(check.path, i);
    else firstChecks.push(i);
  });
  const part = (positions: readonly number[], writes: readonly Write[]): BatchPart => ({
    checks: positions.map((at) => batch.checks[at] as Check),
    positions,
    writes,
  });
  let positions: number[] = [];
  let cost = 0;
  for (const at of checksByBucket(firstChecks, batch.checks)) {
    const last = positions.at(-1);
    const added = costOfCheck(last === undefined ? undefined : batch.checks[last], batch.checks[at] as Check);
    if (cost + added > MAX_CHECK_REQUEST_COST) {
      yield part(positions, []);
      [positions, cost] = [[], 0];
    }
    positions.push(at);
    cost += added;
  }
  let writes: Write[] = [];
  let bytes = 0;
  for (const write of writesByBucket(batch.writes)) {
    const added = staged.has(write) ? 0 : contentBytesOf(write);
    if (cost >= maxCost() || (writes.length > 0 && bytes + added > MAX_REQUEST_BYTES)) {
      yield part(positions, writes);
      [positions, writes, bytes, cost] = [[], [], 0, 0];
    }
    const check = write.kind === 'create' ? freeNames.get(write.path) : undefined;
    if (check !== undefined) {
      // Checked once: the name may be removed and created again later in the batch.
      freeNames.delete((batch.checks[check] as Check).path);
      positions.push(check);
    }
    cost += costOfWrite(writes.at(-1), write);
    writes.push(write);
    bytes += added;
  }
  if (writes.length > 0 || positions.length > 0) yield part(positions, writes);
}

/**
 * Returns the paths that are created before the first link, removal, move, copy or `clear`. Until then, no write to
 * another path changes whether they are free.
 */
function createdBeforeMoves(writes: readonly Write[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const write of writes) {
    if (write.kind === 'create') names.add(write.path);
    else if (write.kind !== 'write' && write.kind !== 'meta' && write.kind !== 'touch') break;
  }
  return names;
}

/** Orders consecutive creations in one directory by bucket, so that the server opens fewer buckets. */
function* writesByBucket(writes: readonly Write[]): Generator<Write> {
  for (let i = 0; i < writes.length; ) {
    const parent = parentOfCreated(writes[i] as Write);
    let end = i + 1;
    while (parent !== undefined && end < writes.length && parentOfCreated(writes[end] as Write) === parent) end += 1;
    const run = writes.slice(i, end);
    yield* sortedByBucket(run, (write) => (write as Extract<Write, { kind: 'create' }>).path);
    i = end;
  }
}

function parentOfCreated(write: Write): string | undefined {
  return write.kind === 'create' ? parentPath(write.path) : undefined;
}

/** Orders checks by directory and bucket, so that the server opens fewer buckets. */
function checksByBucket(positions: readonly number[], checks: readonly Check[]): number[] {
  const directories = new Map<string, number[]>();
  for (const at of positions) {
    const parent = parentPath((checks[at] as Check).path);
    const siblings = directories.get(parent);
    if (siblings === undefined) directories.set(parent, [at]);
    else siblings.push(at);
  }
  return [...directories.values()].flatMap((siblings) => sortedByBucket(siblings, (at) => (checks[at] as Check).path));
}

function sortedByBucket<T>(run: readonly T[], pathOf: (one: T) => string): T[] {
  if (run.length < 2) return [...run];
  return run
    .map((one) => ({ one, order: bucketOrder(pathOf(one)) }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one);
}

/**
 * Returns the bit-reversed hash of a name. The low bits select the bucket, so in this order the names of one bucket are
 * adjacent for any number of buckets.
 */
function bucketOrder(path: string): number {
  let hash = hashOfName(path.slice(path.lastIndexOf('/') + 1));
  let order = 0;
  for (let i = 0; i < 32; i++) {
    order = order * 2 + (hash & 1);
    hash >>>= 1;
  }
  return order;
}
