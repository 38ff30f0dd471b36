import { readFileSync } from 'node:fs';
import { isCode } from './host-error.js';

/** What the system says of a process that has ended and that its parent has not looked at yet. */
const ENDED = /^[ZXx]$/;

/**
 * When a process began, in the system's ticks, to tell it from a later one of the same number; undefined where none runs. Elsewhere
 * than on Linux `0` for any that runs.
 */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return isRunning(pid) ? '0' : undefined;
  const stat = textOf(`/proc/${pid}/stat`);
  // The second field may hold spaces and parentheses; behind it come the state and, as the 22nd of all, the start.
  const [state = 'X', ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ENDED.test(state) ? undefined : more[18];
}

/** A character a byte; empty where it cannot be read, as of a process that is gone. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
