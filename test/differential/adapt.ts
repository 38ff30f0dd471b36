import type { Step } from '@scratchfs/testkit';
import { INTENDED_DIFFERENCES, type IntendedDifference } from './intended-differences.js';
import { lexical } from './virtual-path.js';

/** A step as the disk is asked it, and which rows of the intended differences had a part in that. */
export interface Adapted {
  readonly step: Step;
  readonly rows: readonly IntendedDifference[];
  /** The code that must be answered without asking the disk. */
  readonly refused: string | undefined;
}

/** Applies the rows that match a step. */
export function adapt(step: Step, differences: readonly IntendedDifference[] = INTENDED_DIFFERENCES): Adapted {
  const args: Record<string, unknown> = { ...step.args };
  const rows = differences.filter(
    (row) => row.operations.includes(step.op) && row.arguments.some((name) => matches(row, args[name])),
  );
  const refused = rows.find((row) => row.treatment.kind === 'refuse')?.treatment;
  for (const row of rows) {
    if (row.treatment.kind !== 'normalize') continue;
    for (const name of row.arguments) {
      const value = args[name];
      // The text of a link is kept as it is; the folder sees to what it means.
      if (name !== 'target' && matches(row, value)) args[name] = lexical(value as string);
    }
  }
  // Two slashes in a row and a `.` in the middle mean the same to both; the disk is asked the plain form.
  for (const name of ['path', 'from', 'to']) {
    const value = args[name];
    if (typeof value === 'string' && value !== '' && value.startsWith('/')) args[name] = lexical(value);
  }
  return { step: { ...step, args } as Step, rows, refused: refused?.kind === 'refuse' ? refused.code : undefined };
}

function matches(row: IntendedDifference, value: unknown): boolean {
  return typeof value === 'string' && value !== '' && row.feature(value);
}
