import { systemClock } from '../engine/defaults.js';

/**
 * Returns a clock for ages and pauses: it advances by the elapsed time if the system clock is set back, and includes
 * time in which the machine slept.
 */
export function steadyClock(): () => number {
  let at = systemClock();
  let seen = performance.now();
  return () => {
    const now = performance.now();
    at = Math.max(systemClock(), at + now - seen);
    seen = now;
    return at;
  };
}
