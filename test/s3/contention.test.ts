import { describe, expect, it } from 'vitest';
import { race } from './processes/race.js';
import { hasBucket } from './servers/test-bucket.js';

describe.skipIf(!hasBucket)('Many processes on one filesystem', () => {
  it('all succeed, and none is starved', { timeout: 240_000 }, async () => {
    const { problems, times } = await race(4, 20);
    expect(problems).toEqual([]);
    const median = times[times.length >> 1] as number;
    console.log(`4 processes × 20 writes: ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
    expect(times.at(-1)).toBeLessThan(3 * median + 2_000);
  });
});
