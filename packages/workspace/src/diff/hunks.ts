import { formatUnified } from '@scratchfs/core/diff';
import type { Hunk } from '../attempt-types.js';

/** Hunks between two texts, and the numbers of added and removed lines. */
export interface TextDiff {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Compares two texts, and names the hunks `<prefix>-1`, `<prefix>-2` … Undefined if they differ and one of them is
 * binary.
 */
export function textDiff(before: Uint8Array, after: Uint8Array, prefix: string): TextDiff | undefined {
  const lines = formatUnified({ path: 'x', before, after }).split('\n');
  const first = lines.findIndex((line) => HEADER.test(line));
  if (first < 0) {
    const isBinary = lines.some((line) => line.startsWith('Binary files '));
    return isBinary ? undefined : { hunks: [], additions: 0, deletions: 0 };
  }
  const hunks: Hunk[] = [];
  const counts = { '+': 0, '-': 0 };
  lines.pop();
  for (let at = first; at < lines.length; ) {
    const [, oldStart, oldLines = '1', newStart, newLines = '1'] = HEADER.exec(lines[at] as string) as string[];
    const body: string[] = [];
    // A line of a body has a sign in front, so none of them looks like a header.
    for (at++; at < lines.length && !(lines[at] as string).startsWith('@'); at++) {
      const line = lines[at] as string;
      body.push(line);
      const sign = line[0];
      if (sign === '+' || sign === '-') counts[sign]++;
    }
    hunks.push({
      id: `${prefix}-${hunks.length + 1}`,
      oldStart: Number(oldStart),
      oldLines: Number(oldLines),
      newStart: Number(newStart),
      newLines: Number(newLines),
      lines: body,
    });
  }
  return { hunks, additions: counts['+'], deletions: counts['-'] };
}

/** Returns the old text with some of the hunks applied that lead to the new text. */
export function applyHunks(before: Uint8Array, after: Uint8Array, hunks: readonly Hunk[]): Uint8Array {
  const [old, changed] = [lineStarts(before), lineStarts(after)];
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { oldStart, oldLines, newStart, newLines } of [...hunks].sort((a, b) => a.oldStart - b.oldStart)) {
    const from = firstLine(oldStart, oldLines);
    const to = firstLine(newStart, newLines);
    parts.push(before.subarray(old[at], old[from]));
    parts.push(after.subarray(changed[to], changed[to + newLines]));
    at = from + oldLines;
  }
  parts.push(before.subarray(old[at]));
  return Buffer.concat(parts);
}

/** Returns the number of a range's first line, from 0. An empty range is named by the line before it. */
function firstLine(start: number, count: number): number {
  return count === 0 ? start : start - 1;
}

const NEWLINE = 10;

/** Returns the offsets of all lines, and of the end. */
function lineStarts(text: Uint8Array): number[] {
  const starts = [0];
  for (let at = text.indexOf(NEWLINE); at >= 0; at = text.indexOf(NEWLINE, at + 1)) starts.push(at + 1);
  if (starts.at(-1) !== text.length) starts.push(text.length);
  return starts;
}
