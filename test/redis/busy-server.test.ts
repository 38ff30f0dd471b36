import { describe, expect, it } from 'vitest';
import { busyServer } from './busy-server.js';
import { useServer } from './faults/test-fixtures.js';
import { hasOwnServer } from './servers/test-server.js';

/** 10 are promised, `npm run test:redis busy` looks for them; cores that others use make the same work take longer. */
const MOST_MS = 30;

describe.skipIf(!hasOwnServer || process.platform !== 'linux')('A server (its CPU time is known on Linux only)', () => {
  const on = useServer();

  it('is never kept busy by one command, however large what it is about', { timeout: 300_000 }, async () => {
    const report = await busyServer(on.server, 1_000);
    const tooLong = report.filter(({ longestMs }) => !(longestMs < MOST_MS));
    expect(tooLong).toEqual([]);
    expect(report.every(({ commands }) => commands > 0)).toBe(true);
  });
});
