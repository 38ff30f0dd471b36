import { asyncForm } from '@scratchfs/core';
import { formatDiff } from '@scratchfs/core/diff';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { describe, expect, it } from 'vitest';
import { createFileSystem, type FileSystem, MemoryStorage } from './index.js';

const FORMS: readonly (readonly [string, () => Promise<FileSystem>])[] = [
  ['memory', async () => createFileSystem()],
  ['a storage far away', async () => createFileSystem({ storage: asyncForm(new MemoryStorage()) })],
];

describe.each(FORMS)('a file too large for one array, over %s', (_, open) => {
  it('is binary in a diff, and the others are shown', async () => {
    const fs = await open();
    await fs.writeFile('/huge', '');
    const empty = await fs.checkpoint();
    await fs.writeFile('/a', 'text\n');
    await fs.truncate('/huge', 2 ** 33);
    const full = await fs.checkpoint();
    const text = await formatDiff(fs, empty, full);
    expect(text).toContain('+text');
    expect(text).toContain('Binary files a/huge and b/huge differ');
    await fs.chmod('/huge', 0o755);
    expect(await formatDiff(fs, full)).toContain('diff --git a/huge b/huge\nold mode 100644\nnew mode 100755\n');
  });

  it('is no part of a snapshot where the platform has no such array, which is said', async () => {
    const fs = await open();
    await fs.writeFile('/huge', '');
    await fs.truncate('/huge', 2 ** 42);
    const error = { code: 'EFBIG', syscall: 'snapshot', path: '/huge', requested: 2 ** 42 };
    await expect(createSnapshot(fs)).rejects.toMatchObject(error);
  });
});
