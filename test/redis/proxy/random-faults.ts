import { Random } from '@scratchfs/testkit';
import type { CommandFault, ProxyPlan } from './tcp-proxy.js';

/** Error replies of a server that cannot serve at the moment, in its wording. */
export const SERVER_ERRORS = {
  loading: 'LOADING Redis is loading the dataset in memory',
  readonly: "READONLY You can't write against a read only replica.",
  busy: 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  masterDown: "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  tryAgain: 'TRYAGAIN Multiple keys request during rehashing of slot',
  clusterDown: 'CLUSTERDOWN The cluster is down',
  outOfMemory: "OOM command not allowed when used memory > 'maxmemory'.",
  noScript: 'NOSCRIPT No matching script. Please use EVAL.',
  misconfigured: 'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
} as const;

const FAULTS: readonly CommandFault[] = [
  'before',
  'after',
  'hang',
  'lost',
  { delayMs: 3 },
  { delayMs: 20 },
  { error: SERVER_ERRORS.loading },
  { error: SERVER_ERRORS.noScript },
  { error: SERVER_ERRORS.busy },
];

/**
 * Returns a plan that injects faults with a probability at each command; the same seed and commands give the same
 * faults.
 */
export function randomCommandFaults(seed: number, probability: number): ProxyPlan {
  const random = new Random(seed);
  return () => (random.chance(probability) ? random.pick(FAULTS) : 'none');
}
