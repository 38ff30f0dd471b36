import { toMode } from '../arguments/mode.js';
import { type Given, isBigint } from '../arguments/options.js';
import { toTime } from '../arguments/times.js';
import { checkLength, checkNativeFd, checkOwner } from '../arguments/values.js';
import { nodeFunction } from '../node-function.js';
import { toBigIntStats, toStats } from '../results/stats.js';
import { setTimes } from '../set-times.js';

export const fstat = nodeFunction(
  2,
  (_, fd, options = {}) => ({ fd: checkNativeFd(fd), bigint: isBigint(options as Given) }),
  ({ driver, descriptors }, { fd, bigint }) =>
    driver.map(descriptors.get(fd, 'fstat').file.stat(), (stats) => (bigint ? toBigIntStats(stats) : toStats(stats))),
);

export const fchmod = nodeFunction(
  2,
  (_, fd, mode) => ({ mode: toMode(mode), fd: checkNativeFd(fd) }),
  ({ descriptors }, { fd, mode }) => descriptors.get(fd, 'fchmod').file.chmod(mode),
);

export const fchown = nodeFunction(
  3,
  (_, fd, uid, gid) => ({ uid: checkOwner(uid, 'uid'), gid: checkOwner(gid, 'gid'), fd: checkNativeFd(fd) }),
  ({ descriptors }, { fd, uid, gid }) => descriptors.get(fd, 'fchown').file.chown(uid, gid),
);

export const futimes = nodeFunction(
  3,
  (_, fd, atime, mtime) => ({ atime: toTime(atime, 'atime'), mtime: toTime(mtime, 'mtime'), fd: checkNativeFd(fd) }),
  ({ driver, descriptors }, { fd, atime, mtime }) =>
    setTimes(driver, atime, mtime, { syscall: 'futime' }, (a, m) => descriptors.get(fd, 'futime').file.utimes(a, m)),
);

export const ftruncate = nodeFunction(
  2,
  (_, fd, length = 0) => ({ length: checkLength(length), fd: checkNativeFd(fd) }),
  ({ descriptors }, { fd, length }) => descriptors.get(fd, 'ftruncate').truncate(length),
);

function syncOf(syscall: string) {
  return nodeFunction(
    1,
    (_, fd) => checkNativeFd(fd),
    ({ descriptors }, fd) => {
      descriptors.get(fd, syscall);
    },
  );
}

/** A write is complete when it returns, so these only check the descriptor. */
export const fsync = syncOf('fsync');
export const fdatasync = syncOf('fdatasync');

export const close = nodeFunction(
  1,
  (_, fd) => checkNativeFd(fd),
  ({ descriptors }, fd) => descriptors.remove(fd).file.close(),
);
