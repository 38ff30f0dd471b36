import { toPath } from '../arguments/paths.js';
import { toTime } from '../arguments/times.js';
import { nodeFunction } from '../node-function.js';
import { setTimes } from '../set-times.js';

function utimesOf(method: 'utimes' | 'lutimes') {
  const syscall = method.slice(0, -1);
  return nodeFunction(
    3,
    (_, path, atime, mtime) => ({ path: toPath(path), atime: toTime(atime), mtime: toTime(mtime) }),
    ({ driver }, { path, atime, mtime }) =>
      setTimes(driver, atime, mtime, { syscall, path }, (a, m) => driver.fs[method](path, a, m)),
  );
}

export const utimes = utimesOf('utimes');
export const lutimes = utimesOf('lutimes');
