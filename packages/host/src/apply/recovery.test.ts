import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { hostFileSystem } from '../host-file-system.js';
import { loadDirectory } from '../load/load-directory.js';
import { applyChanges, recoverDirectory } from './apply-changes.js';
import { fingerprintOf, type Step } from './journal.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-recovery-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let n = 0;
let root = '';
let journal = '';

/** Leaves the root as a process that was killed after it had replaced `/a`: `b` is not replaced yet. */
beforeEach(() => {
  root = join(top, `root-${++n}`);
  journal = join(root, '.scratchfs-tmp-journal');
  for (const name of ['new', 'old', 'undone']) mkdirSync(join(journal, name), { recursive: true });
  writeFileSync(join(root, 'a'), 'new a');
  writeFileSync(join(root, 'b'), 'old b');
  writeFileSync(join(journal, 'old/0'), 'old a');
  writeFileSync(join(journal, 'new/1'), 'new b');
  leave([
    { kind: 'take', path: '/a', number: 0, is: is('old/0') },
    { kind: 'put', path: '/a', number: 0, is: is('../a') },
    { kind: 'take', path: '/b', number: 1, is: is('../b') },
    { kind: 'put', path: '/b', number: 1, is: is('new/1') },
  ]);
});

const is = (name: string) => fingerprintOf(lstatSync(join(journal, name), { bigint: true }));
const leave = (steps: readonly Step[]) =>
  writeFileSync(join(journal, 'steps'), JSON.stringify({ id: '0123456789abcdef01234567', steps }));
/** Puts a link to a directory outside the root for one of the journal's directories. */
function linkOutside(name: 'old' | 'undone'): void {
  mkdirSync(`${root}-outside`);
  writeFileSync(join(`${root}-outside`, '0'), 'secret');
  rmSync(join(journal, name), { recursive: true });
  symlinkSync(`${root}-outside`, join(journal, name));
}
const state = () => ['a', 'b'].map((name) => readFileSync(join(root, name), 'utf8'));

describe('changes that a killed process has left', () => {
  it('are undone by recoverDirectory(), once', async () => {
    expect(await recoverDirectory(root)).toEqual({ outcome: 'undone', kept: [] });
    expect(state()).toEqual(['old a', 'old b']);
    expect(readdirSync(root)).toEqual(['a', 'b']);
    expect(await recoverDirectory(root)).toEqual({ outcome: 'nothing', kept: [] });
  });

  it('are complete if all steps were made', async () => {
    writeFileSync(join(journal, 'done'), '');
    expect(await recoverDirectory(root)).toEqual({ outcome: 'completed', kept: [] });
    expect(state()).toEqual(['new a', 'old b']);
    expect(readdirSync(root)).toEqual(['a', 'b']);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['applyChanges()', () => applyChanges([{ path: '/c', after: { kind: 'file', data: 'c' } }], root)],
    ['loadDirectory()', () => loadDirectory(root)],
    [
      'a read of a writable hostFileSystem()',
      async () => {
        await using fs = hostFileSystem(root);
        expect(await fs.readText('/a')).toBe('old a');
      },
    ],
    [
      'a write of a hostFileSystem()',
      async () => {
        await using fs = hostFileSystem(root);
        await fs.writeFile('/c', 'c');
      },
    ],
  ])('are undone by %s', async (_, use) => {
    await use();
    expect(state()).toEqual(['old a', 'old b']);
    expect(existsSync(journal)).toBe(false);
  });

  it('stay if the directory is opened for reading only', async () => {
    await using fs = hostFileSystem(root, { readonly: true });
    expect(await fs.readdir('/')).toEqual(['a', 'b']);
    expect(await fs.readText('/a')).toBe('new a');
    expect(existsSync(join(journal, 'old/0'))).toBe(true);
  });

  it('give way to what another process has made since, and the old entry is kept elsewhere', async () => {
    writeFileSync(join(root, 'saved'), 'edited');
    renameSync(join(root, 'saved'), join(root, 'a'));
    const { outcome, kept } = await recoverDirectory(root);
    expect([outcome, kept.map(({ path }) => path)]).toEqual(['undone', ['/a']]);
    expect(state()).toEqual(['edited', 'old b']);
    expect(readFileSync(join(root, kept[0]?.keptAt as string), 'utf8')).toBe('old a');
  });

  it('keep an edit of the new file, and the old one elsewhere', async () => {
    writeFileSync(join(root, 'a'), 'new a, edited');
    const { kept } = await recoverDirectory(root);
    expect(state()).toEqual(['new a, edited', 'old b']);
    expect(readFileSync(join(root, kept[0]?.keptAt as string), 'utf8')).toBe('old a');
  });

  it('keep what each of several attempts could not give back', async () => {
    mkdirSync(join(root, 'd'));
    mkdirSync(join(journal, 'undone/0'));
    writeFileSync(join(root, 'd/a'), 'new d, by another process');
    writeFileSync(join(journal, 'old/1'), 'old d');
    leave([
      { kind: 'take', path: '/a', number: 0, is: is('old/0') },
      { kind: 'put', path: '/a', number: 0, is: is('../a') },
      { kind: 'take', path: '/d/a', number: 1, is: is('old/1') },
    ]);
    await expect(recoverDirectory(root)).rejects.toThrow();
    rmSync(join(journal, 'undone/0'), { recursive: true });
    writeFileSync(join(root, 'a'), 'new a, edited');
    const { kept } = await recoverDirectory(root);
    const texts = kept.map(({ path, keptAt }) => `${path} ${readFileSync(join(root, keptAt), 'utf8')}`);
    expect(texts).toEqual(['/d/a old d', '/a old a']);
  });

  it('keep entries in no directory that a link leads to', async () => {
    const outside = `${root}-outside`;
    mkdirSync(outside);
    symlinkSync(outside, join(root, '.scratchfs-kept-0123456789abcdef01234567'));
    writeFileSync(join(root, 'a'), 'new a, edited');
    const { kept } = await recoverDirectory(root);
    expect(readdirSync(outside)).toEqual([]);
    expect(readFileSync(join(root, kept[0]?.keptAt as string), 'utf8')).toBe('old a');
  });

  it.each<[string, () => void]>([
    [
      'names a path in .git',
      () => leave([{ kind: 'take', path: '/.git/hooks/pre-commit', number: 0, is: is('old/0') }]),
    ],
    ['names a path outside', () => leave([{ kind: 'take', path: '/../escaped', number: 0, is: is('old/0') }])],
    ['names no number', () => leave([{ kind: 'take', path: '/x', number: '../x', is: is('old/0') } as never])],
    ['is not JSON', () => writeFileSync(join(journal, 'steps'), 'x')],
    [
      'keeps its list behind a link',
      () => {
        rmSync(join(journal, 'steps'));
        symlinkSync('/etc/passwd', join(journal, 'steps'));
      },
    ],
    ['has a link for the directory of old entries', () => linkOutside('old')],
    ['has a link for the directory of undone entries', () => linkOutside('undone')],
  ])('are refused, and nothing changes, if their list %s', async (_, plant) => {
    plant();
    const before = readdirSync(top, { recursive: true }).sort();
    await expect(recoverDirectory(root)).rejects.toThrow(/remove it|EACCES/);
    expect(readdirSync(top, { recursive: true }).sort()).toEqual(before);
  });
});
