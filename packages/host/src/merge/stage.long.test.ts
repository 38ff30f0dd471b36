import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { findRepository } from '../git/git-repository.js';
import {
  apply,
  applyInVain,
  type Held,
  ID,
  leaveHalfDone,
  leaveMoved,
  type Prepared,
  planFor,
  prepare,
  runBehind,
  whereIs,
} from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { currentHost, type HostIdentity, UNSEEN_MS } from './host-identity.js';
import { recoverStage } from './stage.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const EMPTY = ['added', 'restored', 'directories', 'modes', 'begun', 'moving'];

const behind = <T>(programs: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> =>
  runBehind(folders, programs, run);
const prepared = (): Promise<Prepared> => prepare(folders);

describe('applyCommit()', () => {
  it.each([
    ['a file that appears where a new one would go', 'new.txt'],
    ['a change of a file that would change', 'a.txt'],
  ])('refuses %s after all checks, and leaves it', async (_what, path) => {
    const { sample, repository, from, to } = await prepared();
    sample.write(path, 'the work of somebody\n');
    const before = stateOf(sample.path);
    expect(await apply(repository, from, to)).toMatchObject({ done: false });
    expect(readFileSync(join(sample.path, path), 'utf8')).toBe('the work of somebody\n');
    expect(stateOf(sample.path)).toEqual(before);
    expect(readdirSync(repository.gitDirectory).filter((name) => name.includes('scratchfs'))).toEqual([]);
  });

  it('leaves everything unchanged if the branch has moved concurrently', async () => {
    const { sample, repository, from, to } = await prepared();
    sample.git('commit', '-q', '--allow-empty', '-m', 'somebody else');
    const before = stateOf(sample.path);
    expect(await apply(repository, from, to)).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
  });

  it.each([
    ['an empty file where a new one would go', 'new.txt', '', /Untracked working tree file 'new\.txt'/],
    ['the beginning of what would be written', 'new.txt', 'ne', /Untracked working tree file 'new\.txt'/],
    ['an emptied file', 'a.txt', '', /Entry 'a\.txt' not uptodate/],
  ])('leaves %s that appears after git has checked and before it begins', async (_what, path, text, words) => {
    const { sample, repository, from, to } = await prepared();
    const at = join(sample.path, path);
    const late = { git: `case "$*" in "read-tree -m -u"*) printf '%s' '${text}' >'${at}' ;; esac` };
    const applied = await behind(late, () => apply(repository, from, to));
    expect(applied).toMatchObject({ done: false, why: expect.stringMatching(words) });
    expect(readFileSync(at, 'utf8')).toBe(text);
    expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
  });

  it.each([
    ['file', '*.env', 'new.env', 'new.env'],
    ['directory', 'built/', 'built', 'built/deep/of-somebody'],
    ['file where a directory goes', 'built', 'built/in', 'built'],
    ['name beyond ASCII', 'ä b', 'ä b', 'ä b'],
  ])(
    'leaves an ignored %s that appears after the check for such files, and says so',
    async (_what, rule, path, late) => {
      const sample = folders.repository({ '.gitignore': `${rule}\n`, 'a.txt': 'one\n' });
      const from = sample.git('rev-parse', 'HEAD');
      sample.write('a.txt', 'two\n');
      sample.write(path, 'new\n');
      sample.git('add', '-f', '-A', '.', path);
      sample.git('commit', '-q', '-m', 'proven');
      const to = sample.git('rev-parse', 'HEAD');
      sample.git('reset', '-q', '--hard', from);
      const repository = (await findRepository(sample.path)) as Held;
      const at = join(sample.path, late);
      const someone = `case "$*" in *update-index*) mkdir -p '${dirname(at)}' && echo work >'${at}' ;; esac`;
      const applied = await behind({ git: someone }, () => apply(repository, from, to));
      expect(applied).toEqual({
        done: false,
        why: `Files that git does not know are in the way: '${late}'. Move them first.`,
      });
      expect(readFileSync(at, 'utf8')).toBe('work\n');
      expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
      expect(sample.git('status', '--porcelain')).toBe('');
      expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
    },
  );

  it('restores the modes of directories that it creates again', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n', 'closed/in/b.txt': 'b\n' });
    for (const directory of ['closed/in', 'closed']) chmodSync(join(sample.path, directory), 0o700);
    const from = sample.git('rev-parse', 'HEAD');
    sample.git('rm', '-q', '-r', 'closed');
    const to = sample.commit({ 'a.txt': 'two\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    for (const [directory, mode] of [
      ['closed/in', 0o750],
      ['closed', 0o700],
    ] as const)
      chmodSync(join(sample.path, directory), mode);
    const repository = (await findRepository(sample.path)) as Held;
    expect(await applyInVain(folders, repository, from, to)).toMatchObject({ done: false });
    const modeOf = (path: string): number => statSync(join(sample.path, path)).mode & 0o777;
    expect([modeOf('closed'), modeOf('closed/in')]).toEqual([0o700, 0o750]);
  });

  it('keeps the mode of a directory that existed all the time, as the user has changed it since', async () => {
    const files = { 'a.txt': 'one\n', 'in/b.txt': 'b\n', 'in/stays.txt': 's\n' };
    const { sample, repository, from, to } = await prepare(folders, files, { 'a.txt': 'two\n' }, ['in/b.txt']);
    const close = { git: `case "$*" in *update-ref*) chmod 700 '${join(sample.path, 'in')}' && exit 1 ;; esac` };
    expect(await behind(close, () => apply(repository, from, to))).toMatchObject({ done: false });
    expect(readFileSync(join(sample.path, 'in/b.txt'), 'utf8')).toBe('b\n');
    expect(statSync(join(sample.path, 'in')).mode & 0o777).toBe(0o700);
  });

  it('does not write into a file hard-linked into a stage', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    const precious = join(folders.folder(), 'precious');
    writeFileSync(precious, 'precious');
    const names = ['worker', 'met', 'others', 'listed', 'given'];
    for (const name of names) linkSync(precious, join(repository.gitDirectory, 'scratchfs-merge', name));
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(readFileSync(precious, 'utf8')).toBe('precious');
  });

  it.each([
    ['changes', 'lf', 'crlf'],
    ['removes', 'crlf', undefined],
    ['turns', 'crlf', 'lf'],
  ])('restores line ends if the version %s the attributes that they depend on', async (_what, old, next) => {
    const attributes = (eol: string): string => `* text eol=${eol}\n`;
    const sample = folders.repository({ '.gitattributes': attributes(old), 'a.txt': 'one\n', 'in/z.txt': 'z\n' });
    const from = sample.git('rev-parse', 'HEAD');
    for (const path of ['in/z.txt', '.gitattributes']) sample.git('rm', '-q', path);
    const changed = next === undefined ? {} : { '.gitattributes': attributes(next) };
    const to = sample.commit({ 'a.txt': 'two\n', 'in/new.txt': 'new\n', ...changed }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    rmSync(join(sample.path, '.gitattributes'));
    sample.git('checkout-index', '-f', '-a');
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    expect(await applyInVain(folders, repository, from, to)).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('restores no files into an area that a sparse checkout excludes', async () => {
    const sample = folders.repository({ 'in/a.txt': 'one\n', 'out/b.txt': 'one\n', 'out/c.txt': 'c\n' });
    const from = sample.git('rev-parse', 'HEAD');
    sample.git('rm', '-q', 'out/c.txt');
    const to = sample.commit({ 'in/a.txt': 'two\n', 'out/b.txt': 'two\n', 'out/n.txt': 'n\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    sample.git('sparse-checkout', 'set', '--no-cone', '/in/');
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    expect(await applyInVain(folders, repository, from, to)).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('restores the exact bytes, which git would write in another way', async () => {
    const { sample, repository, from, to } = await prepared();
    sample.git('config', 'core.autocrlf', 'input');
    sample.write('a.txt', 'one\r\n');
    expect(sample.git('diff', '--name-only')).toBe('');
    const before = stateOf(sample.path);
    expect(await applyInVain(folders, repository, from, to)).toMatchObject({ done: false });
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\r\n');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('undoes its changes on a disk that has become full', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    const full = join(folders.folder(), 'full');
    const unlessFull = `[ ! -e ${full} ] || { trap '' XFSZ; ulimit -f 0; }`;
    const programs = {
      git: `case "$*" in "update-ref "*) : >${full}; exit 1 ;; esac\n${unlessFull}`,
      xargs: unlessFull,
      mv: unlessFull,
    };
    expect(await behind(programs, () => apply(repository, from, to))).toMatchObject({ done: false });
    expect(existsSync(full)).toBe(true);
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('undoes a merge that has not begun if a link is to become a directory', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n' });
    symlinkSync('a.txt', join(sample.path, 'd'));
    const from = sample.commit({}, 'link');
    sample.git('rm', '-q', 'd');
    const to = sample.commit({ 'd/x': 'x\n', 'a.txt': 'two\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    const killed = { git: 'case "$*" in "read-tree -m -u"*) kill -9 $$ ;; esac' };
    expect(await behind(killed, () => apply(repository, from, to))).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('restores a file that became a link to a directory, and puts nothing into that directory', async () => {
    const outside = folders.folder();
    const sample = folders.repository({ 'a.txt': 'one\n', 'b.txt': 'b\n', 'd/x': 'x\n' });
    symlinkSync('a.txt', join(sample.path, 'link'));
    const from = sample.commit({}, 'link');
    for (const [name, target] of [
      ['b.txt', outside],
      ['link', 'd'],
    ] as const) {
      rmSync(join(sample.path, name));
      symlinkSync(target, join(sample.path, name));
    }
    const to = sample.commit({}, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    expect(await applyInVain(folders, repository, from, to)).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
    expect(readdirSync(outside)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')(
    'waits for a git that outlives its killed finisher (needs /proc of Linux)',
    async () => {
      const { sample, repository, from, to } = await prepared();
      const killed = { git: 'case "$*" in "update-ref "*) kill -9 $PPID; sleep 1 ;; esac' };
      expect(await behind(killed, () => apply(repository, from, to))).toEqual({ done: true });
      expect(sample.git('status', '--porcelain')).toBe('');
      expect(sample.git('rev-parse', 'HEAD')).toBe(to);
    },
  );

  it('leaves an empty directory that existed before', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n', 'there/in/y': 'y\n' });
    symlinkSync('there', join(sample.path, 'link'));
    const from = sample.commit({}, 'link');
    sample.git('rm', '-q', 'link');
    const to = sample.commit({ 'mine/x': 'x\n', 'new/x': 'x\n', 'link/in/x': 'x\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    mkdirSync(join(sample.path, 'mine'));
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    const late = { git: 'case "$*" in "update-ref "*) exit 1 ;; esac' };
    expect(await behind(late, () => apply(repository, from, to))).toMatchObject({ done: false });
    expect(stateOf(sample.path)).toEqual(before);
    expect(readdirSync(sample.path).sort()).toEqual(['.git', 'a.txt', 'link', 'mine', 'there']);
  });

  it('does nothing if programs that it needs are missing, and says which', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    const few = folders.folder();
    for (const name of [
      'git',
      'sh',
      'ln',
      'rm',
      'cp',
      'cat',
      'cmp',
      'head',
      'ls',
      'mv',
      'readlink',
      'rmdir',
      'sed',
      'wc',
    ])
      symlinkSync(whereIs(name) as string, join(few, name));
    vi.stubEnv('PATH', few);
    const applied = await apply(repository, from, to).finally(() => vi.unstubAllEnvs());
    expect(applied).toMatchObject({ done: false, why: expect.stringContaining('The program xargs is needed') });
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('does nothing if a file that is to change has just been removed', async () => {
    const { sample, repository, from, to } = await prepared();
    rmSync(join(sample.path, 'a.txt'));
    const before = stateOf(sample.path);
    expect(await apply(repository, from, to)).toEqual({
      done: false,
      why: "Another process has just removed 'a.txt'.",
    });
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('takes files that were only touched as unchanged', async () => {
    const { sample, repository, from, to } = await prepared();
    sample.write('a.txt', 'one\n');
    expect(await apply(repository, from, to)).toEqual({ done: true });
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('two\n');
    expect(sample.git('status', '--porcelain')).toBe('');
  });
});

describe('recoverStage()', () => {
  it('leaves a running merge of the same process alone', async () => {
    for (let round = 0; round < 2; round++) {
      const { sample, repository, from, to } = await prepared();
      let isOver = false;
      const recoveries = Array.from({ length: 2 }, async () => {
        const answers = new Set<string>();
        while (!isOver) {
          answers.add(await recoverStage(repository, repository.git).catch(String));
          await setImmediate();
        }
        return [...answers];
      });
      expect(await apply(repository, from, to)).toEqual({ done: true });
      isOver = true;
      const answers = new Set((await Promise.all(recoveries)).flat());
      expect([...answers].filter((answer) => !/^nothing$|^Error: Another merge is being brought/.test(answer))).toEqual(
        [],
      );
      expect(answers.size).toBe(2);
      expect(sample.git('status', '--porcelain')).toBe('');
    }
  });

  it('recovers a merge once if several calls find it at the same time', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    // The lock of a dead process.
    const left = join(repository.gitDirectory, `scratchfs-merge/claim-${ID}.7`);
    writeFileSync(left, JSON.stringify({ pid: 4_194_305, started: '7' }));
    const recoveries = Array.from({ length: 5 }, () => recoverStage(repository, repository.git).catch(String));
    const answers = await Promise.all(recoveries);
    expect(answers.filter((answer) => answer === 'undone')).toHaveLength(1);
    expect(answers.filter((answer) => /^nothing$|Another merge is being brought/.test(answer))).toHaveLength(4);
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('removes drafts of dead processes at every stage, and no others', async () => {
    const { sample, repository } = await prepared();
    const draft = (name: string, plan: string | undefined): string => {
      const path = join(repository.gitDirectory, `scratchfs-merge-${name}`);
      mkdirSync(path);
      if (plan !== undefined) writeFileSync(join(path, 'plan'), plan);
      return path;
    };
    const gone = [
      draft(`${ID}.4194305.7`, '{"id":"cut'),
      draft(`${ID}.4194306.7`, undefined),
      draft(`${ID}.4194305.`, 'null'),
    ];
    // Moved aside by the user.
    const others = ['old', ID, `${ID}.`, `${ID}.0.7`, `${ID}.-1.7`].map((name) => draft(name, 'null'));
    const started = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /, '')
      .split(' ')[19];
    const alive = draft(`${ID}.${process.pid}.${started}`, undefined);
    expect(await recoverStage(repository, repository.git)).toBe('nothing');
    expect(gone.filter((path) => existsSync(path))).toEqual([]);
    expect([...others, alive].filter((path) => !existsSync(path))).toEqual([]);
    expect(sample.git('status', '--porcelain')).toBe('');
  });

  it('removes reference locks left by a git killed with the finisher, and none of another git', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    const stage = join(repository.gitDirectory, 'scratchfs-merge');
    const [head, branch] = ['HEAD.lock', 'refs/heads/main.lock'].map((name) => join(repository.gitDirectory, name));
    const cutOff = (): void => {
      mkdirSync(stage);
      writeFileSync(join(stage, 'plan'), JSON.stringify({ id: ID, old: from, new: to, message: 'test' }));
      for (const name of EMPTY) writeFileSync(join(stage, name), '');
      writeFileSync(join(stage, 'lock'), ID);
      for (const name of ['as-new', 'kept']) mkdirSync(join(stage, name));
    };
    cutOff();
    linkSync(join(stage, 'lock'), join(repository.gitDirectory, 'index.lock'));
    for (const lock of [head, branch]) writeFileSync(lock as string, '');
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);

    writeFileSync(head as string, '');
    utimesSync(head as string, 1, 1);
    cutOff();
    linkSync(join(stage, 'lock'), join(repository.gitDirectory, 'index.lock'));
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(existsSync(head as string)).toBe(true);

    // The user has removed the lock of the index, and another git may be at work.
    cutOff();
    utimesSync(head as string, new Date(), new Date());
    await expect(recoverStage(repository, repository.git)).rejects.toThrow(/locked \(HEAD\.lock\): another git/);
    expect(existsSync(head as string)).toBe(true);
    rmSync(head as string);
    expect(await recoverStage(repository, repository.git)).toBe('undone');
  });

  it('touches nothing behind links that have replaced directories of the work tree', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n', 'deep/er/old.txt': 'old\n' });
    const from = sample.git('rev-parse', 'HEAD');
    const added = { 'deep/er/new.txt': 'new\n', 'fresh/er/new.txt': 'new\n', "it's new/-f\n": 'new\n' };
    const to = sample.commit({ 'a.txt': 'two\n', 'deep/er/old.txt': 'changed\n', ...added }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    const outside = folders.folder();
    for (const name of ['new.txt', 'old.txt']) writeFileSync(join(outside, name), 'of somebody else');
    mkdirSync(join(outside, 'er'));
    const cutOff = (): void => {
      leaveHalfDone(sample, repository, from, to, {
        added: Object.keys(added),
        restored: ['a.txt', 'deep/er/old.txt'],
        directories: ['fresh/er', "it's new", 'fresh'],
      });
    };
    cutOff();
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);

    cutOff();
    for (const [path, target] of [
      ['deep/er', outside],
      ['fresh', outside],
    ] as const) {
      rmSync(join(sample.path, path), { recursive: true });
      symlinkSync(target, join(sample.path, path));
    }
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(readdirSync(outside).sort()).toEqual(['er', 'new.txt', 'old.txt']);
    expect(readFileSync(join(outside, 'old.txt'), 'utf8')).toBe('of somebody else');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(readdirSync(sample.path).sort()).toEqual(['.git', 'a.txt', 'deep', 'fresh']);
    expect(lstatSync(join(sample.path, 'deep/er')).isSymbolicLink()).toBe(true);
  });

  it('undoes files written completely, partly or not yet, and leaves what the user has created or changed since', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'gone.txt': 'gone\n' });
    const from = sample.git('rev-parse', 'HEAD');
    const attributes = { '.gitattributes': '*.txt text eol=crlf\n' };
    const files = {
      'a.txt': 'two\n',
      'b.txt': 'changed\n',
      'c.txt': 'changed\n',
      'new.txt': 'new\n',
      'own.txt': 'new\n',
    };
    sample.git('rm', '-q', 'gone.txt');
    const to = sample.commit({ ...files, ...attributes }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    const cutOff = (): void => {
      leaveHalfDone(sample, repository, from, to, {
        added: ['.gitattributes', 'new.txt', 'own.txt'],
        restored: ['gone.txt', 'a.txt', 'b.txt', 'c.txt'],
        directories: [],
      });
      rmSync(join(sample.path, 'gone.txt'));
      expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('two\r\n');
      sample.write('b.txt', 'chan');
      rmSync(join(sample.path, 'c.txt'));
    };
    cutOff();
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);

    cutOff();
    for (const name of ['a.txt', 'own.txt', 'gone.txt']) sample.write(name, 'the work of somebody\n');
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(sample.git('status', '--porcelain').split('\n')).toEqual(['M a.txt', ' M gone.txt', '?? own.txt']);
    for (const name of ['a.txt', 'own.txt', 'gone.txt'])
      expect(readFileSync(join(sample.path, name), 'utf8')).toBe('the work of somebody\n');
  });

  it.each([
    ['cannot remove files', { xargs: 'case " $* " in *" remove "*) exit 125 ;; esac' }],
    ['cannot restore files', { xargs: 'case " $* " in *" restore "*) exit 125 ;; esac' }],
    ['cannot read the version', { git: 'case " $* " in *" cat-file -e "*) exit 128 ;; esac' }],
    [
      'cannot determine the content that the merge writes',
      { git: 'case " $* " in *" cat-file --filters "*:a.txt" "* | *" hash-object "*) exit 137 ;; esac' },
    ],
    [
      'gets only a part of the content that the merge writes',
      { git: 'case " $* " in *" --filters "* | *" hash-object "*) echo new; exit 137 ;; esac' },
    ],
    ['cannot move files', { ln: 'exit 1', mv: 'case "$*" in *kept/*) exit 1 ;; esac' }],
    ['has no program to compare files', { cmp: 'exit 127' }],
  ])('says so and keeps what it needs if it %s, and undoes the merge later', async (_what, programs) => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    const recovered = behind(programs, () => recoverStage(repository, repository.git));
    await expect(recovered).rejects.toThrow(/could not be put right/);
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('also restores a link', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n' });
    const relink = (target: string): string => {
      rmSync(join(sample.path, 'link'), { force: true });
      symlinkSync(target, join(sample.path, 'link'));
      return sample.commit({}, target);
    };
    const [from, to] = [relink('a.txt'), relink('b.txt')];
    sample.git('reset', '-q', '--hard', from);
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    leaveHalfDone(sample, repository, from, to, { added: [], restored: ['link'], directories: [] });
    const recover = () => recoverStage(repository, repository.git);
    const blind = { git: 'case " $* " in *" cat-file blob "*) exit 137 ;; esac' };
    await expect(behind(blind, recover)).rejects.toThrow(/could not be found out what is there: link/);
    expect(await recover()).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('continues an interrupted undo, also in the middle of a file on another disk', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n', 'd.txt': 'one\n' });
    const from = sample.git('rev-parse', 'HEAD');
    sample.git('rm', '-q', 'd.txt');
    const to = sample.commit({ 'a.txt': 'two\n', 'b.txt': 'two\n', 'c.txt': 'two\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const before = stateOf(sample.path);
    const repository = (await findRepository(sample.path)) as Held;
    const restored = ['a.txt', 'b.txt', 'c.txt', 'd.txt'];
    leaveHalfDone(sample, repository, from, to, { added: [], restored, directories: [] });
    const recover = () => recoverStage(repository, repository.git);
    const cut = {
      ln: 'exit 1',
      mv: 'case "$*" in *kept/1*) printf on >b.txt; printf o >d.txt; kill -9 $PPID; exit 1 ;; esac',
    };
    await expect(behind(cut, recover)).rejects.toThrow(/could not be put right/);
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(sample.path, 'b.txt'), 'utf8')).toBe('on');
    expect(await behind({ ln: 'exit 1' }, recover)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('writes the attributes of the version again if they are lost, and says where the kept files are', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    const lists = { added: ['new.txt'], restored: ['a.txt'], directories: [] };
    const stage = join(repository.gitDirectory, 'scratchfs-merge');
    leaveHalfDone(sample, repository, from, to, lists);
    rmSync(join(stage, 'as-new'), { recursive: true });
    mkdirSync(join(stage, 'making/half'), { recursive: true });
    writeFileSync(join(stage, 'after.lock'), 'of a git that was killed');
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);

    leaveHalfDone(sample, repository, from, to, lists);
    rmSync(join(stage, 'kept'), { recursive: true });
    const recovered = recoverStage(repository, repository.git);
    await expect(recovered).rejects.toThrow(/by hand: its stage has no kept\. Look at 'new\.txt', 'a\.txt'/);
  });

  it('never removes the lock of another git, and undoes the merge after that lock is gone', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    const lock = join(repository.gitDirectory, 'index.lock');
    rmSync(lock);
    writeFileSync(lock, 'the index that another git writes');
    const before = stateOf(sample.path);
    await expect(recoverStage(repository, repository.git)).rejects.toThrow(/locked \(index\.lock\): another git/);
    const written = ['log', 'unlocked', 'worker'].map((name) => [`.git/scratchfs-merge/${name}`, expect.anything()]);
    expect(stateOf(sample.path)).toEqual({ ...before, ...Object.fromEntries(written) });
    rmSync(lock);
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(sample.git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('leaves the lock of another git if the branch has moved', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveMoved(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    const lock = join(repository.gitDirectory, 'index.lock');
    rmSync(lock);
    writeFileSync(lock, 'the index that another git writes');
    expect(await recoverStage(repository, repository.git)).toBe('completed');
    expect(readFileSync(lock, 'utf8')).toBe('the index that another git writes');
    rmSync(lock);
    expect(sample.git('status', '--porcelain')).toBe('');
  });

  it('goes neither back nor forward if git cannot tell whether the branch has moved', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveMoved(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    const before = stateOf(sample.path);
    const recover = () => recoverStage(repository, repository.git);
    const silent = { git: 'case "$*" in "merge-base "*) exit 128 ;; esac' };
    await expect(behind(silent, recover)).rejects.toThrow(/could not be put right: 'git merge-base failed \(128\)/);
    expect(stateOf(sample.path)).toEqual(before);
    expect(await recover()).toBe('completed');
    expect(sample.git('status', '--porcelain')).toBe('');
  });

  it('leaves the index as it is if the user has removed the lock and staged something since', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveMoved(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    rmSync(join(repository.gitDirectory, 'index.lock'));
    sample.git('reset', '-q');
    sample.write('staged.txt', 'only in the index\n');
    sample.git('add', 'staged.txt');
    rmSync(join(sample.path, 'staged.txt'));
    const index = sample.git('ls-files', '--stage');
    expect(await recoverStage(repository, repository.git)).toBe('completed');
    expect(sample.git('ls-files', '--stage')).toBe(index);
    expect(sample.git('show', ':staged.txt')).toBe('only in the index');
    expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
  });

  it('adds no file to the index that has only an intent-to-add entry', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveMoved(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    rmSync(join(repository.gitDirectory, 'index.lock'));
    sample.write('meant.txt', 'not yet\n');
    sample.git('add', '-N', 'meant.txt');
    expect(await recoverStage(repository, repository.git)).toBe('completed');
    expect(sample.git('diff', '--cached', '--name-only')).toBe('');
    expect(readFileSync(join(sample.path, 'meant.txt'), 'utf8')).toBe('not yet\n');
  });

  it.each([
    ['committed all', ['add -A', 'commit -q -m kept'], ''],
    ['committed a part', ['add a.txt', 'commit -q -m kept'], '?? new.txt'],
    ['staged it', ['add -A'], 'M  a.txt\nA  new.txt'],
  ])('reverts nothing of a merge if the user has %s since', async (_what, commands, status) => {
    const { sample, repository, from, to } = await prepared();
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    rmSync(join(repository.gitDirectory, 'index.lock'));
    for (const command of commands) sample.git(...command.split(' '));
    expect(await recoverStage(repository, repository.git)).toBe('nothing');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('two\n');
    expect(sample.git('status', '--porcelain')).toBe(status);
    expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
  });

  it('undoes a merge also if the user has only intent-to-add entries for what it wrote', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    rmSync(join(repository.gitDirectory, 'index.lock'));
    sample.git('add', '-N', 'new.txt');
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('waits for a merge of another machine or container, which cannot be inspected, as long as it may be at work', async () => {
    const { sample, repository, from, to } = await prepared();
    const stage = join(repository.gitDirectory, 'scratchfs-merge');
    const recover = () => recoverStage(repository, repository.git);
    const leave = (place: Partial<HostIdentity>): void => {
      leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
      const plan = { ...planFor(from, to), place: { ...currentHost(), ...place } };
      writeFileSync(join(stage, 'plan'), JSON.stringify(plan));
    };
    leave({});
    expect(await recover()).toBe('undone');
    const age = (seconds: number): void => {
      for (const name of readdirSync(stage)) utimesSync(join(stage, name), seconds, seconds);
    };
    leave({ boot: 'the one before' });
    age(Date.now() / 1_000 - uptime() - 10);
    expect(await recover()).toBe('undone');
    for (const place of [
      { processes: 'of a container' },
      { machine: 'another', boot: 'of its own' },
      { boot: 'of a namesake' },
    ]) {
      leave(place);
      await expect(recover()).rejects.toThrow(/Another merge is being brought/);
      age((Date.now() - UNSEEN_MS) / 1_000 - 1);
      expect(await recover()).toBe('undone');
    }
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('completes a merge over what the user has staged since, so the next commit reverts nothing of it', async () => {
    const { sample, repository, from, to } = await prepared();
    leaveMoved(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    rmSync(join(repository.gitDirectory, 'index.lock'));
    sample.write('a.txt', 'two\nmine\n');
    sample.write('in/mine.txt', 'mine\n');
    sample.git('add', 'a.txt', 'in');
    sample.git('rm', '-q', 'b.txt');
    expect(await recoverStage(repository, repository.git)).toBe('completed');
    sample.git('commit', '-q', '-m', 'mine');
    expect(sample.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toEqual(['a.txt', 'in/mine.txt', 'new.txt']);
    expect(sample.git('show', 'HEAD:a.txt')).toBe('two\nmine');
    expect(sample.git('status', '--porcelain')).toBe('');
  });

  it.each([
    ['completed', true],
    ['nothing', false],
  ] as const)('leaves a branch alone that the user has checked out since, and returns %s', async (answer, moved) => {
    const { sample, repository, from, to } = await prepared();
    sample.git('checkout', '-q', '-b', 'other');
    sample.commit({ 'a.txt': 'two\n', 'new.txt': 'new\n', 'z.txt': 'z\n' }, 'the same and more');
    sample.git('checkout', '-q', 'main');
    const stopped = { mv: 'case "$*" in *scratchfs-merge-*) exit 1 ;; esac' };
    await expect(behind(stopped, () => apply(repository, from, to))).rejects.toThrow(/could not be put right/);
    if (!moved) sample.git('update-ref', 'HEAD', from);
    rmSync(join(repository.gitDirectory, 'index.lock'));
    sample.git('checkout', '-q', '-f', 'other');
    expect(await recoverStage(repository, repository.git)).toBe(answer);
    expect(sample.git('status', '--porcelain')).toBe('');
    expect(sample.git('rev-parse', 'main')).toBe(moved ? to : from);
    expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
  });

  it('needs no disk space to undo a merge', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    // All writes fail.
    const full = { xargs: `trap '' XFSZ; ulimit -f 0` };
    expect(await behind(full, () => recoverStage(repository, repository.git))).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('touches nothing if the repository contains a stage that no merge can have left', async () => {
    const { sample, repository, from, to } = await prepared();
    const outside = folders.folder();
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'of somebody else');
    const stage = join(repository.gitDirectory, 'scratchfs-merge');
    const plan = { id: ID, old: from, new: to, message: 'test' };
    const planted: readonly (readonly [unknown, string | undefined])[] = [
      [plan, 'log'],
      [plan, 'found'],
      [plan, 'as-new'],
      [null, undefined],
      [7, undefined],
      ['x'.repeat(2 ** 20), undefined],
      [{ ...plan, id: [ID] }, undefined],
      [{ ...plan, old: [from] }, undefined],
      [{ ...plan, id: `/../../../${ID}` }, undefined],
      [{ ...plan, new: '--help' }, undefined],
    ];
    for (const [said, link] of planted) {
      mkdirSync(stage);
      for (const name of ['added', 'restored', 'directories', 'begun']) writeFileSync(join(stage, name), '');
      writeFileSync(join(stage, 'plan'), JSON.stringify(said));
      if (link !== undefined) symlinkSync(victim, join(stage, link));
      const before = stateOf(sample.path);
      await expect(recoverStage(repository, repository.git)).rejects.toThrow(/No merge has left/);
      expect(stateOf(sample.path)).toEqual(before);
      expect(readFileSync(victim, 'utf8')).toBe('of somebody else');
      rmSync(stage, { recursive: true });
    }
    for (const text of ['{"id":"x', '']) {
      mkdirSync(stage);
      writeFileSync(join(stage, 'plan'), text);
      await expect(recoverStage(repository, repository.git)).rejects.toThrow(/No merge has left/);
      rmSync(stage, { recursive: true });
    }
    writeFileSync(stage, 'a file');
    await expect(recoverStage(repository, repository.git)).rejects.toThrow(/No merge has left/);
    rmSync(stage);
    mkdirSync(join(outside, 'stage'));
    writeFileSync(join(outside, 'stage/plan'), JSON.stringify(plan));
    symlinkSync(join(outside, 'stage'), stage);
    await expect(recoverStage(repository, repository.git)).rejects.toThrow(/No merge has left/);
    rmSync(stage);
  });

  it('does not empty a file of the user that is hard-linked into a stage', async () => {
    const { sample, repository, from, to } = await prepared();
    const victim = join(folders.folder(), 'victim');
    writeFileSync(victim, 'of somebody else');
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    linkSync(victim, join(repository.gitDirectory, 'scratchfs-merge/log'));
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(readFileSync(victim, 'utf8')).toBe('of somebody else');
  });

  it.each([
    ['behind a link that leads out of the repository', '', true],
    ['with content that git does not write into a reference lock', 'precious', false],
  ])('removes no lock %s', async (_what, text, isOutside) => {
    const { sample, repository, from, to } = await prepared();
    const heads = join(repository.gitDirectory, 'refs/heads');
    const directory = isOutside ? folders.folder() : join(heads, 'out');
    if (isOutside) symlinkSync(directory, join(heads, 'out'));
    else mkdirSync(directory);
    writeFileSync(join(directory, 'yarn'), `${from}\n`);
    writeFileSync(join(repository.gitDirectory, 'HEAD'), 'ref: refs/heads/out/yarn\n');
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    writeFileSync(join(repository.gitDirectory, 'scratchfs-merge/moving'), '');
    writeFileSync(join(directory, 'yarn.lock'), text);
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(readFileSync(join(directory, 'yarn.lock'), 'utf8')).toBe(text);
  });

  it('ignores paths of a stage that lead out of the work tree', async () => {
    const { sample, repository, from } = await prepared();
    const outside = join(sample.path, '..', 'victim');
    writeFileSync(outside, 'new\n');
    // The version claims to write exactly this content, as if the merge had made the file.
    const blob = sample.git('hash-object', '-w', outside);
    const treeOf = (mode: string, name: string, id: string): string => {
      const file = join(folders.folder(), 'tree');
      writeFileSync(file, Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]));
      return sample.git('hash-object', '-t', 'tree', '--literally', '-w', file);
    };
    const up = treeOf('40000', '..', treeOf('40000', '..', treeOf('100644', 'victim', blob)));
    const to = sample.git('commit-tree', treeOf('40000', 'in', up), '-p', from, '-m', 'hostile');
    expect(sample.git('cat-file', 'blob', `${to}:in/../../victim`)).toBe('new');
    mkdirSync(join(sample.path, 'in'));
    leaveHalfDone(sample, repository, from, from, {
      added: ['in/../../victim', '../victim', `${sample.path}/../victim`, './../victim'],
      restored: ['a.txt', '../victim'],
      directories: ['..'],
    });
    const plan = join(repository.gitDirectory, 'scratchfs-merge/plan');
    writeFileSync(plan, JSON.stringify({ ...JSON.parse(readFileSync(plan, 'utf8')), new: to }));
    await recoverStage(repository, repository.git).catch(() => undefined);
    expect(readFileSync(outside, 'utf8')).toBe('new\n');
    rmSync(outside);
  });

  it('removes the lock of the index after a finisher was killed when only that was left to do', async () => {
    const { sample, repository, from, to } = await prepared();
    const before = stateOf(sample.path);
    const left = join(repository.gitDirectory, `scratchfs-merge-${ID}.4194305.`);
    mkdirSync(left);
    writeFileSync(join(left, 'plan'), JSON.stringify({ id: ID, old: from, new: to, message: 'test' }));
    writeFileSync(join(repository.gitDirectory, 'index.lock'), ID);
    expect(await recoverStage(repository, repository.git)).toBe('nothing');
    expect(stateOf(sample.path)).toEqual(before);
    expect(existsSync(left)).toBe(false);
  });
});
