import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN_STATE } from '../../packages/redis/src/connection/keys.js';
import { LoadQueue } from '../../packages/redis/src/load/load-queue.js';
import { freshNamespace, withClient } from './clients.js';
import { batch, type Interceptor, interceptCommits } from './intercepted-commits.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

/** More writes than fit into one request, so that the commit is staged. */
const MANY_WRITES = 300;
/** More load requests than fit into one Redis request. */
const MANY_LOADS = 600;

describe.skipIf(!hasOwnServer)('private states of a client', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('have different fields for staged commits and for long loads', async () => {
    const place = { url: server.url, namespace: freshNamespace() };
    const fields = { commit: new Set<string>(), load: new Set<string>() };
    let hasWritten = false;
    const around: Interceptor = async (run, script, field) => {
      if (field.startsWith('p/')) fields[script as keyof typeof fields].add(field);
      const reply = await run();
      if (script === 'load' && !hasWritten) {
        hasWritten = true;
        await withClient(place, (other) => other.writeFile('/other', ''));
      }
      return reply;
    };
    const { shared, commits } = interceptCommits(place, around);
    const paths = Array.from({ length: MANY_WRITES }, (_, i) => `/staged${i}`);
    expect(await commits.commit(batch('large', paths), undefined)).toMatchObject({ kind: 'ok' });
    const loads = new LoadQueue(shared.session, MAIN_STATE);
    const wanted = Array.from({ length: MANY_LOADS }, (_, i) => `/staged${i}`);
    const results = await loads.load(wanted.map((path) => ({ kind: 'path', path, content: -1 })));
    expect(results.length).toBe(MANY_LOADS);
    expect([fields.commit.size, fields.load.size]).toEqual([1, 1]);
    expect([...fields.load].filter((field) => fields.commit.has(field))).toEqual([]);
    await shared.release();
  });
});
