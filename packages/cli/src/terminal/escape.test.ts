import { describe, expect, it } from 'vitest';
import { alignColumns, cutTo, widthOf } from './columns.js';
import { escapeContent, escapeText } from './escape.js';

describe('escaping', () => {
  it('shows controls, marks of direction, invisible characters and halves of pairs', () => {
    expect(escapeText('a\u001b[2J\u0000\u009b\u202e\u200b\ud800\u{e0041}\n\tz')).toBe(
      'a\\e[2J\\u0000\\u009b\\u202e\\u200b\\ud800\\u{e0041}\\n\\tz',
    );
  });

  it('keeps letters of all scripts and emoji', () => {
    for (const text of ['Grüße', 'שלום', 'مرحبا', '日本語', '👍🏽', 'a b']) expect(escapeText(text)).toBe(text);
  });

  it('keeps lines and tabs of contents', () => {
    expect(escapeContent('a\n\tb\r\u001b')).toBe('a\n\tb\\r\\e');
  });
});

describe('columns', () => {
  it('are aligned by the width that a terminal shows', () => {
    expect(widthOf('日本\u001b[31me\u0301\u001b[0m')).toBe(5);
    expect(
      alignColumns(
        [
          ['日本', '1'],
          ['a', '22'],
        ],
        { right: [1] },
      ),
    ).toEqual(['日本   1', 'a     22']);
    expect(cutTo('abcdef', 4)).toBe('abc…');
  });

  it('leave a long cell out of the width of a column that would not fit', () => {
    const rows = [
      ['added', '日本語の長い名前', '+1'],
      ['changed', 'b', '+1 -1'],
    ];
    expect(alignColumns(rows, { fit: 24 })).toEqual(['added    日本語の長い名前  +1', 'changed  b         +1 -1']);
    expect(alignColumns(rows)[1]).toBe(`changed  b${' '.repeat(15)}  +1 -1`);
  });
});
