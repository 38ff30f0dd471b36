import * as host from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isNode20 } from '../testing/node-version.js';
import { outcomeOf, same, sameLater } from '../testing/same.js';
import type { HostFs } from '../testing/twin.js';
import { createNodeFs } from './create-node-fs.js';

type At = (path: string) => string;

function plant(fs: HostFs, at: At): void {
  fs.mkdirSync(at('/s/d/e'), { recursive: true });
  fs.writeFileSync(at('/s/a'), 'a', { mode: 0o640 });
  fs.writeFileSync(at('/s/d/b'), 'b');
  fs.utimesSync(at('/s/a'), 10, 20);
  fs.chmodSync(at('/s/d'), 0o700);
  fs.symlinkSync('a', at('/s/near'));
  fs.symlinkSync('../far', at('/s/d/far'));
  fs.symlinkSync('d', at('/s/directory'));
}

/** Returns everything under a directory: kinds, modes, contents, links. */
function tree(fs: HostFs, root: string): unknown[] {
  return fs
    .readdirSync(root)
    .sort()
    .flatMap((name) => {
      const path = `${root.replace(/\/$/, '')}/${name}`;
      const stats = fs.lstatSync(path);
      if (stats.isSymbolicLink()) return [[path, fs.readlinkSync(path)]];
      const mode = stats.mode.toString(8);
      return stats.isDirectory() ? [[path, mode], ...tree(fs, path)] : [[path, mode, fs.readFileSync(path, 'utf8')]];
    });
}

const OPTIONS = [
  { recursive: true },
  { recursive: true, verbatimSymlinks: true },
  { recursive: true, force: false },
  { recursive: true, force: false, errorOnExist: true },
  { recursive: true, preserveTimestamps: true },
  { recursive: true, mode: 1 },
  {},
];

type CopyCase = readonly [from: string, to: string, there?: (fs: HostFs, at: At) => void];

const IN_THE_WAY: CopyCase = ['/s', '/t', (fs, at) => fs.mkdirSync(at('/t/d'), { recursive: true })];

/** Source and target of each copy; the function creates entries at the target before it. */
const PLACES: readonly CopyCase[] = [
  ['/s', '/t'],
  ['/s', '/new/way/t'],
  ['/s/a', '/t'],
  ['/s/near', '/t'],
  ['/s/d/far', '/t'],
  ['/missing', '/t'],
  ['/s', '/s'],
  ['/s', '/s/d/t'],
  ['/s/a', '/s/a'],
  // Later versions of Node refuse a directory that exists at the target.
  ...(isNode20 ? [IN_THE_WAY] : []),
  ['/s', '/t', (fs, at) => fs.writeFileSync(at('/t'), 'file')],
  ['/s/a', '/t', (fs, at) => fs.writeFileSync(at('/t'), 'file')],
  ['/s/a', '/t', (fs, at) => fs.mkdirSync(at('/t'))],
  ['/s/a', '/t', (fs, at) => fs.symlinkSync('elsewhere', at('/t'))],
  ['/s/near', '/t', (fs, at) => fs.symlinkSync('s/d/b', at('/t'))],
  ['/s/directory', '/t', (fs, at) => fs.symlinkSync('s', at('/t'))],
  ['/s/a', '/file/t', (fs, at) => fs.writeFileSync(at('/file'), 'file')],
];

const cases = PLACES.flatMap(([from, to, there], index) =>
  OPTIONS.map(
    (options) => [`${index}: ${from} to ${to} with ${JSON.stringify(options)}`, { from, to, there, options }] as const,
  ),
);

describe('cp copies the same as Node, and fails in the same cases', () => {
  it.each(cases)('%s', async (_, { from, to, there, options }) => {
    await sameLater(async (fs, at) => {
      plant(fs, at);
      there?.(fs, at);
      const outcome = await outcomeOf(() => copyAtOnce(fs, at(from), at(to), options));
      return [withoutErrno(outcome), tree(fs, at('/'))];
    });
  });

  it.each(cases.filter((_, i) => i % 7 === 0))('by promise %s', async (_, { from, to, there, options }) => {
    await sameLater(async (fs, at) => {
      plant(fs, at);
      there?.(fs, at);
      const outcome = await outcomeOf(() => fs.promises.cp(at(from), at(to), options));
      return [withoutErrno(outcome), tree(fs, at('/'))];
    });
  });
});

