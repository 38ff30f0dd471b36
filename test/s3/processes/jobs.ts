import { fillJobs } from '../../faults/remote/fill.js';
import { pairJobs } from '../../faults/remote/pairs.js';
import { historyJobs } from '../../faults/remote/play-clients.js';
import { s3Remote } from '../remote.js';
import { writerJobs } from './writers.js';

/** What a process of the tests can be asked to do. */
export const jobs = { ...historyJobs(s3Remote), ...fillJobs(s3Remote), ...pairJobs(s3Remote), ...writerJobs };
export type Jobs = typeof jobs;
export const JOBS = new URL(import.meta.url);
