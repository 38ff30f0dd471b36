import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeDiff } from './change-diff.js';

/** Applies a unified diff as `patch` does, without fuzz. */
function patched(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const out: string[] = [];
  let at = 0;
  const body = diff.split('\n').slice(2);
  for (let i = 0; i < body.length; i++) {
    const line = body[i] as string;
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (hunk !== null) {
      // The number of an empty range is that of the line before it.
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      out.push(...lines.slice(at, start));
      at = start;
      continue;
    }
    const text = `${line.slice(1)}${body[i + 1]?.startsWith('\\') === true ? '' : '\n'}`;
    if (line.startsWith('\\')) continue;
    if (line[0] !== '+') expect(lines[at++]).toBe(text);
    if (line[0] !== '-') out.push(text);
  }
  return [...out, ...lines.slice(at)].join('');
}

const line = fc.constantFrom('a', 'b', '', 'x y', '@@ -1 +1 @@', '\r', '-', '😀');
const text = fc
  .tuple(fc.array(line, { maxLength: 40 }), fc.boolean())
  .map(([lines, isEnded]) => lines.join('\n') + (isEnded ? '\n' : ''));

describe('changeDiff()', () => {
  it('leads from one text to the other, whatever they are', () => {
    fc.assert(
      fc.property(text, text, text, text, (start, before, after, end) => {
        const [a, b] = [start + before + end, start + after + end];
        const diff = changeDiff('/f', a, b, 100_000);
        expect(a === b ? a : patched(a, diff)).toBe(b);
      }),
      { numRuns: 500 },
    );
  });

  it('shows only a few lines around a change in a large text, with the numbers of the whole', () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `line ${i + 1}\n`).join('');
    const diff = changeDiff('/d/f', text, text.replace('line 50000\n', 'new\n'), 1_000);
    expect(diff).toBe(
      '--- a/d/f\n+++ b/d/f\n@@ -49997,7 +49997,7 @@\n line 49997\n line 49998\n line 49999\n-line 50000\n+new\n line 50001\n line 50002\n line 50003',
    );
  });

  it('cuts after a whole line, and says how much is left', () => {
    const diff = changeDiff('/f', 'a\n'.repeat(100), 'b\n'.repeat(100), 60);
    expect(diff).toBe(`--- a/f\n+++ b/f\n@@ -1,100 +1,100 @@\n${'-a\n'.repeat(8)}[192 more lines of the diff]`);
  });
});
