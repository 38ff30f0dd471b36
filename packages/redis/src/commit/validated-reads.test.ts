import type { Check } from '@scratchfs/core';
import { expect, it } from 'vitest';
import { ValidatedReads } from './validated-reads.js';

const check = (path: string, id: string | null, version?: number): Check => ({ kind: 'entry', path, id, version });
const [one, two] = [Buffer.from('1'), Buffer.from('2')];

it('checks that held in a state are known, in any combination, until another state is seen', () => {
  const reads = new ValidatedReads();
  const checks = [check('/a', 'x', 1), check('/b', null)];
  expect(reads.stateWhereAllHeld([checks])).toBeUndefined();
  reads.add(one, [checks]);
  expect(reads.stateWhereAllHeld([checks, [check('/b', null)]])).toEqual(one);
  reads.add(one, [[check('/c', 'y')]]);
  expect(reads.stateWhereAllHeld([checks, [check('/c', 'y')]])).toEqual(one);
  reads.add(two, [[check('/c', 'y')]]);
  expect(reads.stateWhereAllHeld([[check('/c', 'y')]])).toEqual(two);
  expect(reads.stateWhereAllHeld([checks])).toBeUndefined();
});

it('a check that differs in any field is not known', () => {
  const reads = new ValidatedReads();
  reads.add(one, [[check('/a', 'x', 1), check('/b', null)]]);
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
  for (const other of others) expect(reads.stateWhereAllHeld([[other]])).toBeUndefined();
});
