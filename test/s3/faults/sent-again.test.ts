import { describe, expect, it } from 'vitest';
import { HttpProxy } from '../proxy/http-proxy.js';
import { clientOf, freshPlace, hasBucket } from '../servers/test-bucket.js';
import { backendOn, fileSystemOn } from './scene.js';

describe.skipIf(!hasBucket)('A swap of the head that the SDK sends twice', () => {
  it('counts once if the first one succeeds without a response and the second is refused', {
    timeout: 600_000,
  }, async () => {
    const place = freshPlace();
    const proxy = await HttpProxy.start(place.endpoint ?? '');
    const client = clientOf({ ...place, endpoint: proxy.endpoint }, { maxAttempts: 3 });
    const backend = backendOn(client, place);
    try {
      const fs = await fileSystemOn(backend);
      await fs.writeFile('/log', '');
      let swaps = 0;
      proxy.plan = ({ method, url }) => {
        if (method !== 'PUT' || !/\/head(\?|$)/.test(url)) return 'none';
        swaps += 1;
        return swaps === 1 ? 'done and dropped' : swaps === 2 ? 403 : 'none';
      };
      await fs.appendFile('/log', 'once ');
      expect(swaps).toBe(2);
      expect(await fs.readText('/log')).toBe('once ');
    } finally {
      await backend.close();
      client.destroy();
      await proxy.stop();
    }
  });
});
