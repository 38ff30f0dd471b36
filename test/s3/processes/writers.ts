import { withClient } from '../../faults/remote/remote.js';
import { s3Remote } from '../remote.js';
import type { Place } from '../servers/test-bucket.js';

export interface Writing {
  readonly place: Place;
  readonly names: readonly string[];
  readonly count: number;
  /** File that all writers append to; undefined if each has its own. */
  readonly shared?: string | undefined;
}

export interface Written {
  readonly ms: number;
  readonly slowestMs: number;
}

/** Jobs of a test process that writes. */
export const writerJobs = {
  /** Does nothing: once the process has replied, it has loaded this module. */
  async wake(_: undefined): Promise<void> {},

  /** Writes concurrently with one client per name, each write acknowledged before the next. */
  async write({ place, names, count, shared }: Writing): Promise<Written[]> {
    const writers = names.map((name) =>
      withClient(s3Remote, place, async (fs) => {
        await fs.stat('/');
        const begun = performance.now();
        let slowestMs = 0;
        for (let i = 0; i < count; i++) {
          const at = performance.now();
          await fs.appendFile(shared ?? `/log-${name}`, `${name}.${i} `);
          slowestMs = Math.max(slowestMs, performance.now() - at);
        }
        return { ms: performance.now() - begun, slowestMs };
      }),
    );
    return Promise.all(writers);
  },
};
