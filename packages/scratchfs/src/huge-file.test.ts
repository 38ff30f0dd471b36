import { asyncForm } from '@scratchfs/core';
import { formatDiff } from '@scratchfs/core/diff';
import { createSnapshot, createSnapshotSync } from '@scratchfs/core/snapshot';
import { describe, expect, it } from 'vitest';
import { createFileSystem, type FileSystem, MemoryStorage } from './index.js';

const FORMS: readonly (readonly [string, () => Promise<FileSystem>])[] = [
  ['memory', async () => createFileSystem()],
  ['a remote storage', async () => createFileSystem({ storage: asyncForm(new MemoryStorage()) })],
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

  it('cannot be in a snapshot on a platform without such an array, and the error says so', async () => {
    const fs = await open();
    await fs.writeFile('/huge', '');
    await fs.truncate('/huge', 2 ** 42);
    const error = { code: 'EFBIG', syscall: 'snapshot', path: '/huge', requested: 2 ** 42 };
    await expect(createSnapshot(fs)).rejects.toMatchObject(error);
  });
});

describe('a sparse file in memory', () => {
  const size = 2 ** 30;
  function sparse() {
    const fs = createFileSystem({ files: { '/small': 'text' } });
    fs.writeFileSync('/sparse', 'begin');
    fs.truncateSync('/sparse', size);
    return fs;
  }

  it('is refused by a snapshot before memory is allocated for its holes, and the error says what to do', async () => {
    const fs = sparse();
    const before = process.memoryUsage().arrayBuffers;
    const error = { code: 'EFBIG', path: '/sparse', requested: size - 16_384, allowed: 64 * 2 ** 20 };
    await expect(createSnapshot(fs)).rejects.toMatchObject(error);
    expect(() => createSnapshotSync(fs)).toThrow(/raise maxHoles, or truncate or remove/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  });

  it('counts together with all other holes, and an option sets the limit', async () => {
    const fs = createFileSystem();
    for (const name of ['/a', '/b', '/c']) {
      fs.writeFileSync(name, '');
      fs.truncateSync(name, 2 ** 20);
    }
    await expect(createSnapshot(fs, { maxHoles: 3 * 2 ** 20 - 1 })).rejects.toMatchObject({
      code: 'EFBIG',
      path: '/c',
    });
    const bytes = await createSnapshot(fs, { maxHoles: 3 * 2 ** 20 });
    expect(Buffer.compare(bytes, createSnapshotSync(fs, { maxHoles: 2 ** 30 }))).toBe(0);
    expect(bytes.length).toBeGreaterThan(3 * 2 ** 20);
    for (const maxHoles of [-1, 0.5, Number.NaN, 2 ** 53]) {
      await expect(createSnapshot(fs, { maxHoles })).rejects.toThrow(RangeError);
    }
    // @ts-expect-error an unknown option
    expect(() => createSnapshotSync(fs, { maxHole: 1 })).toThrow(TypeError);
  });

  it('is reported by toJSON if it is too large, before anything is read', () => {
    const fs = sparse();
    const before = process.memoryUsage().arrayBuffers;
    const error = { code: 'EFBIG', syscall: 'toJSON', path: '/sparse', requested: size, allowed: 2 ** 28 };
    expect(() => JSON.stringify(fs)).toThrow(expect.objectContaining(error));
    expect(() => fs.toJSON()).toThrow(/take a snapshot, or truncate or remove/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
    fs.rmSync('/sparse');
    expect(JSON.stringify(fs)).toBe('{"/small":"text"}');
  });
});
