import type { Step } from '@scratchfs/testkit';
import { INTENDED_DIFFERENCES, type IntendedDifference } from './intended-differences.js';
import { lexical } from './virtual-path.js';

/** A step as the disk runs it, and the intended differences that apply to it. */
export interface Adapted {
  readonly step: Step;
  readonly rows: readonly IntendedDifference[];
  /** Error code that the filesystem must return; the disk is not asked. Undefined if the disk is asked. */
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
      // The text of a link stays as it is; `HostFolder` encodes it for the disk.
      if (name !== 'target' && matches(row, value)) args[name] = lexical(value as string);
    }
  }
  // Repeated slashes and inner `.` mean the same on both sides; the disk gets the plain form.
  for (const name of ['path', 'from', 'to']) {
    const value = args[name];
    if (typeof value === 'string' && value !== '' && value.startsWith('/')) args[name] = lexical(value);
  }
  return { step: { ...step, args } as Step, rows, refused: refused?.kind === 'refuse' ? refused.code : undefined };
}

function matches(row: IntendedDifference, value: unknown): boolean {
  return typeof value === 'string' && value !== '' && row.feature(value);
}
