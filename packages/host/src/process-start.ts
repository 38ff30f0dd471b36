import { readFileSync } from 'node:fs';
import { isCode } from './host-error.js';

/** What the system says of a process that has ended and that its parent has not looked at yet. */
const ENDED = /^[ZXx]$/;

/** The start of a process of which the system says no more than that it runs. */
const UNKNOWN = '0';

/**
 * When a process began, in the system's ticks, to tell it from a later one of the same number; undefined where none runs. `0` for one
 * that runs where that is not told: elsewhere than on Linux, without `/proc`, and for processes of others that `/proc` hides.
 */
export function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === '') return isRunning(pid) ? UNKNOWN : undefined;
  // The second field may hold spaces and parentheses; behind it come the state and, as the 22nd of all, the start.
  const [state = 'X', ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ENDED.test(state) ? undefined : more[18];
}

/** Whether a process runs that began then; where either start is not known, whether one of that number does. */
export function isAlive(pid: number, started = UNKNOWN): boolean {
  const running = startOf(pid);
  return running !== undefined && (started === running || started === UNKNOWN || running === UNKNOWN);
}

/** A character a byte; empty where it cannot be read, as of a process that is gone. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Whether a process runs, or where the number is below zero a group of them. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
