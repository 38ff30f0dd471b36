import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareForms } from '../differential/forms.js';
import { onRedis } from './forms.js';
import { hasServer, TestServer } from './servers/test-server.js';

const SEED = 20_261_121;
const OPERATIONS = 4_000;

describe.skipIf(!hasServer)('A filesystem in Redis', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.open();
  });
  afterAll(() => server.close());

  it('differs from one in memory in nothing, times and counters included', { timeout: 240_000 }, async () => {
    const report = await compareForms(
      SEED,
      OPERATIONS,
      onRedis(() => server.place()),
    );
    expect(report.difference).toBeUndefined();
    expect(report.operations).toBe(OPERATIONS);
    expect(report.succeeded).toBeGreaterThan(OPERATIONS * 0.4);
  });
});
