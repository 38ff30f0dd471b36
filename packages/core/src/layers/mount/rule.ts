import type { CallSequence } from '../call-sequence.js';

/** The rule of one method: the calls that it makes for its arguments. */
export type RuleOf = (args: readonly unknown[]) => CallSequence<unknown>;
