import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';

/** Within one, a number of a process means the same: another machine, container or boot has others. */
export interface Place {
  readonly machine: string;
  /** Empty elsewhere than on Linux, and without `/proc`. */
  readonly boot: string;
  readonly processes: string;
}

export function placeNow(): Place {
  const [boot, processes] = [
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()),
    read(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return { machine: hostname(), boot, processes };
}

/** A word for it, to be part of a name. */
export function keyOf({ machine, boot, processes }: Place): string {
  return createHash('sha256').update(`${machine}\0${boot}\0${processes}`).digest('hex').slice(0, 16);
}

function read(from: () => string): string {
  try {
    return from();
  } catch {
    return '';
  }
}

export function isPlace(value: unknown): value is Place {
  const { machine, boot, processes } = Object(value) as Partial<Record<keyof Place, unknown>>;
  return [machine, boot, processes].every((text) => typeof text === 'string');
}

/** So long after the last sign of it, what goes on in a place that cannot be looked into is taken for cut off. */
export const UNSEEN_MS = 600_000;

/** Also a little ahead of the clock, as another machine's may be; what is far ahead was written before this one was set back. */
export function isRecent(time: number): boolean {
  return Math.abs(Date.now() - time) < UNSEEN_MS;
}

/** Whether whoever was there then went with the machine, if it was this one. */
export function isBeforeBoot(time: number): boolean {
  return time < Date.now() - uptime() * 1_000;
}

/** Whether a file or directory was written just now. */
export function isFresh(path: string): boolean {
  return isRecent(mtimeOf(path));
}

/** 0 where it is gone. */
export function mtimeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
