import type { Make, Subject } from '../subjects/subject.js';

/** What is run and measured, over a filesystem that was made for it. */
export interface Pass {
  readonly operations: number;
  /** Answers a sum over all results, so that none of them can be left out. */
  run(): number | Promise<number>;
  /** What {@link run} has to answer. */
  readonly expected: number;
  /** Makes ready for a further run, unmeasured. */
  renew?(): void | Promise<void>;
  /** Looks after each run, unmeasured, whether what was to be done is done: answers alone may not say it. */
  holds?(): boolean | Promise<boolean>;
  /** The figure, where it is no time but the most bytes that were held in {@link run}. */
  most?(): number;
}

/** What a figure is shown in. */
export type Unit = 'ns' | 'µs' | 'ms' | 'MB/s' | 'B' | 'KB' | 'MB';

/** A row of the table. */
export interface Work {
  readonly title: string;
  readonly unit: Unit;
  /** Runs in one process; the first of them only warms up, where there are several, and counts for nothing. */
  readonly passes: number;
  /** How many only warm up. Default 1: of what is one operation a pass, an engine needs some to compile it. */
  readonly warmUp?: number;
  /** Whether a subject can do it. */
  fits(subject: Subject): boolean;
  /** Is done once, and not measured. */
  prepare(make: Make): Promise<Pass>;
  /** Answers bytes instead of being timed, on the heap or in the whole process; {@link Pass.operations} divides them. */
  readonly measures?: 'heap' | 'resident';
  /** What one operation moves, for MB/s. */
  readonly bytes?: number;
}

/** Runs `count` operations one after the other and adds up their answers. */
export async function sum(subject: Subject, count: number, operation: (index: number) => unknown): Promise<number> {
  let total = 0;
  if (subject.isAsync) for (let i = 0; i < count; i++) total += worth(await operation(i));
  else for (let i = 0; i < count; i++) total += worth(operation(i));
  return total;
}

/** A number out of any answer: a length, a truth, a number, 0 for what has nothing to say. */
function worth(answer: unknown): number {
  if (typeof answer === 'number') return answer;
  if (typeof answer === 'string') return answer.length;
  if (typeof answer === 'boolean') return answer ? 1 : 0;
  return (answer as { readonly length?: number } | undefined)?.length ?? 0;
}

/** For writes: their answers differ from subject to subject and do not count. */
export const done = (answer: unknown): unknown =>
  answer instanceof Promise ? answer.then(() => undefined) : undefined;
