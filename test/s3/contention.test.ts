import { describe, expect, it } from 'vitest';
import { race } from './processes/race.js';
import { hasBucket } from './servers/test-bucket.js';
import { throughputAt } from './throughput.js';

describe.skipIf(!hasBucket)('Many writers on one filesystem', () => {
  it('in processes of their own: all succeed, each write once', { timeout: 240_000 }, async () => {
    const { problems, times } = await race({ processes: 4, writers: 1, writes: 12, isShared: false });
    expect(problems).toEqual([]);
    // Whether one is starved is counted in races, in packages/s3/src/turns.long.test.ts: time depends on the machine.
    console.log(`4 processes × 12 writes: ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
  });

  it('of one file: nothing is lost and nothing is there twice', { timeout: 240_000 }, async () => {
    const { problems } = await race({ processes: 2, writers: 4, writes: 6, isShared: true });
    expect(problems).toEqual([]);
  });

  it('in one process share commits: requests are few, however slow the store', { timeout: 120_000 }, async () => {
    const { perSecond, requests } = await throughputAt(30, 32, 640);
    console.log(`32 writers at 30 ms a PUT: ${Math.round(perSecond)} operations a second`);
    expect(requests).toBeLessThan(0.25);
  });
});
