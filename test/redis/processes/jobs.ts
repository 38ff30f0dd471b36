import { fillJobs } from '../../faults/remote/fill.js';
import { pairJobs } from '../../faults/remote/pairs.js';
import { historyJobs } from '../../faults/remote/play-clients.js';
import { measure } from '../bench/measure.js';
import { redisRemote } from '../remote.js';
import { openAndClose } from './open-and-close.js';

/** What a process of the tests can be asked to do. */
export const jobs = {
  ...historyJobs(redisRemote),
  ...fillJobs(redisRemote),
  ...pairJobs(redisRemote),
  measure,
  openAndClose,
};
export type Jobs = typeof jobs;
export const JOBS = new URL(import.meta.url);
