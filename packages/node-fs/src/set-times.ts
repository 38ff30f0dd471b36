import { FsError } from '@scratchfs/core';
import { type GivenTime, isTime } from './arguments/times.js';
import { type Door, type Eventual, type Steps, step } from './door.js';
import type { Blame } from './errors/node-error.js';

type Time = number | Date;

/** Sets two times; either may be the present. */
export function setTimes(
  door: Door,
  atime: GivenTime,
  mtime: GivenTime,
  blame: Blame,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): Eventual<void> {
  // The kernel checks the times before it looks up the file.
  if (!isTime(atime) || !isTime(mtime)) throw new FsError('EINVAL', blame);
  return atime === 'now' || mtime === 'now'
    ? door.run(setToNow(door, atime, mtime, set))
    : set(inMicroseconds(atime), inMicroseconds(mtime));
}

/** Truncates numbers to microseconds, as Node 20 does. */
function inMicroseconds(time: Time): Time {
  if (typeof time !== 'number') return time;
  const seconds = Math.trunc(time);
  return seconds + Math.trunc((time - seconds) * 1e6) / 1e6;
}

function* setToNow(
  door: Door,
  atime: GivenTime,
  mtime: GivenTime,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): Steps<void> {
  const now = new Date(yield* step(door.fs.run((view) => view.now(), [])));
  yield* step(set(atime === 'now' ? now : inMicroseconds(atime), mtime === 'now' ? now : inMicroseconds(mtime)));
}
