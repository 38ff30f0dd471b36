import { type Batch, type Check, parentPath, type Write } from '@scratchfs/core';
import type { Staged } from '../format/request/batch.js';
import { hashOfName } from '../format/stored/name-hash.js';
import { bytesOf } from './content-staging.js';

/** Work of one request: keeps the server's part of it to a few milliseconds. */
export const MAX_WORK = 640;
/** Bytes of one request. */
export const MAX_BYTES = 300_000;
/** Work of a write; a name that comes or goes means more of it. */
const WORK: Readonly<Record<Write['kind'], number>> = {
  create: 4,
  link: 10,
  remove: 8,
  move: 10,
  copy: 10,
  write: 6,
  meta: 3,
  touch: 2,
  clear: 2,
};

/** Of a check; those that a write comes with cost less. */
const CHECK_WORK = 1;
/** Work of a request that only checks: each of them may have to open a bucket of its own. */
export const MAX_CHECK_WORK = 200;

/** Of what is in another directory than the one before: of a write, of a check. */
const WRITE_ELSEWHERE = 9;
const CHECK_ELSEWHERE = 2;

export function workOf({ checks, writes }: Pick<Batch, 'checks' | 'writes'>): number {
  let work = 0;
  for (let i = 0; i < checks.length; i++) work += checkWork(checks[i - 1], checks[i] as Check);
  for (let i = 0; i < writes.length; i++) work += writeWork(writes[i - 1], writes[i] as Write);
  return work;
}

function checkWork(before: Check | undefined, check: Check): number {
  const isElsewhere = before !== undefined && parentPath(before.path) !== parentPath(check.path);
  return CHECK_WORK + (isElsewhere ? CHECK_ELSEWHERE : 0);
}

function writeWork(before: Write | undefined, write: Write): number {
  const isElsewhere = before !== undefined && directoryOf(before) !== directoryOf(write);
  return WORK[write.kind] + (isElsewhere ? WRITE_ELSEWHERE : 0);
}

function directoryOf(write: Write): string {
  if (write.kind === 'clear') return '/';
  return parentPath('to' in write ? write.to : write.path);
}

/** Part of a batch that one request may have. */
export interface Slice {
  readonly checks: readonly Check[];
  /** Where these stand among the checks of the whole batch. */
  readonly positions: readonly number[];
  readonly writes: readonly Write[];
}

/**
 * A batch in portions, checks before the writes that could make them untrue. That a name is free is looked at together
 * with the write that takes it: both need the same bucket. What replaces everything brings its checks along itself.
 */
export function* slicesOf(
  batch: Batch,
  staged: ReadonlyMap<Write, Staged>,
  replacesAll: boolean,
  /** Work that the next portion with writes may have. */
  most: () => number = () => MAX_WORK,
): Generator<Slice, void, undefined> {
  const free = new Map<string, number>();
  const first: number[] = [];
  const created = madeBeforeMoves(batch.writes);
  batch.checks.forEach((check, i) => {
    if (replacesAll) return;
    if (check.kind === 'entry' && check.id === null && created.has(check.path)) free.set(check.path, i);
    else first.push(i);
  });
  const slice = (positions: readonly number[], some: readonly Write[]): Slice => ({
    checks: positions.map((at) => batch.checks[at] as Check),
    positions,
    writes: some,
  });
  let positions: number[] = [];
  let work = 0;
  for (const at of inOrderOfBuckets(first, batch.checks)) {
    const last = positions.at(-1);
    const more = checkWork(last === undefined ? undefined : batch.checks[last], batch.checks[at] as Check);
    if (work + more > MAX_CHECK_WORK) {
      yield slice(positions, []);
      [positions, work] = [[], 0];
    }
    positions.push(at);
    work += more;
  }
  let some: Write[] = [];
  let bytes = 0;
  for (const write of inBuckets(batch.writes)) {
    const more = staged.has(write) ? 0 : bytesOf(write);
    if (work >= most() || (some.length > 0 && bytes + more > MAX_BYTES)) {
      yield slice(positions, some);
      [positions, some, bytes, work] = [[], [], 0, 0];
    }
    const check = write.kind === 'create' ? free.get(write.path) : undefined;
    if (check !== undefined) {
      // Once only: the name may be taken away and made again.
      free.delete((batch.checks[check] as Check).path);
      positions.push(check);
    }
    work += writeWork(some.at(-1), write);
    some.push(write);
    bytes += more;
  }
  if (some.length > 0 || positions.length > 0) yield slice(positions, some);
}

/** Names that are made before any other moves or goes: until then what is free is what was free before. */
function madeBeforeMoves(writes: readonly Write[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const write of writes) {
    if (write.kind === 'create') names.add(write.path);
    else if (write.kind !== 'write' && write.kind !== 'meta' && write.kind !== 'touch') break;
  }
  return names;
}

/** Names that are made in one directory one after the other, in the order of the buckets that they will be in. */
function* inBuckets(writes: readonly Write[]): Generator<Write> {
  for (let i = 0; i < writes.length; ) {
    const parent = parentOf(writes[i] as Write);
    let end = i + 1;
    while (parent !== undefined && end < writes.length && parentOf(writes[end] as Write) === parent) end += 1;
    const run = writes.slice(i, end);
    yield* sortedByBucket(run, (write) => (write as Extract<Write, { kind: 'create' }>).path);
    i = end;
  }
}

function parentOf(write: Write): string | undefined {
  return write.kind === 'create' ? parentPath(write.path) : undefined;
}

/** Positions of checks: those of one directory one after the other, so that a bucket is opened once for all it has. */
function inOrderOfBuckets(positions: readonly number[], checks: readonly Check[]): number[] {
  const directories = new Map<string, number[]>();
  for (const at of positions) {
    const parent = parentPath((checks[at] as Check).path);
    const own = directories.get(parent);
    if (own === undefined) directories.set(parent, [at]);
    else own.push(at);
  }
  return [...directories.values()].flatMap((own) => sortedByBucket(own, (at) => (checks[at] as Check).path));
}

function sortedByBucket<T>(run: readonly T[], pathOf: (one: T) => string): T[] {
  if (run.length < 2) return [...run];
  return run
    .map((one) => ({ one, order: bucketOrder(pathOf(one)) }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one);
}

/** Buckets are told apart by the last bits of a hash: turned round, neighbours are in one bucket however many there are. */
function bucketOrder(path: string): number {
  let hash = hashOfName(path.slice(path.lastIndexOf('/') + 1));
  let order = 0;
  for (let i = 0; i < 32; i++) {
    order = order * 2 + (hash & 1);
    hash >>>= 1;
  }
  return order;
}
