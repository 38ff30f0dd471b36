import type { FsStat } from 'just-bash';

const SINKS = /^\/dev\/(null|zero|tty|stdin|stdout|stderr|fd\/[012])$/;
const OTHERS = /^\/dev\/(fd\/\d+|full|u?random|console|ptmx|tty\w+|pts\/\d+)$/;

/**
 * Reports whether a path is one of the devices that scripts name. `BashFs` discards writes to them and reads
 * nothing from them, so that `2>/dev/null` leaves no file behind.
 */
export function isSink(path: string): boolean {
  return SINKS.test(path);
}

/**
 * Reports whether a path is a device or a descriptor. Files that the shell keeps there, as for `<(list)`, are not part
 * of the filesystem.
 */
export function isDevice(path: string): boolean {
  return isSink(path) || OTHERS.test(path);
}

export function deviceStat(path: string): FsStat {
  return {
    isFile: true,
    isDirectory: false,
    isSymbolicLink: false,
    mode: 0o666,
    size: 0,
    mtime: new Date(0),
    identity: `device:${path}`,
  };
}
