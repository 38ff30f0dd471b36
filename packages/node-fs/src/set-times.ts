import { FsError } from '@scratchfs/core';
import { type GivenTime, isTime } from './arguments/times.js';
import type { Blame } from './errors/node-error.js';
import { awaited, type Eventual, type FsDriver, type FsProcedure } from './fs-driver.js';

type Time = number | Date;

/** Sets two times; either may be the present. */
export function setTimes(
  driver: FsDriver,
  atime: GivenTime,
  mtime: GivenTime,
  blame: Blame,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): Eventual<void> {
  // The kernel checks the times before it looks up the file.
  if (!isTime(atime) || !isTime(mtime)) throw new FsError('EINVAL', blame);
  return atime === 'now' || mtime === 'now'
    ? driver.run(setToNow(driver, atime, mtime, set))
    : set(inMicroseconds(atime), inMicroseconds(mtime));
}

/** Truncates numbers to microseconds, as Node 20 does. */
function inMicroseconds(time: Time): Time {
  if (typeof time !== 'number') return time;
  const seconds = Math.trunc(time);
  return seconds + Math.trunc((time - seconds) * 1e6) / 1e6;
}

function* setToNow(
  driver: FsDriver,
  atime: GivenTime,
  mtime: GivenTime,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): FsProcedure<void> {
  const now = new Date(yield* awaited(driver.fs.run((view) => view.now(), [])));
  yield* awaited(set(atime === 'now' ? now : inMicroseconds(atime), mtime === 'now' ? now : inMicroseconds(mtime)));
}
