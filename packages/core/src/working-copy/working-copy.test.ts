import { expect, test, vi } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { TreeBackend } from '../engine/tree-backend/tree-backend.js';
import { openWorkingCopy } from '../working-copy.js';

async function scene() {
  const storage = asyncStorage(new TreeBackend(MemoryExecutor.create(rootMeta(0))));
  const shared = await openFileSystem(storage, { files: { '/src/a.ts': 'a', '/src/b.ts': 'b', '/docs/x.md': 'x' } });
  return { storage, shared, copy: await openWorkingCopy(storage) };
}

test('a working copy has the files of the storage, and push writes its changes to the storage', async () => {
  const { shared, copy } = await scene();
  const fs = copy.fileSystem;
  expect(fs.readTextSync('/src/a.ts')).toBe('a');
  fs.writeFileSync('/src/a.ts', 'changed');
  fs.mkdirSync('/new/deep', { recursive: true });
  fs.writeFileSync('/new/deep/file', 'new');
  fs.rmSync('/docs', { recursive: true });
  fs.renameSync('/src/b.ts', '/new/b.ts');
  expect(await shared.readText('/src/a.ts')).toBe('a');
  expect(copy.status().map(({ change, path, from }) => `${change} ${from ?? ''} ${path}`)).toEqual([
    'removed  /docs',
    'removed  /docs/x.md',
    'added  /new',
    'renamed /src/b.ts /new/b.ts',
    'added  /new/deep',
    'added  /new/deep/file',
    'modified  /src/a.ts',
  ]);
  expect((await copy.push()).kind).toBe('pushed');
  expect(copy.status()).toEqual([]);
  expect(await shared.readText('/src/a.ts')).toBe('changed');
  expect(await shared.readText('/new/b.ts')).toBe('b');
  expect(await shared.exists('/docs')).toBe(false);
});

test('pull merges the changes of both sides, even into a directory that one of them renamed', async () => {
  const { shared, copy } = await scene();
  copy.fileSystem.renameSync('/src', '/lib');
  await shared.writeFile('/src/c.ts', 'c');
  await shared.writeFile('/src/a.ts', 'A');
  const pulled = await copy.pull();
  expect(pulled).toMatchObject({ kind: 'pulled', conflicts: [] });
  expect(copy.fileSystem.readdirSync('/lib')).toEqual(['a.ts', 'b.ts', 'c.ts']);
  expect(copy.fileSystem.readTextSync('/lib/a.ts')).toBe('A');
  expect(copy.status()).toEqual([{ path: '/lib', from: '/src', change: 'renamed', kind: 'directory' }]);
  await copy.push();
  expect(await shared.readdir('/lib')).toEqual(['a.ts', 'b.ts', 'c.ts']);
});

test('an entry that both sides changed is a conflict, and nothing changes', async () => {
  const { shared, copy } = await scene();
  copy.fileSystem.writeFileSync('/src/a.ts', 'mine');
  copy.fileSystem.writeFileSync('/src/b.ts', 'mine too');
  await shared.writeFile('/src/a.ts', 'theirs');
  const conflicts = [{ path: '/src/a.ts', ours: 'modified', theirs: 'modified' }];
  expect(await copy.push()).toEqual({ kind: 'conflict', conflicts });
  expect(await shared.readText('/src/b.ts')).toBe('b');
  expect(await copy.pull()).toEqual({ kind: 'conflict', conflicts });
  expect(copy.fileSystem.readTextSync('/src/a.ts')).toBe('mine');
  expect(await copy.pull({ prefer: 'ours' })).toMatchObject({ kind: 'pulled', conflicts });
  expect((await copy.push()).kind).toBe('pushed');
  expect(await shared.readText('/src/a.ts')).toBe('mine');
  expect(await shared.readText('/src/b.ts')).toBe('mine too');
});

test('a push can be interrupted after each change, in all its phases', async () => {
  const { shared, copy } = await scene();
  const FILES = 300;
  const change = (text: string): void => {
    for (let i = 0; i < FILES; i++) copy.fileSystem.writeFileSync(`/src/${i}`, text);
  };
  change('new');
  await copy.push();
  change('changed');
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  const timeouts = vi.spyOn(globalThis, 'setTimeout');
  const pushed = await copy.push();
  const turns = timeouts.mock.calls.filter(([, ms]) => ms === 0).length;
  clock.mockRestore();
  timeouts.mockRestore();
  expect(pushed.kind === 'pushed' && pushed.changes).toHaveLength(FILES);
  // Five phases: planning, carrying out, updating what the client knows of the storage, updating the versions that the
  // copy knows, and describing the changes.
  expect(turns).toBeGreaterThan(5 * FILES);
  expect(await shared.readText('/src/299')).toBe('changed');
});

test.each([
  ['file', '/big'],
  ['directory', '/src'],
])(
  'a %s is not moved to a path that is too long because the other side has moved a directory above',
  async (_, from) => {
    const long = 'n'.repeat(250);
    const deep = `/${Array.from({ length: 16 }, () => long).join('/')}`;
    const { shared, copy } = await scene();
    const fs = copy.fileSystem;
    await shared.writeFile('/big', 'big');
    await copy.pull();
    fs.renameSync(from, `/docs/${long}`);
    await shared.mkdir(deep, { recursive: true });
    await shared.rename('/docs', `${deep}/docs`);
    const before = fs.readdirSync('/', { recursive: true });
    await expect(copy.pull()).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    await expect(copy.push()).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect(fs.readdirSync('/', { recursive: true })).toEqual(before);
    expect(await shared.readdir('/')).toEqual(['big', long, 'src']);
  },
);
