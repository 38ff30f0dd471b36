import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { mount, observe, overlay, restrict } from '@scratchfs/core/layers';
import { Sandbox } from '@scratchfs/sandbox';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type HostFileSystemOptions, hostFileSystem } from './host-file-system.js';
import { bringBackAfter } from './testing/bring-back-after.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-git-protection-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let n = 0;
let root = '';

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, stdio: 'pipe' });

beforeEach(() => {
  root = join(top, `root-${++n}`);
  mkdirSync(join(root, 'src'), { recursive: true });
  mkdirSync(join(root, 'hooks'));
  writeFileSync(join(root, 'src/a.ts'), 'a');
  git(root, 'init', '-q');
});

/** Returns everything in a directory, with contents and modes. */
function dump(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.scratchfs-tmp-'))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      const { mode, mtimeMs } = lstatSync(path);
      if (entry.isDirectory()) return [`${path} ${mode}`, ...dump(path)];
      return [`${path} ${mode} ${mtimeMs} ${entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'utf8')}`];
    });
}

async function refusesAll(calls: Readonly<Record<string, () => unknown>>): Promise<void> {
  const before = dump(root);
  for (const [name, call] of Object.entries(calls))
    await expect((async () => call())(), name).rejects.toMatchObject({ code: 'EACCES' });
  expect(dump(root)).toEqual(before);
}

const DISGUISES = [
  '.git',
  '.GIT',
  '.Git',
  '.g\u200cit',
  '.\u200dgit',
  '.git\ufeff',
  '\u206a.git',
  'git~1',
  'GIT~1',
  '.git.',
  '.git ',
  '.git . .',
  '.git::$INDEX_ALLOCATION',
  '.git:x',
  'git~1::$INDEX_ALLOCATION',
];
const ORDINARY = ['.gitignore', '.github', 'git', '.gitx', 'git~2', '.git-x', 'x.git', '.gitattributes'];

