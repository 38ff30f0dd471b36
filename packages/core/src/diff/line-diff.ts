import { checkInteger, checkOptions } from '../engine/arguments.js';
import { runSteps } from '../engine/scheduling/time-slice.js';
import { DEFAULT_MAX_WORK, findChanges } from './line-changes.js';
import { numberStrings } from './line-numbers.js';

/** A run of lines of `a` replaced by a run of lines of `b`. Lines count from 0; ends are exclusive. */
export interface LineChange {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

export interface LineDiffOptions {
  /**
   * Number of comparisons after which the search for equal lines ends. Lines that it has not matched count as replaced.
   * Default 20 million, about 0.2 s.
   */
  readonly maxWork?: number | undefined;
}

/**
 * Returns the changes from one list of lines to another by the algorithm of Myers in linear space, with as few removed
 * and added lines as possible. Lines found on one side only are set aside first. The work is bounded, in total and for
 * each region: beyond a bound the result is correct, but perhaps not the shortest.
 * @throws TypeError, RangeError if `maxWork` is not an integer ≥ 0, TypeError for an unknown option
 */
export function diffLines(a: readonly string[], b: readonly string[], options?: LineDiffOptions): LineChange[] {
  const maxWork = checkInteger(checkOptions(options, ['maxWork'], 'diffLines').maxWork ?? DEFAULT_MAX_WORK, 'maxWork');
  const { start, end } = commonEnds(a, b);
  const numbers = numberStrings(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const changes = runSteps(findChanges(numbers, maxWork));
  return Array.from({ length: changes.length / 4 }, (_, i) => ({
    aStart: (changes[i * 4] as number) + start,
    aEnd: (changes[i * 4 + 1] as number) + start,
    bStart: (changes[i * 4 + 2] as number) + start,
    bEnd: (changes[i * 4 + 3] as number) + start,
  }));
}

function commonEnds(a: readonly string[], b: readonly string[]): { start: number; end: number } {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return { start, end };
}
