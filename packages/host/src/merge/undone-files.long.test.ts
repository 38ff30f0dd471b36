import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { findRepository } from '../git/git-repository.js';
import { apply, applyInVain, type Held, leaveHalfDone, prepare, runBehind } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { recoverStage } from './stage.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const LISTS = { added: ['new.txt'], restored: ['a.txt'], directories: [] };
const NO_LINKS = { ln: 'exit 1' };

async function left() {
  const prepared = await prepare(folders);
  const { sample, repository, from, to } = prepared;
  const before = stateOf(sample.path);
  leaveHalfDone(sample, repository, from, to, LISTS);
  const kept = join(repository.gitDirectory, 'scratchfs-merge/kept/0');
  return {
    ...prepared,
    before,
    kept,
    path: join(sample.path, 'a.txt'),
    recover: () => recoverStage(repository, repository.git),
  };
}

describe('a file restored by undoing a merge', () => {
  it('is the same inode as before, with its hard links', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    const path = join(sample.path, 'a.txt');
    const other = join(folders.folder(), 'other');
    linkSync(path, other);
    const { ino, mtimeMs } = lstatSync(path);
    expect(await applyInVain(folders, repository, from, to)).toMatchObject({ done: false });
    expect(lstatSync(path)).toMatchObject({ ino, nlink: 2, mtimeMs });
    expect(readFileSync(other, 'utf8')).toBe('one\n');
  });

  it('does not look different to git for having been kept', async () => {
    const sample = folders.repository({ 'a.txt': 'one\r\n' });
    const from = sample.git('rev-parse', 'HEAD');
    const to = sample.commit({ 'a.txt': 'two\r\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    // git would find the line ends wrong if it read the file.
    utimesSync(join(sample.path, 'a.txt'), 1, 1);
    expect(sample.git('status', '--porcelain')).toBe('');
    sample.write('.git/info/attributes', '*.txt text\n');
    // git compares times by seconds.
    await wait(1_100);
    expect(sample.git('status', '--porcelain')).toBe('');
    const repository = (await findRepository(sample.path)) as Held;
    expect(await apply(repository, from, to)).toEqual({ done: true });
    expect(sample.git('rev-parse', 'HEAD')).toBe(to);
  });

  it('is a copy if the file system has no hard links', async () => {
    const { before, sample, path, recover } = await left();
    expect(await runBehind(folders, NO_LINKS, recover)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
    expect(lstatSync(path).nlink).toBe(1);
  });

  it('stays in place if it is unchanged, even in an unwritable directory', async () => {
    const { before, sample, path, recover } = await left();
    writeFileSync(path, 'one\n');
    expect(await runBehind(folders, { ...NO_LINKS, mv: 'case "$*" in *kept*) exit 1 ;; esac' }, recover)).toBe(
      'undone',
    );
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('gets its mode back if only the mode of a copy was missing', async () => {
    const { path, kept, recover } = await left();
    writeFileSync(join(kept, '../../copies'), '');
    chmodSync(kept, 0o640);
    writeFileSync(path, 'one\n');
    chmodSync(path, 0o600);
    expect(await recover()).toBe('undone');
    expect(lstatSync(path).mode & 0o777).toBe(0o640);
  });

  it('is not reported undone if the kept file is gone and the content of the merge is there', async () => {
    const { before, sample, path, kept, recover } = await left();
    rmSync(kept);
    await expect(recover()).rejects.toThrow(/What was kept of a file is gone.*a\.txt/);
    writeFileSync(path, 'one\n');
    expect(await recover()).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('is recognized by what a filter reads if the filter can no longer write', async () => {
    const sample = folders.repository({ '.gitattributes': '*.bin filter=far\n', 'a.bin': 'a\n', 'b.bin': 'b\n' });
    const from = sample.git('rev-parse', 'HEAD');
    const to = sample.commit({ 'a.bin': 'A\n', 'b.bin': 'B\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const server = folders.folder();
    mkdirSync(join(server, 'up'));
    sample.git('config', 'filter.far.clean', "sed 's/^big //'");
    // The filter succeeds once.
    sample.git('config', 'filter.far.smudge', `rmdir '${server}/up' && sed 's/^/big /'`);
    sample.git('config', 'filter.far.required', 'true');
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    expect(await apply(repository, from, to)).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
  });
});

it('a directory that the user creates again between two undos keeps its new mode', async () => {
  const sample = folders.repository({ 'a.txt': 'one\n', 'in/x': 'x\n', 'out/x': 'x\n' });
  const from = sample.git('rev-parse', 'HEAD');
  sample.git('rm', '-q', '-r', 'in', 'out');
  const to = sample.commit({ 'a.txt': 'two\n' }, 'proven');
  sample.git('reset', '-q', '--hard', from);
  const repository = (await findRepository(sample.path)) as Held;
  leaveHalfDone(sample, repository, from, to, { added: [], restored: ['a.txt', 'in/x', 'out/x'], directories: [] });
  for (const name of ['in', 'out']) rmSync(join(sample.path, name), { recursive: true });
  writeFileSync(join(repository.gitDirectory, 'scratchfs-merge/modes'), ['750/in', '750/out', ''].join('\0'));
  const recover = () => recoverStage(repository, repository.git);
  const cut = { ln: 'exit 1', mv: 'case "$*" in *kept/0*) exit 1 ;; esac' };
  await expect(runBehind(folders, cut, recover)).rejects.toThrow(/could not be put right/);
  sample.write('in/x', 'mine\n');
  chmodSync(join(sample.path, 'in'), 0o700);
  expect(await recover()).toBe('undone');
  const modeOf = (path: string): number => lstatSync(join(sample.path, path)).mode & 0o777;
  expect([modeOf('in'), modeOf('out')]).toEqual([0o700, 0o750]);
  expect(sample.git('status', '--porcelain')).toBe('M in/x');
});

describe('a file written by a merge', () => {
  it.each([
    ['a path relative to the top', { 'core.attributesFile': 'mine' }, 'mine', undefined],
    ['an empty XDG_CONFIG_HOME', {}, undefined, ''],
  ])('has the line ends of the attributes that the user names by %s', async (_what, settings, inside, xdg) => {
    const { sample, repository, from, to } = await prepare(folders);
    for (const [name, value] of Object.entries(settings)) sample.git('config', name, value);
    const home = folders.folder();
    mkdirSync(join(home, '.config/git'), { recursive: true });
    writeFileSync(
      inside === undefined ? join(home, '.config/git/attributes') : join(sample.path, inside),
      '*.txt eol=crlf\n',
    );
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CONFIG_HOME', xdg);
    expect(await apply(repository, from, to)).toEqual({ done: true });
    vi.unstubAllEnvs();
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('two\r\n');
  });

  it.each([
    ['settings', '[core]\n\tautocrlf = true\n', undefined],
    ['attributes', '', '*.txt text eol=crlf\n'],
  ])(
    'is recognized by a user with other %s for all repositories than the merging user',
    async (_what, config, attributes) => {
      const { sample, repository, from, to } = await prepare(folders);
      const before = stateOf(sample.path);
      const home = folders.folder();
      writeFileSync(join(home, '.gitconfig'), config);
      mkdirSync(join(home, '.config/git'), { recursive: true });
      if (attributes !== undefined) writeFileSync(join(home, '.config/git/attributes'), attributes);
      // The finisher is killed before the branch moves, and no process can undo.
      const killed = { git: 'case "$*" in "update-ref "*) kill -9 $PPID; exit 1 ;; esac' };
      vi.stubEnv('HOME', home);
      vi.stubEnv('XDG_CONFIG_HOME', undefined);
      const cut = { ...killed, xargs: 'case " $* " in *" remove "*) exit 1 ;; esac' };
      await expect(runBehind(folders, cut, () => apply(repository, from, to))).rejects.toThrow(/put right/);
      vi.unstubAllEnvs();
      expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('two\r\n');
      expect(await recoverStage(repository, repository.git)).toBe('undone');
      expect(stateOf(sample.path)).toEqual(before);
    },
  );
});
