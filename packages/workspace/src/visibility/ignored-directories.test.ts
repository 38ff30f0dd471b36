import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { IgnoreFacts } from '@scratchfs/host/internal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IgnoreFile } from './ignore-file.js';
import { IgnoredDirectories } from './ignored-directories.js';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'ignored-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function git(cwd: string, args: readonly string[], input?: string): string {
  return execFileSync('git', args, {
    cwd,
    input,
    encoding: 'utf8',
    env: { ...process.env, HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' },
  });
}

function put(path: string, content = ''): void {
  mkdirSync(dirname(join(top, path)), { recursive: true });
  writeFileSync(join(top, path), content);
}

const sources = (more: Partial<IgnoreFacts> = {}): IgnoreFacts => ({
  top,
  files: [join(top, '.git/info/exclude')],
  ignoreCase: false,
  ...more,
});

/** Returns which of the directories git ignores, itself or by one above. */
function ignoredByGit(directories: readonly string[]): string[] {
  const input = directories.map((path) => `${path.slice(1)}\0`).join('');
  try {
    const found = git(top, ['check-ignore', '--no-index', '--stdin', '-z'], input);
    return found
      .split('\0')
      .filter((path) => path !== '')
      .map((path) => `/${path}`);
  } catch (error) {
    if ((error as { status: number }).status === 1) return [];
    throw error;
  }
}

/** Returns a function that returns the same random numbers for a seed (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe('git is the judge:', () => {
  const NAMES = [
    'a',
    'b',
    'ab',
    'abc',
    'Build',
    'build',
    'x y',
    'x ',
    '#c',
    '!d',
    'é',
    'a-b',
    '[a]',
    'a]',

    '^',
  ];
  const PIECES = [
    'a',
    'b',
    'c',
    'ab',
    '*',
    '**',
    '?',
    '/',
    '/',
    '**/',
    '/**',
    '[ab]',
    '[!a]',
    '[^b]',
    '[a-c]',
    '[]a]',
    '[a-]',
    '[[:alpha:]]',
    '[[:digit:]b]',
    '[[:nope:]]',
    '[',
    ']',
    '\\',
    '\\*',
    '\\ ',
    ' ',
    '!',
    '#',
    '\\#',
    '\\!',
    'é',
    'build',
    'Build',
    '-',
    '{a,b}',
    '+(a)',
    '^',
    '\r',
    '***',
  ];

  it.each(Array.from({ length: 8 }, (_, seed) => [seed]))(
    'directories of a random tree with random rules (seed %i)',
    (seed) => {
      const random = randomFrom(seed + 1);
      const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
      git(top, ['init', '-q']);
      const ignoreCase = seed % 4 === 0;
      git(top, ['config', 'core.ignoreCase', String(ignoreCase)]);
      const directories = new Set<string>();
      for (let i = 0; i < 150; i++) {
        let path = '';
        for (let depth = random(4); depth >= 0; depth--) {
          path += `/${pick(NAMES)}`;
          directories.add(path);
        }
      }
      for (const path of directories) mkdirSync(join(top, path), { recursive: true });
      const pattern = (): string => {
        const text = Array.from({ length: 1 + random(5) }, () => pick(PIECES)).join('');
        return random(2) === 0
          ? text
          : `${random(4) === 0 ? '!' : ''}${random(2) === 0 ? '/' : ''}${pick(NAMES)}${random(2) === 0 ? '/' : ''}`;
      };
      const rules = (): string =>
        Array.from({ length: 1 + random(6) }, pattern).join('\n') + (random(2) === 0 ? '\n' : '');
      put('.gitignore', rules());
      put('.git/info/exclude', rules());
      for (let i = 0; i < 12; i++) put(`${pick([...directories])}/.gitignore`.slice(1), rules());

      const ours = new IgnoredDirectories(top, sources({ ignoreCase }));
      const all = [...directories];
      const ignored = all.filter((path) => ours.on(path, true) !== undefined);
      expect(ignored.sort()).toEqual(ignoredByGit(all).sort());
    },
  );
});

