import { readFileSync } from 'node:fs';
import { isCode } from './host-error.js';

/** States in `/proc/PID/stat` of a process that has ended and that its parent has not waited for yet. */
const ENDED = /^[ZXx]$/;

/** Start time of a running process for which the system does not report one. */
const UNKNOWN = '0';

/**
 * Returns the start of a process in clock ticks of the system, to tell it from a later process with the same number.
 * Returns undefined if no such process runs, and `0` if it runs but its start is unknown: on platforms other than
 * Linux, without `/proc`, and for other users' processes that `/proc` hides.
 */
export function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === '') return isRunning(pid) ? UNKNOWN : undefined;
  // The second field may contain spaces and parentheses. After it come the state and, as the 22nd field of all, the
  // start.
  const [state = 'X', ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ENDED.test(state) ? undefined : more[18];
}

/**
 * Reports whether the process with that number and start runs. If either start is unknown, only the number is compared.
 */
export function isAlive(pid: number, started = UNKNOWN): boolean {
  const running = startOf(pid);
  return running !== undefined && (started === running || started === UNKNOWN || running === UNKNOWN);
}

/**
 * Reads a file as Latin-1, one character a byte. Returns an empty string if it cannot be read, as after a process has
 * ended.
 */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Reports whether a process runs, or, for a negative number, whether its process group does. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
