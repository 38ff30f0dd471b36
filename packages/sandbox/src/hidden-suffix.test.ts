import type { FileSystem, InitialFiles, SyncFileSystem } from '@scratchfs/core';
import { mount, observe, overlay } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory } from './testing/memory.js';

const VISIBLE: InitialFiles = { '/w/a.md': 'a', '/w/d/z.md': 'z', '/w/link.md': { symlink: 'd/y.exe' } };
const HIDDEN: InitialFiles = { '/w/x.exe': 'x', '/w/d/y.exe': 'y', '/w/none': 'n' };

const BACKENDS: Record<string, (files: InitialFiles) => FileSystem | Promise<FileSystem>> = {
  memory,
  'async memory': asyncMemory,
  'an overlay': (files) => overlay(memory(files)),
  'an observed filesystem': (files) => observe(memory(files), () => {}),
  'a mount': (files) => mount(memory({}), { '/m': memory(files) }),
};

/** Paths with a wrong suffix, and paths that lead through one. */
const PATHS = ['/x.exe', 'x.exe', '/d/y.exe', '/none', '/link.md', '/x.exe/a.md', '/x.exe/b/c.exe'];

type Call = (sandbox: Sandbox, path: string) => unknown;

const CALLS: Readonly<Record<string, Call>> = {
  read: (sandbox, path) => sandbox.read(path),
  'check, for a read': (sandbox, path) => sandbox.check(path, 'read'),
  'check, for a write': (sandbox, path) => sandbox.check(path, 'write'),
  'check of the name itself': (sandbox, path) => sandbox.check(path, 'write', { follow: false }),
  canRead: (sandbox, path) => sandbox.canRead(path),
  canWrite: (sandbox, path) => sandbox.canWrite(path),
  resolve: (sandbox, path) => sandbox.resolve(path),
  approvals: (sandbox, path) => sandbox.approvals(path),
  listFiles: (sandbox, path) => sandbox.listFiles(path),
  derive: async (sandbox, path) => (await sandbox.derive({ allowRead: path })).readableRoots,
};

/** Returns what a caller sees of a call. */
async function seen(call: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await call()) ?? 'done';
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

describe.each(Object.entries(BACKENDS))('a file with a suffix that is not allowed, on %s,', (name, create) => {
  const root = name === 'a mount' ? '/m/w' : '/w';
  const open = async (files: InitialFiles): Promise<Sandbox> =>
    new Sandbox(await create(files), { root: { root, suffixes: ['.md'] } });

  it.each(Object.entries(CALLS))('reads the same whether it exists or not: %s', async (method, call) => {
    const [one, other] = [await open({ ...VISIBLE, ...HIDDEN }), await open(VISIBLE)];
    for (const path of PATHS) {
      const both = [await seen(() => call(one, path)), await seen(() => call(other, path))];
      // A path through the hidden file may tell that the file exists.
      if (/^\/x\.exe\//.test(path) && (method === 'read' || method === 'listFiles')) continue;
      expect(both[0], path).toBe(both[1]);
    }
  });

  it('is refused for its suffix, and missing in listings', async () => {
    for (const sandbox of [await open({ ...VISIBLE, ...HIDDEN }), await open(VISIBLE)]) {
      expect(await seen(() => sandbox.read('d/y.exe'))).toBe(
        "SuffixNotAllowedError: Cannot access 'd/y.exe': suffix not allowed.\nAllowed suffixes: .md",
      );
      expect(await seen(() => sandbox.listFiles('d/y.exe'))).toBe(
        "FsError: ENOENT: no such file or directory, scandir 'd/y.exe'",
      );
      expect(await seen(() => sandbox.read('d/none.md'))).toBe(
        "FsError: ENOENT: no such file or directory, open 'd/none.md'",
      );
    }
  });
});

it('The synchronous forms of these methods do not tell either', async () => {
  const open = (files: InitialFiles): Sandbox<SyncFileSystem> =>
    new Sandbox(memory(files), { root: { root: '/w', suffixes: ['.md'] } });
  const [one, other] = [open({ ...VISIBLE, ...HIDDEN }), open(VISIBLE)];
  for (const path of PATHS.filter((each) => !each.startsWith('/x.exe/'))) {
    for (const call of [
      (sandbox: Sandbox<SyncFileSystem>) => sandbox.readSync(path),
      (sandbox: Sandbox<SyncFileSystem>) => sandbox.checkSync(path, 'read'),
      (sandbox: Sandbox<SyncFileSystem>) => sandbox.resolveSync(path),
      (sandbox: Sandbox<SyncFileSystem>) => sandbox.listFilesSync(path),
    ])
      expect(await seen(() => call(one))).toBe(await seen(() => call(other)));
  }
});
