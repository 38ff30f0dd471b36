import { sharedJobs } from '../../faults/remote/shared-jobs.js';
import { measure } from '../bench/measure.js';
import { s3Remote } from '../remote.js';
import { writerJobs } from './writers.js';

/** Jobs that a test process can run. */
export const jobs = { ...sharedJobs(s3Remote), ...writerJobs, measure };
export type Jobs = typeof jobs;
export const JOBS = new URL(import.meta.url);