/**
 * Copies with `cpSync`; on the host's later versions with the promise method, because their `cpSync` differs from their
 * own `cp`.
 */
function copyAtOnce(fs: HostFs, from: string, to: string, options: object): unknown {
  return fs === host && !isNode20 ? fs.promises.cp(from, to, options) : fs.cpSync(from, to, options);
}

/** Removes the errno: Node itself uses two numbers for a directory that is not copied. */
function withoutErrno(outcome: unknown): unknown {
  const { errno: _, info, ...rest } = (outcome ?? {}) as { errno?: number; info?: { errno: number } };
  return { ...rest, ...(info === undefined ? {} : { info: { ...info, errno: 0 } }) };
}

describe('cp', () => {
  it('follows links if requested', async () => {
    await sameLater(async (fs, at) => {
      plant(fs, at);
      fs.writeFileSync(at('/s/far'), 'far');
      fs.unlinkSync(at('/s/directory'));
      await copyAtOnce(fs, at('/s'), at('/t'), { recursive: true, dereference: true });
      return tree(fs, at('/t'));
    });
  });

  it('calls a filter for everything, and copies nothing under an excluded directory', async () => {
    const result = await sameLater(async (fs, at) => {
      plant(fs, at);
      const asked: string[] = [];
      const filter = (source: string, destination: string) => {
        asked.push(`${source} ${destination}`);
        return !source.endsWith('/d');
      };
      fs.cpSync(at('/s'), at('/t'), { recursive: true, filter });
      await fs.promises.cp(at('/s'), at('/u'), { recursive: true, filter: async (source) => !source.endsWith('/a') });
      return [asked.sort(), tree(fs, at('/t')), tree(fs, at('/u'))];
    });
    expect(JSON.stringify(result)).not.toContain('/s/d/b');
  });

  it("refuses a filter's promise in the synchronous form", () => {
    same((fs, at) => {
      plant(fs, at);
      fs.cpSync(at('/s'), at('/t'), { recursive: true, filter: (async () => true) as never });
    });
  });

  it('keeps the times if requested, and shares contents without aliasing', () => {
    const fs = createNodeFs();
    plant(fs, (path) => path);
    fs.cpSync('/s', '/t', { recursive: true, preserveTimestamps: true });
    expect(fs.statSync('/t/a')).toMatchObject({ atimeMs: 10_000, mtimeMs: 20_000 });
    fs.appendFileSync('/t/a', 'more');
    expect(fs.readFileSync('/s/a', 'utf8')).toBe('a');
  });

  it('calls back', async () => {
    const fs = createNodeFs();
    plant(fs, (path) => path);
    const call = (to: string) =>
      new Promise((resolve) => fs.cp('/s', to, { recursive: true }, (error) => resolve(error)));
    expect(await call('/t')).toBeNull();
    expect(await call('/s/d/inside')).toMatchObject({ code: 'ERR_FS_CP_EINVAL' });
    expect(fs.readdirSync('/t')).toEqual(['a', 'd', 'directory', 'near']);
  });

  it('copies directories of a thousand levels without a stack overflow', () => {
    const fs = createNodeFs();
    const deep = `/s${'/d'.repeat(900)}`;
    fs.mkdirSync(deep, { recursive: true });
    fs.cpSync('/s', '/t', { recursive: true });
    expect(fs.existsSync(deep.replace('/s', '/t'))).toBe(true);
  });
});

describe('copyFile', () => {
  it('copies, replaces, and refuses to replace if requested', () => {
    same((fs, at) => {
      plant(fs, at);
      fs.copyFileSync(at('/s/a'), at('/t'));
      fs.copyFileSync(at('/s/d/b'), at('/t'), fs.constants.COPYFILE_FICLONE);
      fs.copyFileSync(at('/s/near'), at('/u'));
      return tree(fs, at('/'));
    });
    same((fs, at) => {
      plant(fs, at);
      fs.copyFileSync(at('/s/a'), at('/s/d/b'), fs.constants.COPYFILE_EXCL);
    });
  });
});
