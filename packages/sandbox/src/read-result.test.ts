import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPiece, pieceOf } from './read-result.js';

describe('pieceOf', () => {
  it('counts in code points and never splits one', () => {
    const text = 'a😀é😀b';
    expect(pieceOf(text, { maxChars: 2, offset: 0 })).toEqual({
      content: 'a😀',
      truncated: true,
      totalChars: 5,
      offset: 0,
      charsRead: 2,
    });
    expect(pieceOf(text, { maxChars: 2, offset: 2 }).content).toBe('é😀');
    expect(pieceOf(text, { maxChars: 9, offset: 4 })).toMatchObject({ content: 'b', truncated: false, charsRead: 1 });
  });

  it('is empty at the end and past it', () => {
    for (const offset of [3, 4, 1e9]) {
      expect(pieceOf('abc', { maxChars: 10, offset })).toEqual({
        content: '',
        truncated: false,
        totalChars: 3,
        offset,
        charsRead: 0,
      });
    }
    expect(pieceOf('', { maxChars: 10, offset: 0 })).toMatchObject({ truncated: false, totalChars: 0 });
    expect(pieceOf('abc', { maxChars: 0, offset: 0 })).toMatchObject({ content: '', truncated: true, totalChars: 3 });
  });

  it('returns the whole text when reading continues at offset + charsRead', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 7 }), (text, maxChars) => {
        let all = '';
        let offset = 0;
        for (let more = true; more; ) {
          const piece = pieceOf(text, { maxChars, offset });
          expect(piece.totalChars).toBe([...text].length);
          expect(piece.content.isWellFormed()).toBe(text.isWellFormed());
          all += piece.content;
          offset += piece.charsRead;
          more = piece.truncated;
        }
        expect(all).toBe(text);
      }),
    );
  });
});

describe('checkPiece', () => {
  it('defaults to 20,000 characters from the start', () => {
    expect(checkPiece(undefined)).toEqual({ maxChars: 20_000, offset: 0 });
    expect(checkPiece({ offset: 5, maxChars: 0 })).toEqual({ maxChars: 0, offset: 5 });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses %s', (number) => {
    expect(() => checkPiece({ offset: number })).toThrow(RangeError);
    expect(() => checkPiece({ maxChars: number })).toThrow(RangeError);
  });

  it('refuses values that are not numbers, and unknown options', () => {
    expect(() => checkPiece({ offset: '5' as never })).toThrow("offset must be a number, not '5'");
    expect(() => checkPiece({ max: 5 } as never)).toThrow("read has no option 'max'");
    expect(() => checkPiece(5 as never)).toThrow(TypeError);
  });
});
