import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { observe, overlay, readonly, restrict } from '@scratchfs/core/layers';
import { asyncMemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { createFileSystem } from './create-file-system.js';

/** Valid leading arguments of each method that takes options after them. */
const CALLS: Readonly<Record<string, readonly unknown[]>> = {
  exists: ['/f'],
  isFile: ['/f'],
  isDirectory: ['/d'],
  getEntry: ['/f'],
  stat: ['/f'],
  lstat: ['/f'],
  access: ['/f', 0],
  realpath: ['/f'],
  mkdir: ['/new'],
  mkdtemp: ['/new-'],
  readdir: ['/'],
  opendir: ['/'],
  entries: ['/'],
  readFile: ['/f'],
  readText: ['/f'],
  readLines: ['/f'],
  writeFile: ['/new', 'x'],
  writeLines: ['/new', ['x']],
  appendFile: ['/new', 'x'],
  editFile: ['/f', 'text', 'x'],
  truncate: ['/f', 0],
  open: ['/f', 'w'],
  rm: ['/f'],
  unlink: ['/f'],
  rmdir: ['/d'],
  cp: ['/f', '/new'],
  copyFile: ['/f', '/new'],
  rename: ['/f', '/new'],
  symlink: ['f', '/new'],
  readlink: ['/l'],
  link: ['/f', '/new'],
  chmod: ['/f', 0],
  chown: ['/f', 1, 1],
  lchown: ['/f', 1, 1],
  utimes: ['/f', 1, 1],
  lutimes: ['/f', 1, 1],
  stats: [],
  checkpoint: ['new'],
  checkpoints: [],
  rollback: ['before'],
  drop: ['before'],
  at: ['before'],
  fork: [],
  transaction: [async (inside: FileSystem) => inside.writeFile('/new', 'x')],
  run: [() => undefined, []],
};

/** Methods that return synchronously; they check their options before or in the first step. */
const AT_ONCE: Readonly<Record<string, readonly unknown[]>> = {
  walk: ['/'],
  watch: ['/'],
  createReadStream: ['/f'],
  createWriteStream: ['/new'],
};

const ODD: Readonly<Record<string, unknown>> = {
  null: null,
  'a string': 'utf8',
  'a number': 1,
  'an array with something in it': ['recursive'],
  'a misspelt key': { recursiv: true },
  'a signal that is none': { signal: {} },
};

/** Methods that take an encoding or a mode in place of the options, as in node. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  readFile: ['null', 'a string'],
  writeFile: ['null', 'a string'],
  writeLines: ['null', 'a string'],
  appendFile: ['null', 'a string'],
  readdir: ['null', 'a string'],
  opendir: ['null', 'a string'],
  realpath: ['null', 'a string'],
  readlink: ['null', 'a string'],
  mkdtemp: ['null', 'a string'],
  watch: ['null', 'a string'],
  mkdir: ['a number'],
  open: ['a number'],
  copyFile: ['a number'],
  symlink: ['null'],
};

const FILES = { '/f': 'text', '/d': null, '/l': { symlink: 'f' } };

const forms: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => createFileSystem({ files: FILES }),
  'memory with promises only': async () => openFileSystem(asyncMemoryStorage(), { files: FILES }),
  'an overlay': async () => overlay(createFileSystem({ files: FILES })),
  'a layer around each call': async () => observe(createFileSystem({ files: FILES }), () => {}),
  'a restricted one': async () =>
    restrict(createFileSystem({ files: FILES }), { check: () => {}, isVisible: () => true }),
};

async function dump(fs: FileSystem): Promise<unknown> {
  const found: unknown[] = [await fs.checkpoints()];
  for await (const { path, kind, mode, uid, modifiedAt } of fs.walk()) found.push([path, kind, mode, uid, modifiedAt]);
  return [...found, await fs.readText('/f')];
}

for (const [form, open] of Object.entries(forms)) {
  describe(`options of ${form}`, () => {
    it.each(Object.keys(CALLS))('%s refuses invalid ones, and changes nothing', async (name) => {
      const fs = await open();
      await fs.checkpoint('before');
      const before = await dump(fs);
      const method = (fs as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
      for (const [what, options] of Object.entries(ODD)) {
        if (TAKES[name]?.includes(what)) continue;
        const call = async () => method?.apply(fs, [...(CALLS[name] ?? []), options]);
        await expect(call(), `${name} with ${what}`).rejects.toBeInstanceOf(TypeError);
      }
      expect(await dump(fs)).toEqual(before);
    });

    it.each(Object.keys(AT_ONCE))('%s refuses invalid ones synchronously or in its first step', async (name) => {
      const fs = await open();
      const method = (fs as unknown as Record<string, (...args: unknown[]) => unknown>)[name];
      for (const [what, options] of Object.entries(ODD)) {
        if (TAKES[name]?.includes(what)) continue;
        const call = async () => {
          const answer = method?.apply(fs, [...(AT_ONCE[name] ?? []), options]) as object;
          if ('next' in answer) await (answer as AsyncIterator<unknown>).next();
        };
        await expect(call(), `${name} with ${what}`).rejects.toBeInstanceOf(TypeError);
      }
      expect(await fs.exists('/new')).toBe(false);
    });
  });
}

it('a read-only filesystem reports an invalid option, or refuses the write', async () => {
  const fs = readonly(createFileSystem({ files: FILES }));
  for (const name of ['writeFile', 'mkdir', 'rm', 'cp']) {
    const method = (fs as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
    await expect(method?.apply(fs, [...(CALLS[name] ?? []), { no: 1 }])).rejects.toThrow(/no option|read-only/);
  }
});
