import type { GivenTime } from './arguments/times.js';
import { type Door, type Eventual, type Steps, step } from './door.js';

type Time = number | Date;

/** Sets two times, of which each may be the present. */
export function setTimes(
  door: Door,
  atime: GivenTime,
  mtime: GivenTime,
  set: (atime: Time, mtime: Time) => Eventual<void>,
): Eventual<void> {
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
