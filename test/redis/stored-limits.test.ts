import { isFsError } from '@scratchfs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysOf } from '../../packages/redis/src/connection/keys.js';
import { checkLayout } from '../../packages/redis/src/testing/layout-check.js';
import { connect } from './clients.js';
import { hasServer, TestServer } from './servers/test-server.js';

/** Files of a commit that exceeds one request. */
const MANY = 1_500;

describe.skipIf(!hasServer)('limits in Redis', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.open();
  });
  afterAll(() => server.close());

  it('hold for a commit of several requests, also if another client changed them before', async () => {
    const place = server.place();
    const [writer, admin] = await Promise.all([connect(place), connect(place)]);
    let runs = 0;
    const fill = (): Promise<void> =>
      writer.fs.transaction(async (inside) => {
        runs += 1;
        await Promise.all(Array.from({ length: MANY }, (_, i) => inside.writeFile(`/f${i}`, 'x')));
        if (runs === 1) await admin.fs.setLimits({ maxNodeCount: MANY - 1 });
      });
    await expect(fill()).rejects.toMatchObject({ code: 'ENOSPC', limit: 'maxNodeCount', allowed: MANY - 1 });
    expect(await admin.fs.stats()).toMatchObject({ nodeCount: 0 });
    expect(runs).toBe(2);
    await admin.fs.setLimits({ maxNodeCount: MANY });
    await fill();
    expect(await admin.fs.stats()).toMatchObject({ nodeCount: MANY });
    expect(await checkLayout(server.control, keysOf('scratchfs:', place.namespace))).toEqual([]);
    await Promise.all([writer.close(), admin.close()]);
  });

  it('of a filesystem that was written without any are those of the first client that has some', async () => {
    const place = server.place();
    const old = await connect(place);
    await old.fs.writeFile('/a', '12345');
    const limited = await connect(place, { limits: { maxTotalSize: 4 } });
    const refusal = await old.fs.appendFile('/a', 'x').catch((error: unknown) => error);
    expect(isFsError(refusal, 'ENOSPC') && refusal.allowed).toBe(4);
    expect([old.fs.limits, limited.fs.limits]).toEqual([{ maxTotalSize: 4 }, { maxTotalSize: 4 }]);
    await Promise.all([old.close(), limited.close()]);
  });
});
