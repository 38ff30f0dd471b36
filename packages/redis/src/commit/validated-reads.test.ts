import type { Check } from '@scratchfs/core';
import { expect, it } from 'vitest';
import { ValidatedReads } from './validated-reads.js';

const check = (path: string, id: string | null, version?: number): Check => ({ kind: 'entry', path, id, version });
const [one, two] = [Buffer.from('1'), Buffer.from('2')];

it('checks that have held in a state are known to, together and alone, until another one is seen', () => {
  const held = new ValidatedReads();
  const checks = [check('/a', 'x', 1), check('/b', null)];
  expect(held.stateWhereAllHeld([checks])).toBeUndefined();
  held.add(one, [checks]);
  expect(held.stateWhereAllHeld([checks, [check('/b', null)]])).toEqual(one);
  held.add(one, [[check('/c', 'y')]]);
  expect(held.stateWhereAllHeld([checks, [check('/c', 'y')]])).toEqual(one);
  held.add(two, [[check('/c', 'y')]]);
  expect(held.stateWhereAllHeld([[check('/c', 'y')]])).toEqual(two);
  expect(held.stateWhereAllHeld([checks])).toBeUndefined();
});

it('no other check is known by them', () => {
  const held = new ValidatedReads();
  held.add(one, [[check('/a', 'x', 1), check('/b', null)]]);
  const others: Check[] = [
    check('/a', 'x'),
    check('/a', 'x', 2),
    check('/a', 'y', 1),
    check('/a/a', 'x', 1),
    check('/b', 'null'),
    check('/b', 'no'),
    { kind: 'listing', path: '/a', id: 'x', version: 1 },
    { kind: 'empty', path: '/a', id: 'x' },
  ];
  for (const other of others) expect(held.stateWhereAllHeld([[other]])).toBeUndefined();
});
