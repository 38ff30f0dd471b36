import { withClient } from '../faults/remote/remote.js';
import { HttpProxy } from './proxy/http-proxy.js';
import { s3Remote } from './remote.js';
import { freshPlace } from './servers/test-bucket.js';

export interface Throughput {
  readonly perSecond: number;
  /** Requests per operation. */
  readonly requests: number;
}

/**
 * Measures concurrent writers in one process, each waiting for its write before the next, on a store that takes `putMs`
 * per PUT.
 */
export async function throughputAt(putMs: number, writers: number, operations: number): Promise<Throughput> {
  const place = freshPlace();
  const proxy = await HttpProxy.start(place.endpoint ?? '');
  try {
    return await withClient(s3Remote, { ...place, endpoint: proxy.endpoint }, async (fs) => {
      await fs.mkdir('/d');
      proxy.forget();
      proxy.plan = ({ method }) => (method === 'PUT' ? { takesMs: putMs } : 'none');
      const begun = performance.now();
      let left = operations;
      const writer = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await fs.writeFile(`/d/file-${left}`, `text ${left}`);
        }
      };
      await Promise.all(Array.from({ length: writers }, writer));
      const seconds = (performance.now() - begun) / 1_000;
      return { perSecond: operations / seconds, requests: proxy.seen.length / operations };
    });
  } finally {
    await proxy.stop();
  }
}
