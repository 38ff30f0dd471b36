import { describe, expect, it } from 'vitest';
import { race } from './processes/race.js';
import { hasBucket } from './servers/test-bucket.js';
import { throughputAt } from './throughput.js';

describe.skipIf(!hasBucket)('Concurrent writers on one filesystem', () => {
  it('in separate processes all succeed, and each write is applied once', { timeout: 600_000 }, async () => {
    const { problems, times } = await race({ processes: 4, writers: 1, writes: 12, isShared: false });
    expect(problems).toEqual([]);
    // Times depend on the machine, so packages/s3/src/commit-backoff.long.test.ts checks fairness by counting lost
    // races.
    console.log(`4 processes × 12 writes: ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
  });

  it('to one file lose nothing and duplicate nothing', { timeout: 600_000 }, async () => {
    const { problems } = await race({ processes: 2, writers: 4, writes: 6, isShared: true });
    expect(problems).toEqual([]);
  });

  it('in one process share commits, so requests are few even if the store is slow', async () => {
    const { perSecond, requests } = await throughputAt(30, 32, 640);
    console.log(`32 writers at 30 ms a PUT: ${Math.round(perSecond)} operations a second`);
    expect(requests).toBeLessThan(0.25);
  });
});
