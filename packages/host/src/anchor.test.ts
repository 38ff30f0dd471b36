import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
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
      await using anchor = await Anchor.at(join(top, name));
      kinds.push(anchor.kind);
    }
    expect(kinds).toEqual(['directory', 'file', 'symlink', 'special']);
  });

  it('enters what a name stands for, and answers nothing for a name that is not there', async () => {
    await using directory = await Anchor.at(join(top, 'd'));
    await using file = await directory.enter('f');
    expect(file?.kind).toBe('file');
    expect(await directory.enter('gone')).toBeUndefined();
    await using here = await directory.enter('f');
    await expect(here?.enter('beneath')).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'stays what it was when its name goes to something else (needs /proc of Linux)',
    async () => {
      mkdirSync(join(top, 'moved'));
      writeFileSync(join(top, 'moved/f'), 'of the first');
      await using directory = await Anchor.at(join(top, 'moved'));
      renameSync(join(top, 'moved'), join(top, 'elsewhere'));
      mkdirSync(join(top, 'moved'));
      await using file = await directory.enter('f');
      const handle = await file?.open(0);
      expect(await handle?.readFile('utf8')).toBe('of the first');
      await handle?.close();
    },
  );

  it.skipIf(!HAS_DESCRIPTOR_PATHS)('is let go of at the end of its block (needs /proc of Linux)', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    {
      await using directory = await Anchor.at(join(top, 'd'));
      await using file = await directory.enter('f');
      expect([file?.kind, open()]).toEqual(['file', before + 2]);
    }
    expect(open()).toBe(before);
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'keeps no descriptor of what cannot be looked at (needs /proc of Linux)',
    async () => {
      const probe = await open(join(top, 'd/f'));
      const prototype = Object.getPrototypeOf(probe) as FileHandle;
      await probe.close();
      const before = readdirSync('/proc/self/fd').length;
      const stat = vi.spyOn(prototype, 'stat').mockRejectedValueOnce(new Error('cannot be looked at'));
      await expect(Anchor.at(join(top, 'd/f'))).rejects.toThrow('cannot be looked at');
      expect(readdirSync('/proc/self/fd')).toHaveLength(before);
      stat.mockRestore();
    },
  );
});
