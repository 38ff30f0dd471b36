import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unmountSmallDisk, whyNoDisk } from '../attacks/small-disk.js';
import { call, openWorker } from './open-worker.js';

const reason = whyNoDisk();

it.skipIf(reason !== undefined)(
  `A Durable Object whose disk is full fails the request, and keeps what was acknowledged${reason === undefined ? '' : ` (${reason})`}`,
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'scratchfs-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', place], { stdio: 'ignore' });
    const worker = await openWorker({ durableObjectsPersist: place });
    try {
      let acknowledged = 0;
      const fill = async (): Promise<string> => {
        for (; acknowledged < 100; acknowledged++)
          try {
            await call(worker, `agents/writeRandom?name=full&path=/f${acknowledged}`);
          } catch (error) {
            return String(error);
          }
        return 'the disk is not full';
      };
      expect(await fill()).toMatch(/SQLITE_FULL|full/);
      expect(acknowledged).toBeGreaterThan(5);
      // The runtime has started the object again.
      const { names, sizes } = await call<{ names: string[]; sizes: number[] }>(worker, 'agents/readAll?name=full');
      for (let i = 0; i < acknowledged; i++) expect(names).toContain(`f${i}`);
      expect(new Set(sizes)).toEqual(new Set([100_000]));
    } finally {
      await worker.dispose();
      unmountSmallDisk(place);
      rmSync(place, { recursive: true });
    }
  },
);
