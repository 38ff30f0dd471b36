import { describe, expect, test } from 'vitest';
import { checkHistory } from './linearizability.js';
import { PLANTED_BUGS } from './planted-bugs.js';

describe('8 clients × 100 operations in an order that the seed decides', () => {
  for (let block = 0; block < 10; block++) {
    test(`are linearizable, half of them with faults (seeds ${block * 10 + 1} to ${block * 10 + 10})`, async () => {
      for (let seed = block * 10 + 1; seed <= block * 10 + 10; seed++) {
        expect(await checkHistory(seed, { faults: seed % 2 === 0 ? 0.05 : 0 }), `seed ${seed}`).toEqual([]);
      }
    });
  }
});

describe('the linearizability checker', () => {
  for (const [name, { bug, faults }] of Object.entries(PLANTED_BUGS)) {
    test(`finds a storage that ${name}`, async () => {
      let found: string[] = [];
      for (let seed = 1; seed <= 32 && found.length === 0; seed++) {
        found = await checkHistory(seed, { bug, faults: faults ?? 0, operations: 50 });
      }
      expect(found).not.toEqual([]);
    });
  }
});
