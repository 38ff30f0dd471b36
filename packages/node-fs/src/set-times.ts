import { FsError } from '@scratchfs/core';
import { type GivenTime, isTime } from './arguments/times.js';
import { type Door, type Eventual, type Steps, step } from './door.js';
import type { Blame } from './errors/node-error.js';

type Time = number | Date;

/** Sets two times, of which each may be the present. */
export function setTimes(
  door: Door,
  atime: GivenTime,
  mtime: GivenTime,
  blame: Blame,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): Eventual<void> {
  // The kernel looks at the times before it looks for the file.
  if (!isTime(atime) || !isTime(mtime)) throw new FsError('EINVAL', blame);
  return atime === 'now' || mtime === 'now' ? door.run(setToNow(door, atime, mtime, set)) : set(atime, mtime);
}

function* setToNow(
  door: Door,
  atime: GivenTime,
  mtime: GivenTime,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): Steps<void> {
  const now = new Date(yield* step(door.fs.run((view) => view.now(), [])));
  yield* step(set(atime === 'now' ? now : atime, mtime === 'now' ? now : mtime));
}
