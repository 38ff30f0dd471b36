import { describe, expect, it } from 'vitest';
import { CommandOutput } from './command-output.js';

function outputOf(chunks: readonly string[], maxBytes: number, keeps: 'beginning' | 'both ends'): string {
  const output = new CommandOutput(maxBytes, keeps);
  for (const chunk of chunks) output.push(Buffer.from(chunk));
  return output.text();
}

describe('CommandOutput', () => {
  it('keeps output up to its length', () => {
    expect(outputOf(['ab', 'c\n', 'd'], 5, 'both ends')).toBe('abc\nd');
    expect(outputOf(['ab', 'c\n', 'd'], 5, 'beginning')).toBe('abc\nd');
    expect(outputOf([], 5, 'both ends')).toBe('');
  });

  it('keeps the beginning of longer output, or whole lines of both ends', () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`);
    expect(outputOf(lines, 20, 'beginning')).toBe('line 0\nline 1\nline 2');
    const left = lines.join('').length - 14 - 18;
    expect(outputOf(lines, 40, 'both ends')).toBe(`line 0\nline 1\n[${left} bytes left out]\nline 998\nline 999\n`);
    expect(outputOf([lines.join('')], 40, 'both ends')).toBe(outputOf(lines, 40, 'both ends'));
  });

  it('cuts no character', () => {
    const text = outputOf(['ä'.repeat(1_000)], 41, 'both ends');
    expect(text).toMatch(/^ä+\n\[\d+ bytes left out\]\nä+$/);
    expect(text).not.toContain('\ufffd');
  });
});
