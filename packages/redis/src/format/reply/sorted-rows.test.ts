import { compareNames, type NodeRecord } from '@scratchfs/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SortedRows } from './sorted-rows.js';

const recordOf = (name: string): NodeRecord => ({ id: `id of ${name}` }) as NodeRecord;

it('SortedRows returns the rows of all parts sorted by name', () => {
  const name = fc.string({ unit: 'grapheme', maxLength: 6 });
  const rows = fc.uniqueArray(name, { maxLength: 200 });
  fc.assert(
    fc.property(rows, fc.array(fc.nat(40), { minLength: 1, maxLength: 40 }), (names, sizes) => {
      const sorted = new SortedRows();
      for (let at = 0, turn = 0; at < names.length; turn++) {
        const part = names.slice(at, at + 1 + (sizes[turn % sizes.length] as number));
        sorted.add({ names: part, nodes: part.map(recordOf) });
        at += part.length;
      }
      const expected = [...names].sort(compareNames);
      expect(sorted.all()).toEqual({ names: expected, nodes: expected.map(recordOf) });
    }),
  );
});
