import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { diff, formatDiff } from '../diff.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { TreeBackend } from '../engine/tree-backend/tree-backend.js';
import type { FileSystem } from '../file-system.js';

/** Opens two clients of one storage. The first one knows every entry, and then makes a checkpoint. */
async function clients(): Promise<{ mine: FileSystem; other: FileSystem; before: string }> {
  const store = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  const [mine, other] = [await openFileSystem(asyncStorage(store)), await openFileSystem(asyncStorage(store))];
  await other.mkdir('/d/e', { recursive: true });
  await other.writeFile('/d/e/f', 'one');
  await other.symlink('f', '/d/e/link');
  const before = await mine.checkpoint();
  for (const path of ['/', '/d', '/d/e']) await mine.entries(path, { content: true });
  return { mine, other, before: before.id };
}

async function changesSince(fs: FileSystem, before: string): Promise<string[]> {
  const found = await diff(fs, before);
  return (['added', 'removed', 'changed'] as const).flatMap((kind) => found[kind].map(({ path }) => `${kind} ${path}`));
}

const CHANGES: readonly (readonly [string, (fs: FileSystem) => Promise<unknown>, string])[] = [
  ['a new entry', (fs) => fs.mkdir('/new'), 'added /new'],
  ['a new entry in a directory', (fs) => fs.writeFile('/d/e/g', ''), 'added /d/e/g'],
  ['another content', (fs) => fs.writeFile('/d/e/f', 'two'), 'changed /d/e/f'],
  ['another mode of a file', (fs) => fs.chmod('/d/e/f', 0o600), 'changed /d/e/f'],
  ['another mode of a directory', (fs) => fs.chmod('/d/e', 0o700), 'changed /d/e'],
  ['a removed entry', (fs) => fs.rm('/d/e/link'), 'removed /d/e/link'],
];

describe('diff() with the current state of a remote storage', () => {
  it.each(CHANGES)('shows %s that another client has made', async (_, change, expected) => {
    const { mine, other, before } = await clients();
    await change(other);
    expect(await changesSince(mine, before)).toEqual([expected]);
  });

  it.each(CHANGES)(
    'shows %s that another client has made after a change of mine beside it',
    async (_, change, expected) => {
      const { mine, other, before } = await clients();
      await mine.writeFile('/d/e/mine', '');
      await mine.entries('/d/e', { content: true });
      await change(other);
      const found = await changesSince(mine, before);
      expect(found.filter((line) => line !== 'added /d/e/mine')).toEqual([expected]);
    },
  );

  it('writes the content that another client has written', async () => {
    const { mine, other, before } = await clients();
    await mine.writeFile('/d/e/f', 'mine');
    await mine.readText('/d/e/f');
    await other.writeFile('/d/e/f', 'other');
    expect(await formatDiff(mine, before)).toContain('+other');
  });
});
