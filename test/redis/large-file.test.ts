import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshNamespace } from './clients.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

/** `LARGE_MB=1024` for the figure of a release. */
const MEGABYTES = Number(process.env['LARGE_MB'] ?? 96);
const MB = 2 ** 20;
/** Most bytes that a client may hold in buffers while streaming, whatever the file's length. Its cache holds 64 MB. */
const MAX_HELD_BYTES = 80 * MB;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns a megabyte that differs for each index. */
function piece(index: number): Uint8Array {
  const bytes = new Uint8Array(MB);
  const words = new Uint32Array(bytes.buffer);
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + 1, 2_654_435_761) ^ index;
  return bytes;
}

describe.skipIf(!hasOwnServer)(`A file of ${MEGABYTES} MB`, { timeout: 600_000 }, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('streams in and out while the client holds only a part of it', async () => {
    const storage = new RedisStorage(server.url, { namespace: freshNamespace() });
    const fs = await openFileSystem(storage);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let looks = 0;
    const look = (): void => {
      looks += 1;
      if (looks % 16 > 0) return;
      collectGarbage();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    };
    const writer = fs.createWriteStream('/large').getWriter();
    for (let i = 0; i < MEGABYTES; i++) {
      await writer.write(piece(i));
      look();
    }
    await writer.close();
    expect((await fs.stat('/large')).size).toBe(MEGABYTES * MB);

    let at = 0;
    let expected = piece(0);
    let wrong = 0;
    for await (const chunk of fs.createReadStream('/large')) {
      for (let from = 0; from < chunk.length; ) {
        const within = at % MB;
        if (within === 0) expected = piece(at / MB);
        const length = Math.min(MB - within, chunk.length - from);
        const own = chunk.subarray(from, from + length);
        if (Buffer.compare(own, expected.subarray(within, within + length)) !== 0) wrong += 1;
        from += length;
        at += length;
      }
      look();
    }
    expect({ at, wrong }).toEqual({ at: MEGABYTES * MB, wrong: 0 });
    expect(most, `${Math.round(most / MB)} MB were held`).toBeLessThan(MAX_HELD_BYTES);
    await storage.close();
  });
});
