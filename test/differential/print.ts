import { callOf, type Step } from '@scratchfs/testkit';
import type { Difference } from './fuzz.js';
import { describe } from './outcome.js';

/** Maximum number of lines shown of a sequence that could not be shortened; the seed replays all of it. */
const MAX_LINES = 80;

/** Formats a sequence as code that can be pasted into a test. */
export function printSteps(steps: readonly Step[]): string {
  const lines = steps.map((step) => {
    const call = callOf(step);
    const receiver = call.on === 'fileSystem' ? 'fs' : `handle${call.on}`;
    const text = `${receiver}.${call.method}Sync(${call.args.map(literal).join(', ')});`;
    return step.op === 'open' ? `handle${step.args.slot} = ${text}` : text;
  });
  const before = lines.length > MAX_LINES ? [`// ${lines.length - MAX_LINES} more lines`] : [];
  return ['const fs = createFileSystem();', ...before, ...lines.slice(-MAX_LINES)].join('\n');
}

/** Formats a difference with the sequence that leads to it. */
export function printDifference(difference: Difference, steps: readonly Step[]): string {
  const { expected, actual, signature } = difference;
  const line = (side: typeof expected) => (typeof side === 'string' ? side : describe(side));
  return `${signature}\n${printSteps(steps)}\n// node:fs:   ${line(expected)}\n// scratchfs: ${line(actual)}`;
}

function literal(value: unknown): string {
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof Uint8Array) {
    const isPlain = value.every((byte, i) => byte === (((value[0] ?? 0) + i + (i >>> 8)) & 0xff));
    if (value.length <= 16) return `new Uint8Array([${[...value].join(', ')}])`;
    if (value.every((byte) => byte === 0)) return `new Uint8Array(${value.length})`;
    return isPlain
      ? `bytesOf({ size: ${value.length}, fill: ${value[0]} })`
      : `new Uint8Array([${[...value].join(', ')}])`;
  }
  if (value === undefined) return 'undefined';
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const fields = Object.entries(value).map(
      ([key, inner]) => `${key}: ${key === 'mode' ? octal(inner) : literal(inner)}`,
    );
    return `{ ${fields.join(', ')} }`;
  }
  return JSON.stringify(value);
}

function octal(value: unknown): string {
  return typeof value === 'number' ? `0o${value.toString(8)}` : literal(value);
}