describe('a git repository in a directory of the host', () => {
  it.each(DISGUISES)('refuses to create %j, at any depth', async (name) => {
    await using fs = hostFileSystem(root);
    await fs.mkdir('/outer/config', { recursive: true });
    await refusesAll({
      writeFile: () => fs.writeFile(`/src/${name}`, 'gitdir: /x'),
      mkdir: () => fs.mkdir(`/src/${name}`),
      'mkdir -p': () => fs.mkdir(`/src/${name}/hooks`, { recursive: true }),
      symlink: () => fs.symlink('../outer', `/src/${name}`),
      link: () => fs.link('/src/a.ts', `/src/${name}`),
      rename: () => fs.rename('/outer', `/src/${name}`),
      cp: () => fs.cp('/outer', `/src/${name}`, { recursive: true }),
      stream: () => new Response('x').body?.pipeTo(fs.createWriteStream(`/src/${name}`)),
    });
  });

  it.each(ORDINARY)('allows %j as an ordinary name', async (name) => {
    await using fs = hostFileSystem(root);
    await fs.writeFile(`/src/${name}`, 'x');
    expect(await fs.readText(`/src/${name}`)).toBe('x');
    await fs.rm(`/src/${name}`);
  });

  it('can be read but not changed, also through links, open files and moves of its parents', async () => {
    git(root, 'init', '-q', 'nested/deep');
    symlinkSync('.git', join(root, 'link'));
    await using fs = hostFileSystem(root);
    expect(await fs.readText('/.git/HEAD')).toContain('ref:');
    await refusesAll({
      config: () => fs.writeFile('/.git/config', '[core]\n\tfsmonitor = ./evil'),
      append: () => fs.appendFile('/.git/config', 'x'),
      hook: () => fs.writeFile('/.git/hooks/pre-commit', '#!/bin/sh\n', { mode: 0o755 }),
      'through a link': () => fs.writeFile('/link/config', 'x'),
      truncate: () => fs.truncate('/.git/config', 0),
      chmod: () => fs.chmod('/.git/config', 0o777),
      utimes: () => fs.utimes('/.git/config', 1, 2),
      unlink: () => fs.unlink('/.git/HEAD'),
      'a second name': () => fs.link('/.git/config', '/config'),
      rename: () => fs.rename('/.git', '/x'),
      'rename into': () => fs.rename('/src', '/.git/src'),
      'rename onto': () => fs.rename('/src/a.ts', '/.git/config'),
      rm: () => fs.rm('/.git', { recursive: true }),
      'rm of a directory around': () => fs.rm('/nested', { recursive: true }),
      'rename of a directory around': () => fs.rename('/nested', '/other'),
      'copy of a directory around': () => fs.cp('/nested', '/other', { recursive: true }),
      'open file': async () => {
        await using file = await fs.open('/.git/config', 'r+');
        await file.write('x', 0);
      },
    });
    await fs.cp('/.git/config', '/copied');
    await fs.writeFile('/nested/deep/file', 'x');
  });

  it.each<[string, (fs: FileSystem) => FileSystem | Sandbox['fileSystem'], string]>([
    ['restrict', (fs) => restrict(fs, { check: () => undefined, isVisible: () => true }), ''],
    ['observe', (fs) => observe(fs, () => undefined), ''],
    ['mount', (fs) => mount(overlay(fs), { '/m': fs }), '/m'],
    ['a sandbox', (fs) => new Sandbox(fs, { root: { root: '/' } }).fileSystem, ''],
  ])('is held through %s', async (_, wrap, prefix) => {
    await using fs = hostFileSystem(root);
    const wrapped = wrap(fs);
    await refusesAll({
      write: () => wrapped.writeFile(`${prefix}/.git/config`, 'x'),
      make: () => wrapped.mkdir(`${prefix}/src/.git`),
      rm: () => wrapped.rm(`${prefix}/.git`, { recursive: true }),
    });
  });

  it('refuses the changes of a command to it, and takes the others', async () => {
    await using fs = hostFileSystem(root);
    const before = dump(join(root, '.git'));
    const script = 'echo "[core] fsmonitor = ./evil" >>.git/config; echo x >.git/hooks/pre-commit; echo b >src/a.ts';
    const { changes, refused } = await bringBackAfter(script, fs);
    expect(changes.changed).toEqual(['/src/a.ts']);
    expect(refused.map(({ path }) => path).sort()).toEqual(['/.git/config', '/.git/hooks/pre-commit']);
    expect(dump(join(root, '.git'))).toEqual(before);
  });

  it('is protected if it is bare, and if a link elsewhere leads to it', async () => {
    git(root, 'init', '-q', '--bare', 'bare.repo');
    git(root, 'init', '-q', '--separate-git-dir', join(root, 'data'), 'separate');
    await using fs = hostFileSystem(root);
    await refusesAll({
      bare: () => fs.writeFile('/bare.repo/config', 'x'),
      'a new hook': () => fs.writeFile('/bare.repo/hooks/post-receive', 'x'),
      'rm of it': () => fs.rm('/bare.repo', { recursive: true }),
      'rename of it': () => fs.rename('/bare.repo', '/x'),
      separate: () => fs.appendFile('/data/config', 'x'),
      'the file that leads to it': () => fs.writeFile('/separate/.git', 'gitdir: ../x'),
    });
    for (const name of ['bare.repo', '.git', '.git/hooks']) {
      await using inside = hostFileSystem(join(root, name));
      await expect(inside.writeFile('/x', 'x'), name).rejects.toMatchObject({ code: 'EACCES' });
    }
  });

  it('is hidden from reads too with git: hidden', async () => {
    git(root, 'init', '-q', 'nested');
    mkdirSync(join(root, 'src/GIT~1'));
    await using fs = hostFileSystem(root, { git: 'hidden' });
    expect(await fs.readdir('/')).toEqual(['hooks', 'nested', 'src']);
    expect(await fs.exists('/.git/HEAD')).toBe(false);
    await expect(fs.readFile('/.git/config')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await fs.readdir('/src')).toEqual(['a.ts']);
    await refusesAll({
      write: () => fs.writeFile('/src/.git', 'x'),
      mkdir: () => fs.mkdir('/.git'),
      rm: () => fs.rm('/nested', { recursive: true }),
      rename: () => fs.rename('/nested', '/other'),
    });
  });

  it('can be changed with git: writable, and any other value is refused', async () => {
    await using fs = hostFileSystem(root, { git: 'writable' });
    await fs.appendFile('/.git/config', '[x]\n');
    await fs.rename('/.git', '/src/.git');
    await fs.rm('/src', { recursive: true });
    expect(existsSync(join(root, 'src'))).toBe(false);
    for (const word of ['readonly', true, null] as unknown as HostFileSystemOptions['git'][])
      expect(() => hostFileSystem(root, { git: word })).toThrow(TypeError);
  });
});

