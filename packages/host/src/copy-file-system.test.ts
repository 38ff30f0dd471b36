import { chownSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileSystem, MemoryStorage, openFileSystem } from '@scratchfs/core';
import { copyFileSystem } from '@scratchfs/core/checkpoints';
import { afterAll, describe, expect, it } from 'vitest';
import { hostFileSystem } from './host-file-system.js';

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const [uid, gid] = IS_ROOT ? [NOBODY, NOBODY] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0];

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** Runs some work with the rights of a user who is not root. */
async function asUser(work: () => Promise<void>): Promise<void> {
  if (IS_ROOT) {
    process.setegid?.(NOBODY);
    process.seteuid?.(NOBODY);
  }
  try {
    await work();
  } finally {
    if (IS_ROOT) {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
  }
}

/** Returns a directory of the user. Its group is that of root, if root runs the test. */
function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-copy-'));
  chownSync(directory, uid, process.getgid?.() ?? 0);
  made.push(directory);
  return directory;
}

/** A filesystem of another owner, with modes that do not allow its owner to change or read all of it. */
async function closedSource(owner: number): Promise<FileSystem> {
  const fs = openFileSystem(new MemoryStorage());
  await fs.writeFile('/small', 'x');
  await fs.mkdir('/closed/deep/open', { recursive: true });
  // A large file ends a batch.
  await fs.writeFile('/closed/large', new Uint8Array(5 * 2 ** 20).fill(1));
  await fs.writeFile('/closed/small', 'x');
  await fs.writeFile('/closed/deep/open/a', 'x');
  await fs.mkdir('/none');
  for (const path of ['/small', '/closed/large']) await fs.chmod(path, 0o400);
  for (const path of ['/', '/closed', '/closed/deep']) await fs.chmod(path, 0o555);
  await fs.chmod('/none', 0);
  for (const path of ['/', '/closed', '/closed/deep', '/none', '/closed/large']) {
    await fs.chown(path, owner, owner);
    await fs.utimes(path, 1, 2);
  }
  return fs;
}

describe.skipIf(process.platform === 'win32')(
  'copyFileSystem into a host directory, for a user who is not root',
  () => {
    it.each([
      ['of another owner', 12],
      ['of their own', uid],
    ])('copies entries %s, with modes that forbid changes', async (_, owner) => {
      const directory = emptyDirectory();
      await asUser(async () => {
        const source = await closedSource(owner);
        await using host = hostFileSystem(directory);
        await copyFileSystem(source, host);
        const at = (path: string) => {
          const { mode, mtimeMs, ...owners } = lstatSync(join(directory, path));
          return { mode: mode & 0o777, mtimeMs, uid: owners.uid, gid: owners.gid };
        };
        expect(at('/')).toMatchObject({ mode: 0o555, mtimeMs: 2_000, uid });
        for (const path of ['/closed', '/closed/deep'])
          expect(at(path)).toEqual({ mode: 0o555, mtimeMs: 2_000, uid, gid });
        expect(at('/none').mode).toBe(0);
        expect(at('/closed/large')).toEqual({ mode: 0o400, mtimeMs: 2_000, uid, gid });
        expect(await host.readdir('/')).toEqual(['closed', 'none', 'small']);
        expect(await host.readText('/closed/deep/open/a')).toBe('x');
      });
    });

    it('starts again where an interrupted copy has left closed directories', async () => {
      const directory = emptyDirectory();
      await asUser(async () => {
        const source = await closedSource(12);
        await using host = hostFileSystem(directory);
        await host.writeFile('/.unfinished-copy-of-scratchfs', '');
        await host.mkdir('/left/closed', { recursive: true });
        await host.writeFile('/left/closed/a', 'x');
        for (const path of ['/left/closed', '/left']) await host.chmod(path, 0o555);
        await copyFileSystem(source, host);
        expect(await host.readdir('/')).toEqual(['closed', 'none', 'small']);
      });
    });
  },
);
