import { systemClock } from '../engine/defaults.js';

/**
 * A clock for ages and pauses: goes on by what has passed where the system's is set back, and has what passed while the
 * machine slept.
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
