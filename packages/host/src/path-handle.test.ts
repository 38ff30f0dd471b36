import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HAS_DESCRIPTOR_PATHS, PathHandle } from './path-handle.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-path-handle-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(top, 'd'));
  writeFileSync(join(top, 'd/f'), 'inside');
  symlinkSync('d', join(top, 'link'));
  execFileSync('mkfifo', [join(top, 'pipe')]);
});

describe('a path handle', () => {
  it('refers to the entry itself: a link is not followed, and opening a pipe does not block', async () => {
    const kinds: string[] = [];
    for (const name of ['d', 'd/f', 'link', 'pipe']) {
      using pathHandle = PathHandle.at(join(top, name));
      kinds.push(pathHandle.kind);
    }
    expect(kinds).toEqual(['directory', 'file', 'symlink', 'special']);
  });

  it('enter() opens the entry of a name, and returns undefined for a missing name', async () => {
    using directory = PathHandle.at(join(top, 'd'));
    using file = directory.enter('f');
    expect(file?.kind).toBe('file');
    expect(directory.enter('gone')).toBeUndefined();
    using here = directory.enter('f');
    expect(() => here?.enter('beneath')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'keeps its file when the name is given to another one (needs /proc of Linux)',
    async () => {
      mkdirSync(join(top, 'moved'));
      writeFileSync(join(top, 'moved/f'), 'of the first');
      using directory = PathHandle.at(join(top, 'moved'));
      renameSync(join(top, 'moved'), join(top, 'elsewhere'));
      mkdirSync(join(top, 'moved'));
      using file = directory.enter('f');
      const handle = await file?.open(0);
      expect(await handle?.readFile('utf8')).toBe('of the first');
      await handle?.close();
    },
  );

  it.skipIf(!HAS_DESCRIPTOR_PATHS)('is closed at the end of its block (needs /proc of Linux)', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    {
      using directory = PathHandle.at(join(top, 'd'));
      using file = directory.enter('f');
      expect([file?.kind, open()]).toEqual(['file', before + 2]);
    }
    expect(open()).toBe(before);
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'leaves no descriptor open if the stats cannot be read (needs /proc of Linux)',
    () => {
      const before = readdirSync('/proc/self/fd').length;
      const { fstatSync } = fs;
      const fstat = () => {
        throw new Error('cannot be looked at');
      };
      Object.assign(fs, { fstatSync: fstat });
      syncBuiltinESMExports();
      try {
        expect(() => PathHandle.at(join(top, 'd/f'))).toThrow('cannot be looked at');
      } finally {
        Object.assign(fs, { fstatSync });
        syncBuiltinESMExports();
      }
      expect(readdirSync('/proc/self/fd')).toHaveLength(before);
    },
  );

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'closed twice does not close the file that reuses its descriptor (needs /proc of Linux)',
    () => {
      const first = PathHandle.at(join(top, 'd'));
      first.close();
      using second = PathHandle.at(join(top, 'd'));
      expect(second.path).toBe(first.path);
      first.close();
      using file = second.enter('f');
      expect(file?.kind).toBe('file');
    },
  );

  it('look() does not follow links, and returns undefined for a missing name', () => {
    using directory = PathHandle.at(top);
    expect(directory.look('link')?.isSymbolicLink()).toBe(true);
    expect(directory.readLink('link')).toBe('d');
    expect(directory.look('gone')).toBeUndefined();
  });

  it.each([0, 1, 255, 256, 257, 1000])('names() returns all names of a directory with %i entries', async (count) => {
    const place = join(top, `has-${count}`);
    mkdirSync(place);
    const names = Array.from({ length: count }, (_, i) => `name-${i}`);
    for (const name of names) writeFileSync(join(place, name), '');
    using directory = PathHandle.at(place);
    expect((await directory.names()).sort()).toEqual(names.sort());
    // Some disks report no size.
    Object.assign(directory.stat, { size: 0n });
    expect((await directory.names()).sort()).toEqual(names.sort());
  });

  it.runIf(HAS_DESCRIPTOR_PATHS).each([
    ['ext4', 0xef53, 1],
    ['FUSE', 0x65735546, 0],
    ['overlayfs', 0x794c7630, 0],
  ])('names() trusts the size of a directory on %s or not', async (_, type, calls) => {
    const place = join(top, `sized-${type}`);
    mkdirSync(place);
    const spies = [
      vi.spyOn(fs, 'statfsSync').mockReturnValue({ type } as ReturnType<typeof fs.statfsSync>),
      vi.spyOn(fs, 'readdirSync'),
    ] as const;
    syncBuiltinESMExports();
    try {
      using directory = PathHandle.at(place);
      Object.assign(directory.stat, { size: 4096n });
      expect(await directory.names()).toEqual([]);
      expect(spies[1]).toHaveBeenCalledTimes(calls);
    } finally {
      for (const spy of spies) spy.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it.each([
    ['ENOENT', ['f']],
    ['EIO', 'EIO'],
  ])(
    'names() returns names or fails if looking at an entry fails with %s: only ENOENT lists again',
    async (code, expected) => {
      // Node looks at entries if the system does not report their types.
      const read = vi.spyOn(fs.Dir.prototype, 'readSync').mockImplementation(() => {
        throw Object.assign(new Error(code), { code });
      });
      try {
        using directory = PathHandle.at(join(top, 'd'));
        Object.assign(directory.stat, { size: 0n });
        expect(await directory.names().catch((error: NodeJS.ErrnoException) => error.code)).toEqual(expected);
      } finally {
        read.mockRestore();
      }
    },
  );
});
