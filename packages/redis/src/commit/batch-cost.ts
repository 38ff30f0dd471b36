import { type Batch, type Check, parentPath, type Write } from '@scratchfs/core';

/** Estimated cost that one request should not exceed: a few milliseconds of the server. */
export const MAX_REQUEST_COST = 640;
/** Approximate maximum bytes of one request. */
export const MAX_REQUEST_BYTES = 300_000;
/** Estimated cost of each kind of write. */
const WRITE_COST: Readonly<Record<Write['kind'], number>> = {
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

/** Estimated cost of a check. The server needs less if a write to the same bucket follows. */
const CHECK_COST = 1;
/** Maximum cost of a part of a batch that only checks: each check may have to open a bucket of its own. */
export const MAX_CHECK_REQUEST_COST = 200;

/** Additional cost of a write or a check in another directory than the one before it. */
const WRITE_DIRECTORY_CHANGE_COST = 9;
const CHECK_DIRECTORY_CHANGE_COST = 2;

/** Estimates what a batch costs the server, in arbitrary units. */
export function costOf({ checks, writes }: Pick<Batch, 'checks' | 'writes'>): number {
  let cost = 0;
  for (let i = 0; i < checks.length; i++) cost += costOfCheck(checks[i - 1], checks[i] as Check);
  for (let i = 0; i < writes.length; i++) cost += costOfWrite(writes[i - 1], writes[i] as Write);
  return cost;
}

export function costOfCheck(previous: Check | undefined, check: Check): number {
  const isElsewhere = previous !== undefined && parentPath(previous.path) !== parentPath(check.path);
  return CHECK_COST + (isElsewhere ? CHECK_DIRECTORY_CHANGE_COST : 0);
}

export function costOfWrite(previous: Write | undefined, write: Write): number {
  const isElsewhere = previous !== undefined && directoryOf(previous) !== directoryOf(write);
  return WRITE_COST[write.kind] + (isElsewhere ? WRITE_DIRECTORY_CHANGE_COST : 0);
}

function directoryOf(write: Write): string {
  if (write.kind === 'clear') return '/';
  return parentPath('to' in write ? write.to : write.path);
}
