import type { Step, StepsOptions } from './operations.js';

/** Operations as plain data: the same seed and options give the same steps for ever. */
export declare function steps(seed: number, count: number, options?: StepsOptions): Generator<Step, void, undefined>;
