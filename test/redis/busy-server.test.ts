import { describe, expect, it } from 'vitest';
import { busyServer } from './busy-server.js';
import { useServer } from './faults/test-fixtures.js';
import type { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

/** On an otherwise idle machine a command takes some 4 ms. The promise is 10 ms; `npm run campaign -- redis/busy-server` measures it. */
const REFERENCE = "for i = 1, 6000 do redis.call('HSET', KEYS[1], i % 500, ARGV[1]) end";
const MAX_REFERENCE_TIMES = 3;
const TRIES = 4;

/** CPU milliseconds that a piece of work takes on this server now, whichever machine it is and whoever else uses it. */
async function referenceMs(server: RedisServer): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const before = server.cpuMs() ?? Number.NaN;
    await server.control.eval(REFERENCE, 1, 'reference', 'x'.repeat(100));
    times.push((server.cpuMs() ?? Number.NaN) - before);
  }
  return Math.max(...times);
}

describe.skipIf(!hasOwnServer || process.platform !== 'linux')('A server (its CPU time is known on Linux only)', () => {
  const on = useServer();

  it('is never kept busy by one command, however large what it is about', { timeout: 300_000 }, async () => {
    // What others do to the machine's caches is not the command's: what takes long must do so each time.
    let tooLong: readonly string[] | undefined;
    for (let i = 0; i < TRIES && (tooLong === undefined || tooLong.length > 0); i++) {
      const before = await referenceMs(on.server);
      const report = await busyServer(on.server, 1_000);
      const mostMs = MAX_REFERENCE_TIMES * Math.max(before, await referenceMs(on.server));
      expect(report.every(({ commands }) => commands > 0)).toBe(true);
      const late = report.filter(({ longestMs }) => !(longestMs < mostMs)).map(({ what }) => what);
      tooLong = late.filter((what) => tooLong === undefined || tooLong.includes(what));
    }
    expect(tooLong).toEqual([]);
  });
});