describe('IgnoredDirectories', () => {
  it('names the highest ignored directory, and no file', () => {
    put('.gitignore', 'node_modules/\n*.log\n');
    const ours = new IgnoredDirectories(top, sources());
    expect(ours.on('/p/node_modules/x/node_modules/y.js', false)).toBe('/p/node_modules');
    expect(ours.on('/p/node_modules', true)).toBe('/p/node_modules');
    expect(ours.on('/p/node_modules', false)).toBeUndefined();
    expect(ours.on('/p/a.log', false)).toBeUndefined();
    expect(ours.on('/', true)).toBeUndefined();
  });

  it('reads the files that are on the disk now', () => {
    const ours = new IgnoredDirectories(top, sources());
    expect(ours.on('/dist/a', false)).toBeUndefined();
    put('.gitignore', 'dist');
    expect(ours.on('/dist/a', false)).toBe('/dist');
    // The same size and, on a coarse clock, the same times.
    put('.gitignore', 'tmp1');
    expect(ours.on('/dist/a', false)).toBeUndefined();
    utimesSync(join(top, '.gitignore'), 1, 1);
    put('.gitignore', 'dist');
    expect(ours.on('/dist/a', false)).toBe('/dist');
    rmSync(join(top, '.gitignore'));
    expect(ours.on('/dist/a', false)).toBeUndefined();
  });

  it('a workspace in a part of a repository obeys the rules above it', () => {
    put('.gitignore', '/packages/a/dist\nout\n!/packages/a/deep/out\n');
    put('packages/.gitignore', 'tmp\n');
    const ours = new IgnoredDirectories(join(top, 'packages/a'), sources());
    expect(ours.on('/dist', true)).toBe('/dist');
    expect(ours.on('/src/dist', true)).toBeUndefined();
    expect(ours.on('/x/out/y', true)).toBe('/x/out');
    expect(ours.on('/deep/out', true)).toBeUndefined();
    expect(ours.on('/tmp', true)).toBe('/tmp');
    expect(new IgnoredDirectories(join(top, 'out'), sources()).on('/out', true)).toBeUndefined();
  });

  it('a repository in the work tree has rules of its own, and the user’s file counts everywhere', () => {
    put('.gitignore', 'dist\n');
    put('vendor/lib/.git/HEAD', 'ref: refs/heads/main\n');
    put('global', 'everywhere\n');
    const ours = new IgnoredDirectories(top, sources({ files: [join(top, 'global')] }));
    expect(ours.on('/vendor/dist', true)).toBe('/vendor/dist');
    expect(ours.on('/vendor/lib/dist', true)).toBeUndefined();
    expect(ours.on('/vendor/lib/everywhere', true)).toBe('/vendor/lib/everywhere');
  });

  it('follows the user’s file of rules through a link, as git does', () => {
    put('dotfiles', 'build\n');
    symlinkSync('dotfiles', join(top, 'global'));
    const ours = new IgnoredDirectories(top, sources({ files: [join(top, 'global')] }));
    expect(ours.on('/build', true)).toBe('/build');
  });

  it('follows no link named .gitignore, and takes no pipe or folder for a file of rules', () => {
    put('rules', 'dist\n');
    symlinkSync('rules', join(top, '.gitignore'));
    mkdirSync(join(top, 'a/.gitignore'), { recursive: true });
    mkdirSync(join(top, 'b'));
    execFileSync('mkfifo', [join(top, 'b/.gitignore')]);
    const ours = new IgnoredDirectories(top, sources());
    for (const path of ['/dist', '/a/dist', '/b/dist']) expect(ours.on(path, true)).toBeUndefined();
  });

  it('a plain folder has rules too', () => {
    put('.gitignore', 'node_modules\n');
    const ours = new IgnoredDirectories(top, { files: [], ignoreCase: false });
    expect(ours.on('/node_modules/x', false)).toBe('/node_modules');
  });

  it('takes a pattern that is made to take long in linear time', () => {
    const rules = new IgnoreFile(`${'a*'.repeat(60)}b\n${'**/'.repeat(60)}x\n`);
    const started = process.cpuUsage().user;
    expect(rules.ignoresDirectory('a'.repeat(250))).toBeUndefined();
    expect(rules.ignoresDirectory('a/'.repeat(200).slice(0, -1))).toBeUndefined();
    expect(process.cpuUsage().user - started).toBeLessThan(500_000);
  });
});
