import { asyncForm } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { asyncMemoryStorage, createFileSystem, type FileSystem, MemoryStorage } from './index.js';

const SIZE = 300_000;

const FORMS: readonly (readonly [string, () => Promise<FileSystem>])[] = [
  ['memory', async () => createFileSystem()],
  ['a remote storage', async () => createFileSystem({ storage: asyncMemoryStorage() })],
  ['the far form of a storage', async () => createFileSystem({ storage: asyncForm(new MemoryStorage()) })],
];

describe.each(FORMS)('a read stream over %s', (_, open) => {
  it('returns nothing after its signal was aborted', async () => {
    const fs = await open();
    await fs.writeFile('/a', new Uint8Array(SIZE));
    const controller = new AbortController();
    const reader = fs.createReadStream('/a', { signal: controller.signal }).getReader();
    expect((await reader.read()).value?.byteLength).toBe(65_536);
    controller.abort(new Error('enough'));
    await expect(reader.read()).rejects.toThrow('enough');
  });

  it('returns nothing of the state before a rollback', async () => {
    const fs = await open();
    await fs.writeFile('/a', new Uint8Array(SIZE));
    const checkpoint = await fs.checkpoint();
    const reader = fs.createReadStream('/a').getReader();
    expect((await reader.read()).value?.byteLength).toBe(65_536);
    await fs.rollback(checkpoint);
    await expect(reader.read()).rejects.toMatchObject({ code: 'EBADF' });
  });
});
