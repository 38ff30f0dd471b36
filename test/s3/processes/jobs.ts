import { sharedJobs } from '../../faults/remote/shared-jobs.js';
import { s3Remote } from '../remote.js';
import { writerJobs } from './writers.js';

/** What a process of the tests can be asked to do. */
export const jobs = { ...sharedJobs(s3Remote), ...writerJobs };
export type Jobs = typeof jobs;
export const JOBS = new URL(import.meta.url);
