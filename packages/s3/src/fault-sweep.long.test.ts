import { describe, expect, it } from 'vitest';
import { sweepFaults } from './testing/fault-sweep.js';

describe('Every request of every operation, lost, unanswered, late, repeated, cut or flipped', () => {
  for (const forever of [false, true]) {
    it(`${forever ? 'for ever' : 'once'}: the state matches the reported outcome`, {
      timeout: 240_000,
    }, async () => {
      const { faults, problems } = await sweepFaults(forever);
      expect(problems).toEqual([]);
      expect(faults).toBeGreaterThan(200);
      console.log(`${faults} faults`);
    });
  }
});
