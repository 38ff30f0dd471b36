import type { Make, Subject } from '../subjects/subject.js';

/** A measured run over a prepared filesystem. */
export interface Pass {
  readonly operations: number;
  /** Returns a sum over all results, so that no call can be optimised away. */
  run(): number | Promise<number>;
  /** Expected result of {@link run}. */
  readonly expected: number;
  /** Prepares a further run, unmeasured. */
  renew?(): void | Promise<void>;
  /** Checks after each run, unmeasured, that the work was done: results alone may not show it. */
  holds?(): boolean | Promise<boolean>;
  /** Returns the figure, if it is not a time but the most bytes held during {@link run}. */
  most?(): number;
}

/** Display unit of a figure. */
export type Unit = 'ns' | 'µs' | 'ms' | 'MB/s' | 'B' | 'KB' | 'MB';

/** A row of the table. */
export interface Work {
  readonly title: string;
  readonly unit: Unit;
  /** Runs per process. If there are more than {@link warmUp}, that many at the beginning are not counted. */
  readonly passes: number;
  /** Runs that only warm up. Default 1; a row with one operation per pass needs more until it is compiled. */
  readonly warmUp?: number;
  /** Reports whether a subject can do it. */
  fits(subject: Subject): boolean;
  /** Runs once, unmeasured. */
  prepare(make: Make): Promise<Pass>;
  /** Measures bytes instead of time, on the heap or of the whole process, divided by {@link Pass.operations}. */
  readonly measures?: 'heap' | 'resident';
  /** Bytes that one operation moves, for MB/s. */
  readonly bytes?: number;
}

/** Runs `count` operations one after another and adds up their results. */
export async function sum(subject: Subject, count: number, operation: (index: number) => unknown): Promise<number> {
  let total = 0;
  if (subject.isAsync) for (let i = 0; i < count; i++) total += worth(await operation(i));
  else for (let i = 0; i < count; i++) total += worth(operation(i));
  return total;
}

/** Converts a result to a number: a length, a boolean, a number, 0 for undefined. */
function worth(answer: unknown): number {
  if (typeof answer === 'number') return answer;
  if (typeof answer === 'string') return answer.length;
  if (typeof answer === 'boolean') return answer ? 1 : 0;
  return (answer as { readonly length?: number } | undefined)?.length ?? 0;
}

/** Discards the result of a write, which differs between subjects. */
export const done = (answer: unknown): unknown =>
  answer instanceof Promise ? answer.then(() => undefined) : undefined;
