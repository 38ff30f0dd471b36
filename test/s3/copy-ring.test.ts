import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { copyFileSystem } from 'scratchfs/checkpoints';
import { expect, it } from 'vitest';
import { differences, dump } from '../../packages/testkit/src/dump.js';
import { findRedis } from '../redis/servers/find-redis.js';
import { RedisServer } from '../redis/servers/redis-server.js';
import { freshPlace, hasBucket, urlOf } from './servers/test-bucket.js';

const hasRedis = findRedis() !== undefined || process.env['CI'] !== undefined;
const missing = hasBucket ? (hasRedis ? undefined : 'there is no redis-server') : 'there is no S3 server';

/** Returns the differences of the current states and of all checkpoints. */
async function compare(from: FileSystem, to: FileSystem): Promise<string[]> {
  const found = differences(await dump(from), await dump(to));
  const [ours, theirs] = [await from.checkpoints(), await to.checkpoints()];
  expect(theirs.map(({ name }) => name)).toEqual(ours.map(({ name }) => name));
  for (const [i, checkpoint] of ours.entries())
    found.push(...differences(await dump(await from.at(checkpoint)), await dump(await to.at(theirs[i]?.id ?? ''))));
  return found;
}

it.skipIf(missing !== undefined)(
  `copyFileSystem brings every state through disk, SQLite, Redis and S3 back into memory${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-ring-'));
    const redis = await RedisServer.start();
    const opened: FileSystem[] = [];
    try {
      const first = createFileSystem();
      await first.mkdir('/d/deep', { recursive: true });
      await first.writeFile('/d/a', 'one');
      await first.link('/d/a', '/d/deep/second name');
      await first.symlink('d/a', '/link');
      await first.writeFile(
        '/large',
        new Uint8Array(300_000).map((_, i) => i % 251),
      );
      await first.checkpoint('first');
      await first.writeFile('/d/a', 'two');
      await first.rm('/link');
      await first.chmod('/d', 0o700);
      await first.chown('/d/a', 12, 34);
      await first.checkpoint('second');
      await first.rename('/d/deep', '/moved');
      await first.truncate('/large', 100);
      await first.utimes('/moved', 1, 2);
      let from: FileSystem = first;
      for (const storage of [
        `file://${folder}/store?durability=process`,
        `sqlite:${folder}/store.db`,
        `${redis.url}/0?namespace=ring`,
        urlOf(freshPlace()),
        undefined,
      ]) {
        const to = storage === undefined ? createFileSystem() : await createFileSystem({ storage });
        opened.push(to);
        expect(await copyFileSystem(from, to)).toMatchObject({ checkpoints: 2 });
        expect([storage, await compare(first, to)]).toEqual([storage, []]);
        from = to;
      }
      expect(await from.readText('/moved/second name')).toBe('two');
    } finally {
      for (const fs of opened) await fs.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
