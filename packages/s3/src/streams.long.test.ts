import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FileSystem } from '@scratchfs/core';
import { alteredStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { openTree as open } from './testing/open-tree.js';
import { SparseStore } from './testing/sparse-store.js';

const LONG = { timeout: 300_000 };
const MEBI = 2 ** 20;
const CACHE = 16 * MEBI;
/**
 * Maximum bytes that two clients may hold besides their caches, whatever the file's size: the engine's nodes and
 * decoded pages.
 */
const BESIDE = 224 * MEBI;
/** Size of the streamed file: larger than everything that the clients may hold. The campaign streams 1 GB. */
const LARGE = Math.max(320, Number(process.env['LARGE_FILE_MB'] ?? 320)) * MEBI;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes in use. */
function used(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Samples the bytes in use and keeps the maximum, without the bytes in use before and those of the store. */
class Peak {
  readonly #store: SparseStore;
  readonly #before = used();
  bytes = 0;

  constructor(store: SparseStore) {
    this.#store = store;
  }

  look(): void {
    this.bytes = Math.max(this.bytes, used() - this.#before - this.#store.held);
  }
}

/** The byte that a chunk of a file is filled with. */
const byteOf = (chunk: number): number => 1 + (chunk % 251);

async function streamIn(fs: FileSystem, size: number, chunk: number, peak: Peak): Promise<void> {
  const writer = fs.createWriteStream('/large').getWriter();
  for (let at = 0; at < size; at += chunk) {
    await writer.write(new Uint8Array(chunk).fill(byteOf(at / chunk)));
    if (at % (64 * MEBI) === 0) peak.look();
  }
  await writer.close();
}

async function streamOut(fs: FileSystem, chunk: number, peak: Peak): Promise<number> {
  let at = 0;
  let seen = 0;
  for await (const bytes of fs.createReadStream('/large', { highWaterMark: MEBI })) {
    for (let i = 0; i < bytes.length; i += 4_096)
      if (bytes[i] !== byteOf(Math.floor((at + i) / chunk))) throw new Error(`another byte at ${at + i}`);
    at += bytes.length;
    if (at - seen < 64 * MEBI) continue;
    seen = at;
    peak.look();
  }
  return at;
}

describe('A large file', () => {
  it.each([
    ['1 MB', LARGE, MEBI],
    ['64 KB', LARGE / 5, 65_536],
  ])(
    'in chunks of %s is streamed in and out within the memory of the cache and little more',
    LONG,
    async (_, size, chunk) => {
      const store = new SparseStore();
      const { fs } = await open(store, { maxCacheBytes: CACHE });
      const peak = new Peak(store);
      await streamIn(fs, size, chunk, peak);
      const lengths = [...store.objects.values()].map(({ length }) => length);
      expect(Math.max(...lengths)).toBeLessThan(9 * MEBI);
      const { fs: reader } = await open(store, { maxCacheBytes: CACHE });
      expect(await streamOut(reader, chunk, peak)).toBe(size);
      expect(peak.bytes).toBeLessThan(2 * CACHE + BESIDE);
    },
  );

  it('is read in ranges, each of which loads only the pieces that it touches', LONG, async () => {
    const store = new SparseStore();
    const size = 160 * MEBI;
    await streamIn((await open(store)).fs, size, MEBI, new Peak(store));
    const { fs } = await open(store, { maxCacheBytes: 0 });
    const handle = await fs.open('/large');
    const room = new Uint8Array(1_000);
    for (let at = 77; at < size; at += 37 * MEBI + 1_001) {
      expect(await handle.read(room, at)).toBe(1_000);
      expect(room[0]).toBe(byteOf(Math.floor(at / MEBI)));
      expect(store.answered).toBeLessThanOrEqual(2 * MEBI);
    }
    await handle.close();
  });

  it('whose stream is aborted at any request leaves nothing that a collection does not free', LONG, async () => {
    for (let failing = 1; ; failing++) {
      const store = new SparseStore();
      const abort = new AbortController();
      let puts = 0;
      const { fs, backend } = await open(
        alteredStore(store, {
          put: async (name, bytes) => {
            await store.put(name, bytes);
            puts += 1;
            if (puts === failing) abort.abort();
          },
        }),
      );
      const writer = fs.createWriteStream('/large', { signal: abort.signal }).getWriter();
      writer.closed.catch(() => {});
      const write = async (): Promise<void> => {
        for (let i = 0; i < 3; i++) await writer.write(new Uint8Array(20 * MEBI).fill(i + 1));
      };
      const error = await write().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      await backend.close();
      if (!abort.signal.aborted) {
        expect(failing).toBeGreaterThan(9);
        return;
      }
      if (error !== undefined) expect(error).toMatchObject({ name: 'AbortError' });
      const other = await open(store);
      // Bytes that were already written stay, as on a disk.
      if (await other.fs.exists('/large')) {
        expect((await other.fs.stat('/large')).size % (20 * MEBI)).toBe(0);
        await other.fs.rm('/large');
      }
      await other.backend.collectGarbage();
      expect([...store.objects.keys()]).toEqual([]);
    }
  });
});
