import { asyncForm } from '@scratchfs/core';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { describe, expect, it } from 'vitest';
import { asyncMemoryStorage, createFileSystem, type FileSystem, MemoryStorage } from './index.js';

const FORMS: readonly (readonly [string, () => Promise<FileSystem>])[] = [
  ['memory', async () => createFileSystem()],
  ['a storage far away', async () => createFileSystem({ storage: asyncMemoryStorage() })],
  ['the far form of a storage', async () => createFileSystem({ storage: asyncForm(new MemoryStorage()) })],
];

describe.each(FORMS)('a directory moved or copied over %s', (_, open) => {
  it.each([
    ['names', '/a'.repeat(505), 'depth', 1012],
    ['bytes', `/${'n'.repeat(200)}`.repeat(15), 'path', 6034],
  ])('comes to lie no deeper than paths may be, in %s', async (_, below, limit, requested) => {
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

  it('comes to lie no deeper than paths may be where it is merged into another', async () => {
    const fs = await open();
    const below = `/${'n'.repeat(200)}`.repeat(15);
    await fs.mkdir(`/x/m${below}`, { recursive: true });
    await fs.mkdir(`/y${below}`, { recursive: true });
    const merge = fs.cp('/x', `/y${below}`, { recursive: true });
    await expect(merge).rejects.toMatchObject({ code: 'ENAMETOOLONG', limit: 'path' });
    expect((await createSnapshot(fs)).byteLength).toBeGreaterThan(0);
  });

  it('goes as deep as paths may be', async () => {
    const fs = await open();
    await fs.mkdir(`/x${'/a'.repeat(399)}`, { recursive: true });
    await fs.mkdir('/y'.repeat(600), { recursive: true });
    await fs.rename('/x', `${'/y'.repeat(600)}/z`);
    expect((await fs.stats()).directoryCount).toBe(1000);
  });
});
