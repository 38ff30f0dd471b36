import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runBehind } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders, type SampleRepository } from '../testing/sample-repository.js';
import { HostHistory } from '../versions/host-history.js';
import { recoverMerge } from './execute-merge.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());
let versions: HostHistory;
beforeEach(() => {
  versions = new HostHistory({ clock: () => Date.now() });
});
afterEach(() => versions.close());

const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'dir/b.txt': 'b\n', 'gone.txt': 'gone\n' };

/** Creates a version on the repository's current state with some files changed (undefined: removed). */
async function versionOn(
  repository: SampleRepository,
  files: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const start = await versions.onboardRepo(repository.path);
  const work = folders.folder();
  await versions.checkoutSnapshot(start, work);
  for (const [path, content] of Object.entries(files)) {
    rmSync(join(work, path), { recursive: true, force: true });
    if (content === undefined) continue;
    mkdirSync(join(work, path, '..'), { recursive: true });
    writeFileSync(join(work, path), content);
  }
  return versions.createSnapshot(work, start, 'Proven');
}

const text = (repository: SampleRepository, path: string): string => readFileSync(join(repository.path, path), 'utf8');

/** Expects a refusal with these words and an unchanged repository. */
async function expectRefused(repository: SampleRepository, version: string, words: RegExp): Promise<void> {
  const before = stateOf(repository.path);
  const result = await versions.executeMerge(repository.path, version);
  expect(result).toMatchObject({ success: false, conflict: false, mergeCommit: undefined });
  expect(result.message).toMatch(words);
  expect(stateOf(repository.path)).toEqual(before);
}

