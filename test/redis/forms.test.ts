import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareForms } from '../differential/forms.js';
import { openBackend } from './clients.js';
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

  it('behaves exactly like one in memory, times and counters included', { timeout: 600_000 }, async () => {
    const report = await compareForms(
      SEED,
      OPERATIONS,
      onRedis(() => server.place()),
    );
    expect(report.difference).toBeUndefined();
    expect(report.operations).toBe(OPERATIONS);
    expect(report.succeeded).toBeGreaterThan(OPERATIONS * 0.4);
  });

  it('handles more concurrent checks of deep paths than one request can name', async () => {
    const backend = openBackend(server.place());
    const look = (operationId: string, path: string): ReturnType<typeof backend.commit> =>
      backend.commit({ operationId, checks: [{ kind: 'entry', path, id: null }], writes: [], limits: {} });
    // The first call reads the filesystem's identity. All others are queued until then.
    await look('first', '/absent');
    const deep = Array.from({ length: 256 }, (_, i) => look(`look${i}`, `/c${i}${'/d'.repeat(990)}`));
    for (const { kind } of await Promise.all(deep)) expect(kind).toBe('ok');
    await backend.close();
  });
});
