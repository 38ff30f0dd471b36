import { asyncForm, asyncStorage, type Backend, type LoadRequest, openFileSystem } from '@scratchfs/core';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { memoryBackend } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { asyncMemoryStorage, createFileSystem, type FileSystem, MemoryStorage } from './index.js';

const FORMS: readonly (readonly [string, () => Promise<FileSystem>])[] = [
  ['memory', async () => createFileSystem()],
  ['a remote storage', async () => createFileSystem({ storage: asyncMemoryStorage() })],
  ['the far form of a storage', async () => createFileSystem({ storage: asyncForm(new MemoryStorage()) })],
];

describe.each(FORMS)('a directory moved or copied over %s', (_, open) => {
  it.each([
    ['names', '/a'.repeat(505), 'depth', 1012],
    ['bytes', `/${'n'.repeat(200)}`.repeat(15), 'path', 6034],
  ])('is refused if its subtree would become too deep, in %s', async (_, below, limit, requested) => {
    const fs = await open();
    await fs.mkdir(`/x${below}`, { recursive: true });
    await fs.mkdir(`/y${below}`, { recursive: true });
    const before = await fs.stats();
    const tooLong = { code: 'ENAMETOOLONG', limit, requested };
    await expect(fs.rename('/x', `/y${below}/z`)).rejects.toMatchObject(tooLong);
    await expect(fs.cp('/x', `/y${below}/z`, { recursive: true })).rejects.toMatchObject(tooLong);
    expect(await fs.stats()).toEqual(before);
    expect((await createSnapshot(fs)).byteLength).toBeGreaterThan(0);
  });

  it('is refused if its subtree would become too deep when merged into another', async () => {
    const fs = await open();
    const below = `/${'n'.repeat(200)}`.repeat(15);
    await fs.mkdir(`/x/m${below}`, { recursive: true });
    await fs.mkdir(`/y${below}`, { recursive: true });
    const merge = fs.cp('/x', `/y${below}`, { recursive: true });
    await expect(merge).rejects.toMatchObject({ code: 'ENAMETOOLONG', limit: 'path' });
    expect((await createSnapshot(fs)).byteLength).toBeGreaterThan(0);
  });

  it('may reach the maximum depth', async () => {
    const fs = await open();
    await fs.mkdir(`/x${'/a'.repeat(399)}`, { recursive: true });
    await fs.mkdir('/y'.repeat(600), { recursive: true });
    await fs.rename('/x', `${'/y'.repeat(600)}/z`);
    expect((await fs.stats()).directoryCount).toBe(1000);
  });
});

/** Returns a path of three names that is `bytes` bytes long. */
const long = (bytes: number): string => `/${'a'.repeat(200)}/${'b'.repeat(200)}/${'c'.repeat(bytes - 403)}`;

describe('a directory on a remote storage of which nothing is cached', () => {
  it.each([
    ['is not listed if its new path is near the root', '/from', '/a-longer-name', false],
    ['is not listed if its new depth is an eighth of the maximum', '/from', `${'/d'.repeat(124)}/to`, false],
    ['is listed if its new path is deeper', '/from', `${'/d'.repeat(125)}/to`, true],
    ['is not listed if its new path has an eighth of the maximum length', '/from', long(512), false],
    ['is listed if its new path is longer', '/from', long(513), true],
    ['is not listed if it was as deep before', `${'/s'.repeat(130)}/from`, `${'/d'.repeat(130)}/to`, false],
    ['is listed if its path was shorter before', `${'/s'.repeat(130)}/a`, `${'/d'.repeat(130)}/to`, true],
  ])('%s', async (_, source, target, isLooked) => {
    const backend = memoryBackend();
    const first = await openFileSystem(asyncStorage(backend));
    await first.mkdir(`${source}/in/it`, { recursive: true });
    await first.mkdir(target.slice(0, target.lastIndexOf('/')) || '/', { recursive: true });
    const looked: string[] = [];
    const watched = new Proxy(backend, {
      get(at, name) {
        const value: unknown = Reflect.get(at, name, at);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          if (name === 'load')
            for (const request of given[0] as readonly LoadRequest[])
              if (request.kind === 'list' || request.kind === 'tree') looked.push(request.at.path);
          return value.apply(at, given);
        };
      },
    }) as Backend;
    const second = await openFileSystem(asyncStorage(watched));
    await second.rename(source, target);
    expect(looked.includes(source)).toBe(isLooked);
    expect(await first.isDirectory(`${target}/in/it`)).toBe(true);
  });
});