describe('executeMerge()', () => {
  it('fast-forwards the branch to the version if nothing else has happened', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'ONE\n', 'new/c.txt': 'c\n', 'gone.txt': undefined });
    symlinkSync('../../new/c.txt', join(repository.path, '.git/hooks/pre-push'));
    const result = await versions.executeMerge(repository.path, version);
    expect(result).toMatchObject({ success: true, conflict: false, mergeCommit: version, conflictingPaths: [] });
    expect(result.autoRun).toEqual(['new/c.txt']);
    expect(repository.git('rev-parse', 'HEAD')).toBe(version);
    expect(repository.git('status', '--porcelain')).toBe('');
    expect(repository.git('fsck', '--strict')).toBe('');
    expect(text(repository, 'new/c.txt')).toBe('c\n');
    expect(existsSync(join(repository.path, 'gone.txt'))).toBe(false);
    expect(readdirSync(join(repository.path, '.git')).filter((name) => name.includes('scratchfs'))).toEqual([]);
    expect(repository.git('reflog', '-1', '--format=%gs')).toBe('scratchfs: merge Proven');
    expect(await versions.executeMerge(repository.path, version)).toMatchObject({
      success: true,
      mergeCommit: version,
    });
  });

  it('shortens a message that is too long for an argument in the reflog and keeps it in a merge commit', async () => {
    const repository = folders.repository(FILES);
    const start = await versions.onboardRepo(repository.path);
    const long = async (message: string): Promise<string> =>
      versions.historyOf().commitTree(await versions.historyOf().treeOf(start), { message, parents: [start] });
    const version = await long('x'.repeat(1_100_000));
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(repository.git('reflog', '-1', '--format=%gs')).toBe(`scratchfs: merge ${'x'.repeat(199)}…`);
    expect(readdirSync(join(repository.path, '.git')).filter((name) => name.startsWith('scratchfs'))).toEqual([]);
    const other = await long(`${'y'.repeat(198)}${'\u{1f600}'.repeat(100_000)}`);
    expect((await versions.executeMerge(repository.path, other)).success).toBe(true);
    expect(repository.git('log', '-1', '--format=%s')).toBe(`Merge: ${'y'.repeat(198)}…`);
  });

  it.each([':', '"', '"quoted"', '\\', ' \t'])('merges into a repository with %j in its path', async (characters) => {
    const top = join(folders.folder(), `${characters}a${characters}b`);
    const repository = folders.repository(FILES);
    repository.git('clone', '-q', '.', top);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    expect(await versions.executeMerge(top, version)).toMatchObject({ success: true, mergeCommit: version });
    writeFileSync(join(top, 'a.txt'), 'y\n');
    const lying = await versions.onboardRepo(top, { workingTree: true });
    expect((await versions.readCommit(lying)).parent).toBe(version);
  });

  it('ignores settings of the user that change the output of git', async () => {
    const repository = folders.repository(FILES);
    const start = await versions.onboardRepo(repository.path);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    writeFileSync(join(work, 'ä.txt'), 'x\n');
    const version = await versions.createSnapshot(work, start, 'Größe');
    repository.commit({ 'dir/b.txt': 'meanwhile\n' }, 'meanwhile');
    repository.write('a.txt', 'put aside\n');
    repository.git('stash');
    const settings = {
      'status.showStash': 'true',
      'status.branch': 'true',
      'status.short': 'true',
      'status.relativePaths': 'false',
      'status.renames': 'copies',
      'status.showUntrackedFiles': 'all',
      'status.submoduleSummary': 'true',
      'color.ui': 'always',
      'color.status': 'always',
      'color.diff': 'always',
      'column.ui': 'always',
      'core.quotePath': 'true',
      'core.abbrev': '7',
      'diff.renames': 'copies',
      'diff.noprefix': 'true',
      'diff.relative': 'true',
      'diff.external': 'false',
      'diff.submodule': 'log',
      'log.showSignature': 'true',
      'i18n.commitEncoding': 'ISO-8859-1',
      'i18n.logOutputEncoding': 'ISO-8859-1',
      'merge.verbosity': '5',
      'commit.verbose': 'true',
      'commit.gpgSign': 'true',
      'core.untrackedCache': 'true',
      'index.version': '4',
      'index.sparse': 'true',
      'feature.manyFiles': 'true',
      'pack.packSizeLimit': '1m',
    };
    for (const [name, value] of Object.entries(settings)) repository.git('config', name, value);
    expect(await versions.onboardRepo(repository.path)).toBe(repository.git('rev-parse', 'HEAD'));
    expect(await versions.executeMerge(repository.path, version)).toMatchObject({ success: true });
    const log = ['-c', 'i18n.logOutputEncoding=UTF-8', '-c', 'log.showSignature=false', 'log', '-1'];
    expect(repository.git(...log, '--format=%s')).toBe('Merge: Größe');
    expect(text(repository, 'ä.txt')).toBe('x\n');
    repository.write('a.txt', 'changed\n');
    await expectRefused(repository, version, /not committed: 'a\.txt'/);
  });

  it('makes a merge commit if the branch has advanced, and keeps the changes of both sides', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'ONE\ntwo\nthree\n' });
    const theirs = repository.commit({ 'a.txt': 'one\ntwo\nTHREE\n', other: 'x' }, 'meanwhile');
    const result = await versions.executeMerge(repository.path, version);
    expect(result.success).toBe(true);
    expect(text(repository, 'a.txt')).toBe('ONE\ntwo\nTHREE\n');
    expect(repository.git('log', '-1', '--format=%P %s')).toBe(`${theirs} ${version} Merge: Proven`);
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('reports the paths of a conflict and changes nothing, not even the objects', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'ours\n', 'dir/b.txt': 'same place\n' });
    repository.commit({ 'a.txt': 'theirs\n', 'dir/b.txt': 'another\n' }, 'meanwhile');
    const before = [stateOf(repository.path), repository.git('count-objects', '-v')];
    const result = await versions.executeMerge(repository.path, version);
    expect(result).toMatchObject({ success: false, conflict: true, mergeCommit: undefined });
    expect(result.conflictingPaths).toEqual(['a.txt', 'dir/b.txt']);
    expect([stateOf(repository.path), repository.git('count-objects', '-v')]).toEqual(before);
  });

  it('refuses while there are uncommitted changes, staged or not', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    repository.write('dir/b.txt', 'mine\n');
    await expectRefused(repository, version, /not committed: 'dir\/b\.txt'/);
    repository.git('add', '-A');
    await expectRefused(repository, version, /not committed/);
    repository.git('reset', '-q', '--hard');
    rmSync(join(repository.path, 'gone.txt'));
    await expectRefused(repository, version, /not committed: 'gone\.txt'/);
  });

  it('refuses to replace untracked files, including ignored ones', async () => {
    const repository = folders.repository({ ...FILES, '.gitignore': 'secret\n' });
    const version = await versionOn(repository, { new: 'x\n', 'deep/er/x': 'x\n' });
    repository.write('new', 'mine');
    await expectRefused(repository, version, /in the way: 'new'/);
    rmSync(join(repository.path, 'new'));
    repository.write('deep', 'mine');
    await expectRefused(repository, version, /in the way: 'deep'/);
    rmSync(join(repository.path, 'deep'));
    const work = folders.folder();
    const start = await versions.onboardRepo(repository.path);
    await versions.checkoutSnapshot(start, work);
    writeFileSync(join(work, 'secret'), 'theirs');
    const other = await versions.createSnapshot(work, start, 'Ignored', { includeIgnored: true });
    repository.write('secret', 'mine');
    await expectRefused(repository, other, /in the way: 'secret'/);
    rmSync(join(repository.path, 'secret'));
    repository.write('secret/inner', 'mine');
    await expectRefused(repository, other, /in the way: 'secret\/inner'/);
  });

  it('refuses a change that git has been told not to look at', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    repository.git('update-index', '--assume-unchanged', 'a.txt');
    repository.write('a.txt', 'my secret change\n');
    await expectRefused(repository, version, /told not to look/);
    repository.git('update-index', '--no-assume-unchanged', 'a.txt');
    repository.git('update-index', '--skip-worktree', 'a.txt');
    await expectRefused(repository, version, /told not to look/);
  });

  it('leaves unrelated untracked files alone', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n', 'gone.txt': undefined });
    repository.write('notes', 'mine');
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(text(repository, 'notes')).toBe('mine');
  });

  it('turns files into directories and back', async () => {
    const repository = folders.repository({ ...FILES, 'dir/c.txt': 'c\n' });
    const version = await versionOn(repository, {
      'a.txt': undefined,
      dir: 'a file\n',
      'gone.txt': undefined,
      'gone.txt/inner': 'x\n',
    });
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(text(repository, 'dir')).toBe('a file\n');
    expect(text(repository, 'gone.txt/inner')).toBe('x\n');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('turns a file into nested directories', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': undefined, 'a.txt/one/two': 'two\n' });
    expect(await versions.executeMerge(repository.path, version)).toMatchObject({ success: true });
    expect(text(repository, 'a.txt/one/two')).toBe('two\n');
  });

  it('merges into a repository that has never had a file or an index', async () => {
    const repository = folders.repository({});
    const tree = repository.git('mktree', '--missing');
    repository.git('update-ref', 'HEAD', repository.git('commit-tree', tree, '-m', 'nothing yet'));
    const version = await versionOn(repository, { 'a.txt': 'one\n' });
    expect(existsSync(join(repository.path, '.git/index'))).toBe(false);
    expect(await versions.executeMerge(repository.path, version)).toMatchObject({ success: true });
    expect(text(repository, 'a.txt')).toBe('one\n');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it.each(['index.lock', 'HEAD.lock', 'refs/heads/main.lock'])(
    'refuses while %s exists, and leaves it',
    async (lock) => {
      const repository = folders.repository(FILES);
      const version = await versionOn(repository, { 'a.txt': 'x\n' });
      repository.write(`.git/${lock}`, '');
      await expectRefused(repository, version, /locked/);
      expect(text(repository, `.git/${lock}`)).toBe('');
    },
  );

  it('refuses with a detached HEAD and without any commit', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    repository.git('checkout', '-q', '--detach');
    await expectRefused(repository, version, /detached/);
    const empty = folders.repository({});
    const result = await versions.executeMerge(empty.path, version);
    expect(result).toMatchObject({ success: false, conflict: false });
    expect(result.message).toMatch(/no commit yet/);
  });

  it('refuses in the middle of a rebase, a merge and a bisection', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'dir/b.txt': 'x\n' });
    repository.git('checkout', '-q', '-b', 'side');
    repository.commit({ 'a.txt': 'side\n' }, 'side');
    repository.git('checkout', '-q', 'main');
    repository.commit({ 'a.txt': 'main\n' }, 'main');
    expect(() => repository.git('merge', '-q', 'side')).toThrow();
    await expectRefused(repository, version, /a merge/);
    repository.git('merge', '--abort');
    repository.git('bisect', 'start');
    await expectRefused(repository, version, /bisection/);
    repository.git('bisect', 'reset');
    repository.git('checkout', '-q', 'side');
    expect(() => repository.git('rebase', 'main')).toThrow();
    await expectRefused(repository, version, /rebase|detached/);
  });

  it('moves the branch of a bare repository', async () => {
    const repository = folders.repository(FILES);
    const bare = folders.folder();
    repository.git('clone', '-q', '--bare', repository.path, join(bare, 'r.git'));
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    expect(await versions.executeMerge(join(bare, 'r.git'), version)).toMatchObject({
      success: true,
      mergeCommit: version,
    });
    expect(repository.git('-C', join(bare, 'r.git'), 'rev-parse', 'main')).toBe(version);
  });

  it('moves the branch of a bare repository however the git that moved it exits', async () => {
    const repository = folders.repository(FILES);
    const bare = join(folders.folder(), 'r.git');
    repository.git('clone', '-q', '--bare', repository.path, bare);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    const killed = { git: 'case "$*" in *"update-ref "*) $real "$@"; kill -9 $$ ;; esac' };
    const merged = runBehind(folders, killed, () => versions.executeMerge(bare, version));
    expect(await merged).toMatchObject({ success: true, mergeCommit: version });
    expect(repository.git('-C', bare, 'rev-parse', 'main')).toBe(version);
  });

  it('merges into a linked work tree and moves only its branch', async () => {
    const repository = folders.repository(FILES);
    const linked = join(folders.folder(), 'linked');
    repository.git('worktree', 'add', '-q', '-b', 'side', linked);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    expect((await versions.executeMerge(linked, version)).success).toBe(true);
    expect(readFileSync(join(linked, 'a.txt'), 'utf8')).toBe('x\n');
    expect(repository.git('rev-parse', 'side')).toBe(version);
    expect(text(repository, 'a.txt')).toBe(FILES['a.txt']);
    expect(repository.git('-C', linked, 'status', '--porcelain')).toBe('');
  });

  it('refuses to move a branch that another work tree has checked out', async () => {
    const repository = folders.repository(FILES);
    const bare = join(folders.folder(), 'r.git');
    repository.git('clone', '-q', '--bare', repository.path, bare);
    const linked = join(folders.folder(), 'linked');
    repository.git('-C', bare, 'worktree', 'add', '-q', linked, 'main');
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    const result = await versions.executeMerge(bare, version);
    expect(result).toMatchObject({ success: false });
    expect(result.message).toMatch(/checked out in '.*linked'/);
    expect(await versions.executeMerge(linked, version)).toMatchObject({ success: true, mergeCommit: version });
    rmSync(linked, { recursive: true });
    const next = await versions.historyOf().commitTree(await versions.historyOf().treeOf(version), {
      message: 'next',
      parents: [version],
    });
    expect(await versions.executeMerge(bare, next)).toMatchObject({ success: true });
    const beside = join(folders.folder(), 'beside');
    repository.git('worktree', 'add', '-q', '-f', beside, 'main');
    await expectRefused(repository, version, /checked out in '.*beside'/);
  });

  it('keeps entries that a version could not represent', async () => {
    const repository = folders.repository({ ...FILES, 'back\\slash': 'x', 'dir/also\\bad': 'x', 'lost\\one': 'x' });
    repository.git('checkout', '-q', '-b', 'side');
    repository.git('rm', '-rq', 'dir', 'lost\\one');
    const side = repository.commit({ 'back\\slash': 'changed', dir: 'a file' }, 'side');
    repository.git('checkout', '-q', 'main');
    await versions.onboardRepo(repository.path, { skipUnrepresentable: () => undefined });
    expect(await versions.executeMerge(repository.path, side)).toMatchObject({ success: true });
    expect(['back\\slash', 'dir', 'lost\\one'].map((path) => text(repository, path))).toEqual([
      'changed',
      'a file',
      'x',
    ]);
  });

  it('merges into a submodule on a branch', async () => {
    const inner = folders.repository({ 'inner.txt': 'x' });
    const repository = folders.repository(FILES);
    repository.git('submodule', '--quiet', 'add', inner.path, 'sub');
    const sub = join(repository.path, 'sub');
    const start = await versions.onboardRepo(sub);
    const history = versions.historyOf(start);
    const version = await history.commitTree(await history.treeOf(start), { message: 'next', parents: [start] });
    expect(await versions.executeMerge(sub, version)).toMatchObject({ success: true, mergeCommit: version });
  });

  it('merges into a shallow clone, and says so if it lacks the common history', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    repository.commit({ other: 'x' }, 'meanwhile');
    repository.commit({ other: 'y' }, 'more');
    const shallow = join(folders.folder(), 'shallow');
    repository.git('clone', '-q', '--depth=1', `file://${repository.path}`, shallow);
    const result = await versions.executeMerge(shallow, version);
    expect(result).toMatchObject({ success: false, conflict: false });
    expect(result.message).toMatch(/shallow/);
    const start = await versions.onboardRepo(shallow);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    writeFileSync(join(work, 'a.txt'), 'shallow\n');
    const proven = await versions.createSnapshot(work, start, 'Proven');
    expect((await versions.executeMerge(shallow, proven)).success).toBe(true);
    expect(readFileSync(join(shallow, 'a.txt'), 'utf8')).toBe('shallow\n');
  });

  it('refuses part of a repository, and a repository without common history', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    expect((await versions.executeMerge(join(repository.path, 'dir'), version)).message).toMatch(
      /not a complete git repository/,
    );
    const stranger = folders.repository({ s: 's' });
    await expectRefused(stranger, version, /no common history/);
  });

  it('ignores another work tree named by settings of the repository', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    const victim = folders.folder();
    writeFileSync(join(victim, 'a.txt'), FILES['a.txt']);
    repository.git('config', 'core.worktree', victim);
    const result = await versions.executeMerge(repository.path, version);
    expect(result.success).toBe(false);
    expect(readFileSync(join(victim, 'a.txt'), 'utf8')).toBe(FILES['a.txt']);
  });

  it('runs no hook, filter, merge driver, fsmonitor or other program that the repository names', async () => {
    const repository = folders.repository({ ...FILES, '.gitattributes': '*.drv merge=evil\n', 'x.drv': '1\n2\n3\n' });
    const canary = join(folders.top, 'merge-canary');
    const version = await versionOn(repository, { 'a.txt': 'x\n', 'x.drv': '1\n2\nthree\n' });
    repository.commit({ 'x.drv': 'one\n2\n3\n' }, 'meanwhile');
    mkdirSync(join(repository.path, '.git/hooks'), { recursive: true });
    const hooks = [
      'reference-transaction',
      'post-index-change',
      'post-checkout',
      'post-merge',
      'pre-merge-commit',
      'pre-commit',
      'post-rewrite',
      'pre-auto-gc',
      'commit-msg',
      'prepare-commit-msg',
      'post-commit',
    ];
    for (const hook of hooks) {
      repository.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${canary}-${hook}\n`);
      chmodSync(join(repository.path, '.git/hooks', hook), 0o755);
    }
    const keys = [
      'core.fsmonitor',
      'core.editor',
      'core.pager',
      'core.sshCommand',
      'core.gitProxy',
      'core.alternateRefsCommand',
      'merge.evil.driver',
      'filter.evil.clean',
      'filter.evil.smudge',
      'filter.evil.process',
      'diff.external',
      'gpg.program',
      'credential.helper',
      'merge.a=b.driver',
    ];
    for (const key of keys) repository.git('config', key, `touch ${canary}-${key.replace(/\W/g, '-')}; true`);
    repository.git('config', 'commit.gpgSign', 'true');
    const result = await versions.executeMerge(repository.path, version);
    // The driver does not run, so the conflict remains.
    expect(result).toMatchObject({ success: false, conflict: true, conflictingPaths: ['x.drv'] });
    const easy = await versionOn(repository, { 'a.txt': 'x\n' });
    repository.git(
      '-c',
      'core.hooksPath=/dev/null',
      '-c',
      'commit.gpgSign=false',
      '-c',
      'core.fsmonitor=false',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'on',
    );
    for (const name of readdirSync(folders.top)) if (name.startsWith('merge-canary')) rmSync(join(folders.top, name));
    expect((await versions.executeMerge(repository.path, easy)).success).toBe(true);
    expect(readdirSync(folders.top).filter((name) => name.startsWith('merge-canary'))).toEqual([]);
  });

  it('refuses changed paths with a filter, also one that the version itself names, unless filters are allowed', async () => {
    const canary = join(folders.top, 'filter-canary');
    const repository = folders.repository({ 'a.bin': 'x\n', '.gitattributes': '*.bin filter=big\n' });
    const version = await versionOn(repository, { 'a.bin': 'y\n' });
    repository.git('config', 'filter.big.smudge', `touch ${canary}; tr a-z A-Z`);
    repository.git('config', 'filter.big.clean', 'tr A-Z a-z');
    await expectRefused(repository, version, /filter.*'a\.bin'/);
    const other = folders.repository({ 'b.txt': 'x\n' });
    other.git('config', 'filter.big.smudge', `touch ${canary}`);
    const named = await versionOn(other, { 'b.txt': 'y\n', '.gitattributes': '*.txt filter=big\n' });
    await expectRefused(other, named, /filter.*'b\.txt'/);
    expect(existsSync(canary)).toBe(false);
    expect((await versions.executeMerge(repository.path, version, { allowFilters: true })).success).toBe(true);
    expect(text(repository, 'a.bin')).toBe('Y\n');
    expect(existsSync(canary)).toBe(true);
  });

  it('undoes a merge with filters only if they may run', async () => {
    const repository = folders.repository({ 'a.bin': 'x\n', '.gitattributes': '*.bin filter=big\n', t: 't\n' });
    const version = await versionOn(repository, { 'a.bin': 'y\n', 'new.bin': 'new\n' });
    const later = await versionOn(repository, { t: 'T\n' });
    repository.git('config', 'filter.big.smudge', 'tr a-z A-Z');
    repository.git('config', 'filter.big.clean', 'tr A-Z a-z');
    rmSync(join(repository.path, 'a.bin'));
    repository.git('checkout-index', '-f', 'a.bin');
    const before = stateOf(repository.path);
    // With this git, undoing the merge cannot determine the content that the merge writes.
    const bin = folders.folder();
    const fails = 'case " $* " in " update-ref -m "* | *" cat-file --filters "* | *" hash-object "*) exit 128 ;; esac';
    const real = repository.git('--exec-path');
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n${fails}\nexec ${real}/git "$@"\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
    const merge = versions.executeMerge(repository.path, version, { allowFilters: true });
    await expect(merge.finally(() => vi.unstubAllEnvs())).rejects.toThrow(/could not be put right/);
    const left = stateOf(repository.path);
    await expect(versions.executeMerge(repository.path, later)).rejects.toThrow(/recover with allowFilters/);
    await expect(recoverMerge(repository.path)).rejects.toThrow(/recover with allowFilters/);
    expect(stateOf(repository.path)).toEqual(left);
    expect(await recoverMerge(repository.path, { allowFilters: true })).toBe('undone');
    expect(stateOf(repository.path)).toEqual(before);
  });

  it('uses the real history, not grafts and replacements', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    const root = repository.git('rev-parse', 'HEAD');
    const head = repository.commit({ other: 'x' }, 'meanwhile');
    // The graft, and below the replacement, say that the branch begins at `head`, without history in common.
    repository.write('.git/info/grafts', `${head}\n`);
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    repository.git('reset', '-q', '--hard', head);
    rmSync(join(repository.path, '.git/info/grafts'));
    const orphan = repository.git('commit-tree', '-m', 'orphan', `${head}^{tree}`);
    repository.git('replace', head, orphan);
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(repository.git('--no-replace-objects', 'merge-base', 'HEAD', root)).toBe(root);
  });

  it('merges into a repository that borrows its objects from another one', async () => {
    const lender = folders.repository(FILES);
    const version = await versionOn(lender, { 'a.txt': 'x\n' });
    const borrower = join(folders.folder(), 'borrower');
    lender.git('clone', '-q', '--shared', lender.path, borrower);
    const second = join(folders.folder(), 'second');
    lender.git('clone', '-q', '--shared', borrower, second);
    for (const path of [second, borrower])
      expect(await versions.executeMerge(path, version)).toMatchObject({ success: true, mergeCommit: version });
    expect(lender.git('-C', second, 'fsck', '--strict')).toBe('');
  });

  it('ignores the environment and included settings that would lead it elsewhere or run a program', async () => {
    const repository = folders.repository(FILES);
    const victim = folders.repository(FILES);
    const canary = join(folders.top, 'environment-canary');
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    const included = join(folders.folder(), 'included');
    writeFileSync(included, `[core]\n\tfsmonitor = touch ${canary}\n\thooksPath = ${folders.top}\n`);
    repository.git('config', 'include.path', included);
    const before = stateOf(victim.path);
    const steering = {
      GIT_DIR: join(victim.path, '.git'),
      GIT_WORK_TREE: victim.path,
      GIT_INDEX_FILE: join(victim.path, '.git/index'),
      GIT_OBJECT_DIRECTORY: join(victim.path, '.git/objects'),
      GIT_NAMESPACE: 'elsewhere',
      GIT_EXTERNAL_DIFF: `touch ${canary}`,
      GIT_TRACE: canary,
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor=touch ${canary}'`,
    };
    for (const [name, value] of Object.entries(steering)) vi.stubEnv(name, value);
    try {
      expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(text(repository, 'a.txt')).toBe('x\n');
    expect(stateOf(victim.path)).toEqual(before);
    expect(existsSync(canary)).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'refuses a repository owned by another user, as git does (needs root to make one)',
    async () => {
      const repository = folders.repository(FILES);
      const version = await versionOn(repository, { 'a.txt': 'x\n' });
      for (const path of [repository.path, join(repository.path, '.git')]) chownSync(path, 12_345, 12_345);
      const result = await versions.executeMerge(repository.path, version);
      expect(result).toMatchObject({ success: false, conflict: false });
      expect(result.message).toMatch(/ownership/);
      expect(text(repository, 'a.txt')).toBe(FILES['a.txt']);
    },
  );

  it('leaves an area alone that a sparse checkout excludes', async () => {
    const repository = folders.repository({ ...FILES, 'away/far.txt': 'far\n' });
    const version = await versionOn(repository, { 'a.txt': 'x\n', 'away/far.txt': 'changed\n' });
    repository.git('sparse-checkout', 'set', 'dir');
    expect(existsSync(join(repository.path, 'away'))).toBe(false);
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(existsSync(join(repository.path, 'away'))).toBe(false);
    expect(repository.git('show', 'HEAD:away/far.txt')).toBe('changed');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('leaves line ends to git', async () => {
    const repository = folders.repository({ 'a.txt': 'one\n', '.gitattributes': '*.txt text eol=crlf\n' });
    const version = await versionOn(repository, { 'a.txt': 'one\ntwo\n' });
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(text(repository, 'a.txt')).toBe('one\r\ntwo\r\n');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('merges submodules as commits and runs nothing in them', async () => {
    const inner = folders.repository({ 'inner.txt': 'x' });
    const repository = folders.repository(FILES);
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    repository.commit({}, 'submodule');
    const canary = join(folders.top, 'submodule-canary');
    repository.git('-C', 'sub', 'config', 'core.fsmonitor', `touch ${canary}`);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(repository.git('submodule', 'status')).toMatch(/^[0-9a-f]{40} sub/);
    expect(existsSync(canary)).toBe(false);
    expect(text(repository, 'sub/inner.txt')).toBe('x');
  });

  it('refuses to remove a submodule that is checked out', async () => {
    const inner = folders.repository({ 'inner.txt': 'x' });
    const repository = folders.repository(FILES);
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    repository.commit({}, 'submodule');
    repository.git('config', 'submodule.sub.ignore', 'all');
    repository.git('config', 'diff.ignoreSubmodules', 'all');
    const asFile = await versionOn(repository, { sub: 'a file\n' });
    const history = versions.historyOf(asFile);
    const id = history.blobId(Buffer.from('mine\n'));
    await history.repository.write([{ type: 'blob', body: Buffer.from('mine\n'), id }]);
    const edits = new Map([
      ['sub', undefined],
      ['sub/other.txt', { mode: '100644', id } as const],
    ]);
    const parents = [repository.git('rev-parse', 'HEAD')];
    const tree = await history.editTree(parents[0], edits);
    const asDirectory = await history.commitTree(tree, { message: 'Vendored', parents });
    repository.write('sub/inner.txt', 'not committed\n');
    repository.write('sub/new.txt', 'untracked\n');
    for (const version of [asFile, asDirectory]) await expectRefused(repository, version, /in the way: 'sub'/);
    repository.git('submodule', '--quiet', 'deinit', '-f', 'sub');
    expect((await versions.executeMerge(repository.path, asDirectory)).success).toBe(true);
    expect(readdirSync(join(repository.path, 'sub'))).toEqual(['other.txt']);
  });

  it('leaves the files of a submodule that a version removes', async () => {
    const inner = folders.repository({ 'inner.txt': 'x' });
    const repository = folders.repository(FILES);
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    repository.commit({}, 'submodule');
    repository.write('sub/inner.txt', 'not committed\n');
    const version = await versionOn(repository, { sub: undefined });
    expect((await versions.executeMerge(repository.path, version)).success).toBe(true);
    expect(text(repository, 'sub/inner.txt')).toBe('not committed\n');
  });

  it('does not write through a link that has replaced a directory', async () => {
    const outside = folders.folder();
    writeFileSync(join(outside, 'b.txt'), 'outside\n');
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'dir/b.txt': 'inside\n', 'dir/new': 'x\n' });
    rmSync(join(repository.path, 'dir'), { recursive: true });
    symlinkSync(outside, join(repository.path, 'dir'));
    await expectRefused(repository, version, /not committed/);
    expect(readdirSync(outside)).toEqual(['b.txt']);
    expect(readFileSync(join(outside, 'b.txt'), 'utf8')).toBe('outside\n');
  });

  it('leaves everything unchanged if the files cannot be written', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'dir/b.txt': 'x\n', 'a.txt': 'x\n', 'dir/new': 'n\n' });
    const before = stateOf(repository.path);
    // A directory that git cannot write: a mount point, a full disk; here another branch that has moved concurrently.
    repository.write('.git/refs/heads/main.lock', '');
    const result = await versions.executeMerge(repository.path, version);
    expect(result.success).toBe(false);
    rmSync(join(repository.path, '.git/refs/heads/main.lock'));
    expect(stateOf(repository.path)).toEqual(before);
  });

  it('stops when its signal aborts, with everything unchanged', async () => {
    const repository = folders.repository(FILES);
    const version = await versionOn(repository, { 'a.txt': 'x\n' });
    const before = stateOf(repository.path);
    for (const ms of [0, 5, 20, 40]) {
      const signal = AbortSignal.timeout(ms);
      const outcome = await versions.executeMerge(repository.path, version, { signal }).catch(() => undefined);
      if (outcome?.success === true) break;
      expect(stateOf(repository.path)).toEqual(before);
    }
  });
});
