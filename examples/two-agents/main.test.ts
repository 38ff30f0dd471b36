import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisServer } from '../../test/redis/servers/redis-server.js';
import { hasOwnServer } from '../../test/redis/servers/test-server.js';
import { runExample } from '../run-example.js';

describe.skipIf(!hasOwnServer)('Two agents on one filesystem in Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('finish all tasks once, though one is killed in the middle', async () => {
    const { code, output } = await runExample('two-agents/main.ts', `${server.url}?namespace=two-agents`);
    const lines = output.split('\n');
    expect(lines).toContain('ben: in the middle of 2.txt …');
    expect(lines).toContain('ada: ben is silent; 2.txt goes back to the others');
    expect(lines).toContain('ada: 2.txt is done');
    expect(lines.slice(-9)).toEqual([
      'ada ended with 0, ben with SIGKILL',
      '1.txt → 4 words',
      '2.txt → 1 words',
      '3.txt → 4 words',
      '4.txt → 3 words',
      '5.txt → 2 words',
      '6.txt → 4 words',
      '6 entries in the journal; left over: 0',
      '',
    ]);
    expect(code).toBe(0);
  });
});
