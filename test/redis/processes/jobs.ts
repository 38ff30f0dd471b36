import { measure } from '../bench/measure.js';
import { fill } from './fill.js';
import { openAndClose } from './open-and-close.js';
import { endPairs, readPairs, restorePairs, writePairs } from './pairs.js';
import { playClients } from './play-clients.js';

/** What a worker process can be asked to do. Arguments and answers go through structured cloning. */
export const jobs = { playClients, fill, writePairs, restorePairs, readPairs, endPairs, measure, openAndClose };
export type Jobs = typeof jobs;
