import type { FsStat } from 'just-bash';

const DEVICES = new Set(['/dev/null', '/dev/zero', '/dev/stdin', '/dev/stdout', '/dev/stderr']);

/**
 * Whether a path is one of the devices that scripts name. They are in no filesystem and in no listing: what is written to
 * them is gone, what is read is empty, so that `2>/dev/null` leaves no file behind.
 */
export function isDevice(path: string): boolean {
  return DEVICES.has(path);
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
