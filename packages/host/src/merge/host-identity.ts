import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';

/**
 * Identity of a host within which a process number means the same process. With Linux's `/proc`, another machine,
 * container or boot has another identity.
 */
export interface HostIdentity {
  readonly machine: string;
  /** Id of the boot. Empty without Linux's `/proc`. */
  readonly boot: string;
  readonly processes: string;
}

export function currentHost(): HostIdentity {
  const [boot, processes] = [
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()),
    read(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return { machine: hostname(), boot, processes };
}

/** Returns a short key of a host that can be part of a file name. */
export function hostKeyOf({ machine, boot, processes }: HostIdentity): string {
  return createHash('sha256').update(`${machine}\0${boot}\0${processes}`).digest('hex').slice(0, 16);
}

function read(from: () => string): string {
  try {
    return from();
  } catch {
    return '';
  }
}

export function isHostIdentity(value: unknown): value is HostIdentity {
  const { machine, boot, processes } = Object(value) as Partial<Record<keyof HostIdentity, unknown>>;
  return [machine, boot, processes].every((text) => typeof text === 'string');
}

/** Milliseconds after the last write until work on a host that cannot be inspected is considered interrupted. */
export const UNSEEN_MS = 600_000;

/**
 * Reports whether a time is recent. It may be a little in the future, because another machine's clock may be ahead; a
 * time far in the future was written before this clock was set back.
 */
export function isRecent(time: number): boolean {
  return Math.abs(Date.now() - time) < UNSEEN_MS;
}

/** Reports whether a time is before the boot of this machine, so that its processes of that time are gone. */
export function isBeforeBoot(time: number): boolean {
  return time < Date.now() - uptime() * 1_000;
}

/** Reports whether a file or directory was written recently. */
export function isFresh(path: string): boolean {
  return isRecent(mtimeOf(path));
}

/** Returns the modification time in epoch milliseconds; 0 if the path does not exist. */
export function mtimeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
