import { readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Returns CPU ms of this process and of the children that it waited for; theirs in steps of 10 ms. */
export function cpu(): number {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  return (user + system) / 1_000 + (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

export interface Measured {
  readonly cpu: number;
  readonly wall: number;
}

export async function measure(work: () => unknown): Promise<Measured> {
  const started = { cpu: cpu(), wall: performance.now() };
  await work();
  return { cpu: cpu() - started.cpu, wall: performance.now() - started.wall };
}
