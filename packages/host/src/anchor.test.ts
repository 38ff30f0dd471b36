import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Anchor, HAS_DESCRIPTOR_PATHS } from './anchor.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-anchor-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(top, 'd'));
  writeFileSync(join(top, 'd/f'), 'inside');
  symlinkSync('d', join(top, 'link'));
  execFileSync('mkfifo', [join(top, 'pipe')]);
});

describe('an anchor', () => {
  it('is the thing itself: of a link no more than the link, and a pipe is not waited for', async () => {
    const kinds: string[] = [];
    for (const name of ['d', 'd/f', 'link', 'pipe']) {
      using anchor = Anchor.at(join(top, name));
      kinds.push(anchor.kind);
    }
    expect(kinds).toEqual(['directory', 'file', 'symlink', 'special']);
  });

  it('enters what a name stands for, and answers nothing for a name that is not there', async () => {
    using directory = Anchor.at(join(top, 'd'));
    using file = directory.enter('f');
    expect(file?.kind).toBe('file');
    expect(directory.enter('gone')).toBeUndefined();
    using here = directory.enter('f');
    expect(() => here?.enter('beneath')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'stays what it was when its name goes to something else (needs /proc of Linux)',
    async () => {
      mkdirSync(join(top, 'moved'));
      writeFileSync(join(top, 'moved/f'), 'of the first');
      using directory = Anchor.at(join(top, 'moved'));
      renameSync(join(top, 'moved'), join(top, 'elsewhere'));
      mkdirSync(join(top, 'moved'));
      using file = directory.enter('f');
      const handle = await file?.open(0);
      expect(await handle?.readFile('utf8')).toBe('of the first');
      await handle?.close();
    },
  );

  it.skipIf(!HAS_DESCRIPTOR_PATHS)('is let go of at the end of its block (needs /proc of Linux)', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    {
      using directory = Anchor.at(join(top, 'd'));
      using file = directory.enter('f');
      expect([file?.kind, open()]).toEqual(['file', before + 2]);
    }
    expect(open()).toBe(before);
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)('keeps no descriptor of what cannot be looked at (needs /proc of Linux)', () => {
    const before = readdirSync('/proc/self/fd').length;
    const { fstatSync } = fs;
    const fstat = () => {
      throw new Error('cannot be looked at');
    };
    Object.assign(fs, { fstatSync: fstat });
    syncBuiltinESMExports();
    try {
      expect(() => Anchor.at(join(top, 'd/f'))).toThrow('cannot be looked at');
    } finally {
      Object.assign(fs, { fstatSync });
      syncBuiltinESMExports();
    }
    expect(readdirSync('/proc/self/fd')).toHaveLength(before);
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'that is let go of twice does not let go of what has its descriptor by then (needs /proc of Linux)',
    () => {
      const first = Anchor.at(join(top, 'd'));
      first.close();
      using second = Anchor.at(join(top, 'd'));
      expect(second.path).toBe(first.path);
      first.close();
      using file = second.enter('f');
      expect(file?.kind).toBe('file');
    },
  );

  it('looks at a name without following it, and sees nothing where nothing is', () => {
    using directory = Anchor.at(top);
    expect(directory.look('link')?.isSymbolicLink()).toBe(true);
    expect(directory.readLink('link')).toBe('d');
    expect(directory.look('gone')).toBeUndefined();
  });

  it.each([0, 1, 255, 256, 257, 1000])('knows all names of a directory that has %i', async (count) => {
    const place = join(top, `has-${count}`);
    mkdirSync(place);
    const names = Array.from({ length: count }, (_, i) => `name-${i}`);
    for (const name of names) writeFileSync(join(place, name), '');
    using directory = Anchor.at(place);
    expect((await directory.names()).sort()).toEqual(names.sort());
  });

  it.each([
    ['ENOENT', ['f']],
    ['EIO', 'EIO'],
  ])('knows its names where looking at one of them while they are read fails with %s', async (code, expected) => {
    // So it is where the system does not say of what kind they are.
    const read = vi.spyOn(fs.Dir.prototype, 'readSync').mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    try {
      using directory = Anchor.at(join(top, 'd'));
      expect(await directory.names().catch((error: NodeJS.ErrnoException) => error.code)).toEqual(expected);
    } finally {
      read.mockRestore();
    }
  });
});
