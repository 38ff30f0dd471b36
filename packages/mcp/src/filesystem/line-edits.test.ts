import { describe, expect, it } from 'vitest';
import { editLines, withLineEnds, withoutReturns } from './line-edits.js';

const edited = (text: string, ...edits: readonly [oldText: string, newText: string][]): string =>
  withLineEnds(
    editLines(
      withoutReturns(text),
      edits.map(([oldText, newText]) => ({ oldText, newText })),
    ),
    text,
  );

describe('withLineEnds()', () => {
  it('keeps the line ends of lines that stay in a file with both', () => {
    const mixed = 'a\r\nb\nc\r\nport=1\n';
    expect(edited(mixed)).toBe(mixed);
    expect(edited(mixed, ['port=1', 'port=2'])).toBe('a\r\nb\nc\r\nport=2\n');
    expect(edited(mixed, ['a\nb\nc', 'a\nnew\nb\nc'])).toBe('a\r\nnew\r\nb\nc\r\nport=1\n');
    expect(edited(mixed, ['b\n', ''], ['port=1', 'x\ny'])).toBe('a\r\nc\r\nx\ny\n');
    expect(edited('a\nb\r\nc', ['c', 'c\nd'])).toBe('a\nb\r\nc\r\nd');
    expect(edited('a\nb\r\nc\n', ['c\n', 'c'])).toBe('a\nb\r\nc');
  });

  it('keeps the line end of a file with one kind', () => {
    expect(edited('a\r\nb\r\n', ['b', 'b\nc'])).toBe('a\r\nb\r\nc\r\n');
    expect(edited('a\nb\n', ['b', 'b\r\nc'])).toBe('a\nb\nc\n');
    expect(edited('a', ['a', 'a\nb'])).toBe('a\nb');
    expect(edited('a\r\n', ['a\n', ''])).toBe('');
  });
});
