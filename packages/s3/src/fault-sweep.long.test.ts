import { MemoryObjectStore, objectStoreFaults } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';

describe('Every request of every operation, lost, unanswered, late, repeated, cut or flipped', () => {
  for (const forever of [false, true]) {
    it(`${forever ? 'for ever' : 'once'}: the state matches the reported outcome`, {
      timeout: 240_000,
    }, async () => {
      const { faults, problems } = await objectStoreFaults({ create: () => new MemoryObjectStore(), forever });
      expect(problems).toEqual([]);
      expect(faults).toBeGreaterThan(200);
      console.log(`${faults} faults`);
    });
  }
});
