import type { Check } from '@scratchfs/core';
import { expect, it } from 'vitest';
import { Held } from './validated-reads.js';

const check = (path: string, id: string | null, version?: number): Check => ({ kind: 'entry', path, id, version });
const [one, two] = [Buffer.from('1'), Buffer.from('2')];

it('checks that have held in a state are known to, together and alone, until another one is seen', () => {
  const held = new Held();
  const checks = [check('/a', 'x', 1), check('/b', null)];
  expect(held.stateOf([checks])).toBeUndefined();
  held.learn(one, [checks]);
  expect(held.stateOf([checks, [check('/b', null)]])).toEqual(one);
  held.learn(one, [[check('/c', 'y')]]);
  expect(held.stateOf([checks, [check('/c', 'y')]])).toEqual(one);
  held.learn(two, [[check('/c', 'y')]]);
  expect(held.stateOf([[check('/c', 'y')]])).toEqual(two);
  expect(held.stateOf([checks])).toBeUndefined();
});

it('no other check is known by them', () => {
  const held = new Held();
  held.learn(one, [[check('/a', 'x', 1), check('/b', null)]]);
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
  for (const other of others) expect(held.stateOf([[other]])).toBeUndefined();
});
