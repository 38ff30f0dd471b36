import { describe, expect, it } from 'vitest';
import { cutForProfile } from './cut.js';

describe('cutForProfile()', () => {
  it('leaves a short text as it is', () => {
    expect(cutForProfile('a\n', 'read_text_file', false)).toBe('a\n');
  });

  it('shows a long file in parts, which tail continues to its end', () => {
    const lines = Array.from({ length: 9_000 }, (_, i) => `line ${i} é`);
    const seen: string[] = [];
    let text = lines.join('\n');
    for (let part = 0; part < 10; part++) {
      const cut = cutForProfile(text, 'read_text_file', false);
      expect(cut.length).toBeLessThanOrEqual(40_000);
      const tail = /tail: (\d+)\.\]$/.exec(cut)?.[1];
      seen.push(...cut.split('\n').slice(0, tail === undefined ? undefined : -1));
      if (tail === undefined) break;
      text = lines.slice(-Number(tail)).join('\n');
    }
    expect(seen).toEqual(lines);
  });

  it.each(['read_text_file', 'read_multiple_files', 'directory_tree', 'edit_file'])(
    'cuts one long line of %s',
    (tool) => {
      const cut = cutForProfile('\u{1f600}'.repeat(50_000), tool, false);
      expect(cut.length).toBeLessThanOrEqual(40_000);
      expect(cut).toMatch(/\[Cut: \d+ of 100000 characters are not shown\. .+\]$/);
      expect(cut.isWellFormed()).toBe(true);
    },
  );
});
