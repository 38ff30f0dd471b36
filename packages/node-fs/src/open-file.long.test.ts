import { asyncForm, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { constants } from './constants.js';
import { createNodeFs } from './node/create-node-fs.js';
import { outcomeOf, same } from './testing/same.js';
import type { HostFs } from './testing/twin.js';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC, O_WRONLY } = constants;

const BITS: Readonly<Record<string, number>> = { O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_SYNC };
const ACCESS: Readonly<Record<string, number>> = { O_RDONLY, O_WRONLY, O_RDWR };

/** Combinations of the flags with every access mode. */
const FLAGS = Object.entries(ACCESS)
  .flatMap(
    ([name, access]) =>
      Array.from({ length: 2 ** Object.keys(BITS).length }, (_, choice) => {
        const chosen = Object.entries(BITS).filter((__, i) => (choice & (1 << i)) !== 0);
        const flags = chosen.reduce((all, [, bit]) => all | bit, access);
        return [[name, ...chosen.map(([bit]) => bit)].join('|'), flags] as const;
      }),
    // Combinations whose behaviour is undefined are left out: `exclusive` without `create`, `directory` with `create`.
  )
  .filter(
    ([, flags]) =>
      !((flags & O_EXCL) !== 0 && (flags & O_CREAT) === 0) && !((flags & O_DIRECTORY) !== 0 && (flags & O_CREAT) !== 0),
  );

const PATHS = ['/file', '/directory', '/link', '/dangling', '/to-directory', '/missing', '/file/x', '/missing/x'];

function plant(fs: HostFs, at: (path: string) => string): void {
  fs.writeFileSync(at('/file'), 'abcdef');
  fs.mkdirSync(at('/directory'));
  fs.symlinkSync('file', at('/link'));
  fs.symlinkSync('nowhere', at('/dangling'));
  fs.symlinkSync('directory', at('/to-directory'));
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    const { code, syscall, path } = error as NodeJS.ErrnoException;
    return { code, syscall, path };
  }
}

describe('open flags behave as in the kernel', () => {
  it.each(FLAGS)('%s', (_, flags) => {
    for (const path of PATHS) {
      same((fs, at) => {
        plant(fs, at);
        const root = at('/');
        const fd = attempt(() => fs.openSync(at(path), flags, 0o600));
        if (typeof fd !== 'number') return [path, fd, fs.readdirSync(root).sort()];
        const did = [
          attempt(() => fs.readSync(fd, Buffer.alloc(3), 0, 3, null)),
          attempt(() => fs.writeSync(fd, 'XY')),
          attempt(() => fs.writeSync(fd, 'Z', 0)),
          attempt(() => fs.ftruncateSync(fd, 5)),
        ];
        fs.closeSync(fd);
        return [path, did, fs.readdirSync(root).sort(), fs.readFileSync(at('/file'), 'utf8')];
      });
    }
  });

  it('named flags are combinations of these bits', () => {
    const names = [
      'r',
      'rs',
      'sr',
      'r+',
      'rs+',
      'w',
      'wx',
      'xw',
      'w+',
      'wx+',
      'a',
      'ax',
      'as',
      'a+',
      'ax+',
      'xa+',
      'sa+',
    ];
    for (const flags of names) {
      same((fs, at) => {
        plant(fs, at);
        return PATHS.map((path) => attempt(() => fs.closeSync(fs.openSync(at(path), flags as never))));
      });
    }
  });

  it('writeFile and appendFile accept all of them', () => {
    for (const [name, flag] of FLAGS.filter((_, i) => i % 5 === 0)) {
      same((fs, at) => {
        plant(fs, at);
        const did = [
          attempt(() => fs.writeFileSync(at('/file'), 'XY', { flag: flag as never })),
          attempt(() => fs.appendFileSync(at('/missing'), 'Z', { flag: flag as never })),
          attempt(() => fs.readFileSync(at('/file'), { flag: flag as never, encoding: 'utf8' })),
        ];
        return [name, did, fs.readdirSync(at('/')).sort(), fs.readFileSync(at('/file'), 'utf8')];
      });
    }
  });

  it('they behave the same over a remote storage', async () => {
    for (const [name, flags] of FLAGS.filter((_, i) => i % 3 === 0)) {
      const far = await openFileSystem(asyncForm(new MemoryStorage()));
      const [there, here] = [createNodeFs(far), createNodeFs()];
      plant(here, (path) => path);
      await there.promises.writeFile('/file', 'abcdef');
      await there.promises.mkdir('/directory');
      await there.promises.symlink('file', '/link');
      await there.promises.symlink('nowhere', '/dangling');
      await there.promises.symlink('directory', '/to-directory');
      for (const path of PATHS) {
        const results = await Promise.all(
          [there, here].map((fs) => outcomeOf(() => openAndClose(fs.promises, path, flags))),
        );
        expect(results[0], `${name} ${path}`).toEqual(results[1]);
      }
      expect(await there.promises.readFile('/file', 'utf8')).toBe(here.readFileSync('/file', 'utf8'));
    }
  });
});

async function openAndClose(promises: HostFs['promises'], path: string, flags: number): Promise<number> {
  const handle = await promises.open(path, flags);
  const { size } = await handle.stat();
  await handle.close();
  return size;
}
