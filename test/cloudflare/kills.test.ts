import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Miniflare } from 'miniflare';
import { afterAll, expect, it } from 'vitest';
import { call, openWorker } from './open-worker.js';

const root = mkdtempSync(join(tmpdir(), 'scratchfs-cloudflare-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Returns the processes of workerd that this process has started. */
function runtimes(): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        const [, name, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        return name?.startsWith('workerd') === true && Number(parent) === process.pid;
      } catch {
        return false;
      }
    });
}

/**
 * Increments until a call fails or `gone` rejects. Returns the number of acknowledged increments.
 * @param onIncrement called after each acknowledged increment
 */
async function incrementUntilKilled(
  worker: Miniflare,
  where: string,
  gone: Promise<never>,
  onIncrement: () => void,
): Promise<number> {
  for (let acknowledged = 0; ; acknowledged++) {
    try {
      await Promise.race([call(worker, `${where}/increment?name=counter`), gone]);
    } catch {
      return acknowledged;
    }
    onIncrement();
  }
}

const reason = process.platform === 'linux' ? undefined : 'processes are found in /proc';
/** Milliseconds after which a call to a runtime that was killed is given up. */
const PENDING_MS = 2_000;
const KILLS = Number(process.env['CLOUDFLARE_KILLS'] ?? 2);

it.skipIf(reason !== undefined)(
  `Acknowledged increments survive kill -9 of the runtime${reason === undefined ? '' : ` (${reason})`}`,
  { timeout: 60_000 + KILLS * 20_000 },
  async () => {
    const places = ['bucket', 'agents'];
    const acknowledged = new Map(places.map((where) => [where, 0]));
    const open = (): Promise<Miniflare> =>
      openWorker({ r2Persist: join(root, 'r2'), durableObjectsPersist: join(root, 'objects') });
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = runtimes();
      const worker = await open();
      await worker.ready;
      const own = runtimes().filter((pid) => !before.includes(pid));
      expect(own.length).toBe(1);
      // miniflare may leave a call pending whose runtime was killed.
      let end: (error: Error) => void = () => undefined;
      const gone = new Promise<never>((_, reject) => {
        end = reject;
      });
      gone.catch(() => undefined);
      // Two clients in each place.
      const begun = new Set<string>();
      const clients = [...places, ...places].map(async (where) => {
        const count = await incrementUntilKilled(worker, where, gone, () => begun.add(where));
        acknowledged.set(where, (acknowledged.get(where) as number) + count);
      });
      await expect.poll(() => begun.size).toBe(places.length);
      await wait(Math.random() * 600);
      process.kill(own[0] as number, 'SIGKILL');
      await Promise.race([Promise.all(clients), wait(PENDING_MS)]);
      end(new Error('killed'));
      await Promise.all(clients);
      await Promise.race([worker.dispose(), wait(PENDING_MS)]);
      const fresh = await open();
      for (const where of places) {
        const value = Number(await call(fresh, `${where}/read?name=counter`));
        expect(value).toBeGreaterThanOrEqual(acknowledged.get(where) as number);
        expect(value).toBeLessThanOrEqual((acknowledged.get(where) as number) + 2 * kill);
      }
      await fresh.dispose();
    }
    for (const where of places) expect(acknowledged.get(where)).toBeGreaterThan(0);
  },
);
