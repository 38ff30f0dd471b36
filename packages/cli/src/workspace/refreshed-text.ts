import type { RefreshResult } from '@scratchfs/workspace';
import type { Call } from '../table/command-spec.js';
import { count } from '../terminal/quantities.js';
import { conflictLines } from './diff-text.js';
import { takeYours } from './hint-text.js';
import { pathText } from './operation-text.js';

/** Returns a line for each path that was merged with the disk or is in conflict with it, and advice about conflicts. */
export function refreshedLines({ merged, conflicts }: RefreshResult, call: Call): string[] {
  const { output } = call;
  const lines = [
    ...merged.map((path) => `  ${output.style.changed('merged')}  ${pathText(path)}`),
    ...conflictLines(conflicts, output),
  ];
  if (conflicts.length > 0)
    lines.push(
      '',
      `${count(conflicts.length, 'conflict')}: the attempt keeps its version, and accept does not write it.`,
      `Take yours, then edit that: ${takeYours(call, conflicts)}`,
    );
  return lines;
}

/** Combines the refresh results of several operations: all merged paths, and the last conflict of each path. */
export function joined(results: readonly RefreshResult[]): RefreshResult {
  const conflicts = new Map(results.flatMap((one) => one.conflicts.map((conflict) => [conflict.path, conflict])));
  return { merged: [...new Set(results.flatMap(({ merged }) => merged))], conflicts: [...conflicts.values()] };
}