describe('a path that the configuration of a repository names', () => {
  it.each<[string, readonly string[], string]>([
    ['core.hooksPath', ['core.hooksPath', 'hooks'], '/hooks/pre-commit'],
    ['core.hooksPath with other letters', ['core.hooksPath', 'hooks'], '/HOOKS/pre-commit'],
    ['core.hooksPath that is missing', ['core.hooksPath', 'to/come'], '/to/come/pre-commit'],
    ['include.path', ['include.path', '../shared.config'], '/shared.config'],
    ['includeIf', ['includeIf.gitdir:/.path', '../src/if.config'], '/src/if.config'],
    ['core.attributesFile', ['core.attributesFile', 'attributes'], '/attributes'],
    ['core.fsmonitor', ['core.fsmonitor', 'monitor'], '/monitor'],
    ['an alias', ['alias.x', '!f() { ./src/a.ts "$@"; }; f'], '/src/a.ts'],
    ['a filter', ['filter.x.clean', 'src/clean --fast %f'], '/src/clean'],
    ['the script of an interpreter', ['filter.x.clean', 'sh clean.sh %f'], '/clean.sh'],
    ['a monitor with arguments', ['core.fsmonitor', 'sh src/monitor -q'], '/src/monitor'],
    ['a path after a variable', ['alias.x', '!sh "$PWD/src/run"'], '/src/run'],
    ['a path after a command', ['alias.x', '!"$(git rev-parse --show-toplevel)/src/run"'], '/src/run'],
    ['init.templateDir', ['init.templateDir', 'template'], '/template/hooks/post-checkout'],
  ])('cannot be written: %s', async (_, setting, path) => {
    await using fs = hostFileSystem(root);
    git(root, 'config', ...setting);
    await refusesAll({
      write: () =>
        fs
          .writeFile(path, 'x')
          .catch((error) => (error.code === 'ENOENT' ? fs.mkdir(path, { recursive: true }) : Promise.reject(error))),
    });
    await fs.writeFile('/src/other', 'x');
  });

  it('cannot be moved, removed, or led elsewhere by a link on the way', async () => {
    git(root, 'config', 'core.hooksPath', 'way/hooks');
    mkdirSync(join(root, 'way/hooks'), { recursive: true });
    mkdirSync(join(root, 'evil/hooks'), { recursive: true });
    await using fs = hostFileSystem(root);
    await refusesAll({
      move: () => fs.rename('/way', '/x'),
      remove: () => fs.rm('/way', { recursive: true }),
      'remove of it': () => fs.rmdir('/way/hooks'),
    });
    rmSync(join(root, 'way'), { recursive: true });
    await refusesAll({
      symlink: () => fs.symlink('evil', '/way'),
      'move to': () => fs.rename('/evil', '/way'),
      'copy to': () => fs.cp('/evil', '/way', { recursive: true }),
    });
    await fs.mkdir('/way');
  });

  it('is protected at the targets of links of the host', async () => {
    git(root, 'config', 'core.hooksPath', 'first');
    symlinkSync('second', join(root, 'first'));
    symlinkSync('src/third', join(root, 'second'));
    await using fs = hostFileSystem(root);
    await refusesAll({
      'what is led to': () => fs.mkdir('/src/third'),
      'a link on the way': () => fs.rm('/second'),
      'a directory on the way': () => fs.rename('/src', '/x'),
    });
  });

  it('is protected if an included file or a repository around the directory names it', async () => {
    git(root, 'config', 'include.path', '../shared.config');
    writeFileSync(join(root, 'shared.config'), '[core]\n\thooksPath = src/hooks\n');
    await using fs = hostFileSystem(root);
    await refusesAll({ hook: () => fs.mkdir('/src/hooks') });
    await using below = hostFileSystem(join(root, 'src'));
    await expect(below.mkdir('/hooks')).rejects.toMatchObject({ code: 'EACCES' });
    await below.mkdir('/other');
  });
});
