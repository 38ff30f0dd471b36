import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

interface Asked {
  readonly ContinuationToken?: string;
}

// The test only looks at the commands that are sent.
class Command {
  constructor(readonly input: Asked) {}
}

beforeEach(() => {
  vi.resetModules();
  vi.doMock('./sdk.js', () => ({ loadSdk: async () => ({ ListObjectsV2Command: Command }) }));
});
afterEach(() => {
  vi.doUnmock('./sdk.js');
  vi.resetModules();
});

describe('A page of a listing without names', () => {
  /** A bucket that returns a listing and records the requests. */
  async function bucket(answer: (asked: Asked, count: number) => object) {
    const asked: Asked[] = [];
    const send = async ({ input }: Command) => {
      asked.push(input);
      // Ends a client that would continue forever.
      if (asked.length > 5_000) throw new Error('asked far too often');
      return answer(input, asked.length);
    };
    const client = async () => ({ send }) as never;
    const { S3ObjectStore } = await import('./s3-object-store.js');
    const place = { client, bucket: 'b', close: async () => {}, prefix: 'p/', singleWriter: false };
    return { store: new S3ObjectStore(place), asked };
  }

  it('leads to the next one by its token', async () => {
    const { store, asked } = await bucket((_, count) =>
      count < 3
        ? { IsTruncated: true, NextContinuationToken: `page ${count + 1}` }
        : { Contents: [{ Key: 'p/objects/c' }], IsTruncated: false },
    );
    expect(await store.list('objects/', undefined)).toEqual({ names: [], cursor: 'page 2' });
    expect(await store.list('objects/', 'page 2')).toEqual({ names: [], cursor: 'page 3' });
    expect(await store.list('objects/', 'page 3')).toEqual({ names: ['objects/c'], cursor: undefined });
    expect(asked.map(({ ContinuationToken }) => ContinuationToken)).toEqual([undefined, 'page 2', 'page 3']);
  });

  it('is an error if it is not the last and has no token', async () => {
    const { store, asked } = await bucket(() => ({ IsTruncated: true }));
    const listed = store.list('objects/', undefined);
    await expect(listed).rejects.toMatchObject({ name: 'StorageError', kind: 'unavailable', retryable: false });
    expect(asked.length).toBe(1);
  });
});

describe('A collection over a store whose listings', () => {
  it.each([
    ['have no names and go on', (): string[] => []],
    ['begin again each time', (names: readonly string[]) => names],
  ])('%s ends with an error, and deletes nothing', async (_, page) => {
    const store = new MemoryObjectStore();
    let pages = 0;
    const { fs, backend } = await open(
      alteredStore(store, {
        list: async (prefix) => {
          pages += 1;
          if (pages > 2_000) throw new Error('asked far too often');
          return { names: page((await store.list(prefix, undefined)).names), cursor: 'next' };
        },
      }),
    );
    for (const text of ['a', 'b']) await fs.writeFile('/a', text);
    const before = store.objects.size;
    await expect(backend.collectGarbage()).rejects.toMatchObject({ kind: 'unavailable', retryable: false });
    expect(store.objects.size).toBe(before);
  });
});
