import { sharedJobs } from '../../faults/remote/shared-jobs.js';
import { measure } from '../bench/measure.js';
import { redisRemote } from '../remote.js';
import { openAndClose } from './open-and-close.js';

/** Jobs that a test process can run. */
export const jobs = { ...sharedJobs(redisRemote), measure, openAndClose };
export type Jobs = typeof jobs;
export const JOBS = new URL(import.meta.url);
