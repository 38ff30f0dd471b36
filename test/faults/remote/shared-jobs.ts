import { fillJobs } from './fill.js';
import { pairJobs } from './pairs.js';
import { historyJobs } from './play-clients.js';
import type { Remote } from './remote.js';

/** The jobs of a process on every remote storage. */
export function sharedJobs<P>(remote: Remote<P>) {
  return { ...historyJobs(remote), ...fillJobs(remote), ...pairJobs(remote) };
}
export type SharedJobs<P> = ReturnType<typeof sharedJobs<P>>;
