import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileSystem } from 'scratchfs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dump, differences, dump } from '../../packages/testkit/src/dump.js';
import { findRedis } from '../redis/servers/find-redis.js';
import { RedisServer } from '../redis/servers/redis-server.js';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder, json, run } from './program.js';

const hasRedis = findRedis() !== undefined || process.env['CI'] !== undefined;
let redis: RedisServer | undefined;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  await redis?.stop();
});

describe('copy', () => {
  it.skipIf(!hasRedis)(
    'brings checkpoints, hard links and times from disk to Redis, SQLite and back (needs redis-server)',
    async () => {
      const path = folder('copies');
      const urls = [
        `file://${path}/first`,
        `${redis?.url}/0?namespace=copied`,
        `sqlite:${path}/copied.db`,
        `file://${path}/last`,
      ] as const;
      const first = await createFileSystem({ storage: urls[0] });
      await first.writeFile('/a', 'one');
      await first.link('/a', '/second name');
      await first.symlink('a', '/link');
      await first.checkpoint('before');
      await first.writeFile('/a', 'two');
      await first.mkdir('/d', { mode: 0o700 });
      await first.utimes('/d', 1, 2);
      for (const [i, to] of urls.slice(1).entries())
        expect(await json('copy', [urls[i] as string, to])).toMatchObject({ checkpoints: 1 });
      const last = await createFileSystem({ storage: urls[3] });
      expect(differences(await dump(first), await dump(last))).toEqual([]);
      const states = await Promise.all([first, last].map((fs) => fs.at('before')));
      const [before, copy] = await Promise.all(states.map((fs) => dump(fs)));
      expect(differences(before as Dump, copy as Dump)).toEqual([]);
      await Promise.all([first.close(), last.close()]);
      expect(await run(['copy', urls[0], urls[3]])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/not empty/),
      });
    },
  );

  it('starts again after the program was killed in the middle', async () => {
    const path = folder('killed');
    mkdirSync(join(path, 'from'));
    for (let i = 0; i < 600; i++) writeFileSync(join(path, 'from', `f${i}`), `${i} `.repeat(8_000));
    const to = `file://${path}/to?durability=process`;
    let code: number | null = 0;
    // The program may be faster than the signal.
    for (let attempt = 0; attempt < 10 && code === 0; attempt++) {
      rmSync(join(path, 'to'), { recursive: true, force: true });
      const child = spawn(process.execPath, [PROGRAM, 'copy', join(path, 'from'), to], { env: ENVIRONMENT });
      const ended = once(child, 'close');
      await expect.poll(() => objectsIn(join(path, 'to')), { interval: 5 }).toBeGreaterThan(0);
      child.kill('SIGKILL');
      [code] = await ended;
    }
    expect(code).toBe(null);
    expect(await json('copy', [join(path, 'from'), to])).toMatchObject({ files: 600 });
    const fs = await createFileSystem({ storage: to });
    expect((await fs.readdir('/')).length).toBe(600);
    expect(await fs.readText('/f599')).toBe('599 '.repeat(8_000));
    expect(await fs.checkpoints()).toEqual([]);
    await fs.close();
  });
});

/** Returns the number of objects in a store of the disk. */
function objectsIn(path: string): number {
  const objects = join(path, 'default', 'objects');
  return existsSync(objects) ? readdirSync(objects).length : 0;
}
