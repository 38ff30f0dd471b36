import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Within one, a number of a process means the same: another machine, container or boot has others. */
export interface Place {
  readonly machine: string;
  /** Empty elsewhere than on Linux. */
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
