/**
 * Flags of the lines of one side that have no counterpart on the other. One element more than there are lines; the last
 * is 0.
 */
export type Marks = Uint8Array;

/** Lines `aStart…aEnd` of one text correspond to `bStart…bEnd` of the other; ends are exclusive. */
export interface Change {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Converts the marks of two sides to changes, in order. */
export function changesOf(a: Marks, b: Marks): Change[] {
  const changes: Change[] = [];
  for (let i = 0, j = 0; i < a.length - 1 || j < b.length - 1; i++, j++) {
    const aStart = i;
    const bStart = j;
    while (a[i] === 1) i++;
    while (b[j] === 1) j++;
    if (i > aStart || j > bStart) changes.push({ aStart, aEnd: i, bStart, bEnd: j });
  }
  return changes;
}
