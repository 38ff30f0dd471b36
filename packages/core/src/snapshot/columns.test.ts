import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStorageError } from '../errors.js';
import { ColumnReader, ColumnWriter } from './columns.js';
import { NumberTable } from './number-table.js';

function written(values: readonly number[]): Uint8Array {
  const column = new ColumnWriter();
  for (const value of values) column.push(value);
  return column.finish();
}

describe('a column', () => {
  it('restores every number from 0 to 2^53 - 1', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.nat())), (values) => {
        const reader = new ColumnReader('the values', written(values));
        for (const value of values) expect(reader.next()).toBe(value);
        reader.end();
      }),
    );
    const edges = [0, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32, 2 ** 49, 2 ** 49 * 128 - 1, Number.MAX_SAFE_INTEGER];
    const values = edges.filter(Number.isSafeInteger);
    const reader = new ColumnReader('the values', written(values));
    expect(values.map(() => reader.next())).toEqual(values);
  });

  it.each([
    ['nothing', []],
    ['a number that is cut', [0x80]],
    ['a number in a longer form than it needs', [0x80, 0x00]],
    ['a number above 2^53 - 1', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10]],
    ['a number without end', new Array(20).fill(0xff)],
  ])('refuses %s', (_, bytes) => {
    const reader = new ColumnReader('the values', Uint8Array.from(bytes));
    expect(() => reader.next()).toThrowError(expect.objectContaining({ kind: 'corrupt' }));
  });

  it('reports bytes that are left over', () => {
    const reader = new ColumnReader('the values', Uint8Array.of(1, 2));
    reader.next();
    expect(() => reader.end()).toThrowError(/the values are too many/);
    reader.next();
    reader.end();
  });

  it('throws storage errors', () => {
    try {
      new ColumnReader('the values', new Uint8Array()).next();
      expect.unreachable();
    } catch (error) {
      expect(isStorageError(error, 'corrupt')).toBe(true);
    }
  });
});

describe('a table of numbers', () => {
  it('numbers distinct values in the order of their first appearance', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true })), (values) => {
        const table = new NumberTable();
        const expected: number[] = [];
        for (const value of values.map((v) => v + 0)) {
          const position = table.add(value);
          if (!expected.includes(value)) expected.push(value);
          expect(position).toBe(expected.indexOf(value));
        }
        expect([...table.values()]).toEqual(expected);
        expect(table.count).toBe(expected.length);
      }),
    );
  });

  it('grows past its first size and keeps its numbers', () => {
    const table = new NumberTable();
    for (let i = 0; i < 5000; i++) expect(table.add(i * 1.5)).toBe(i);
    for (let i = 0; i < 5000; i++) expect(table.add(i * 1.5)).toBe(i);
  });

  it('treats -0 as 0', () => {
    const table = new NumberTable();
    expect(table.add(-0)).toBe(0);
    expect(Object.is(table.values()[0], 0)).toBe(true);
    expect(table.add(0)).toBe(0);
  });
});
