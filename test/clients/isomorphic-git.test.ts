import nodeFs from 'node:fs';
import { join } from 'node:path';
import git, { Errors } from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { describe, expect, it } from 'vitest';
import { GitServer, git as realGit } from './git-server.js';
import { copyTree, freshFs, type Ground, HostFolder, onBoth, treeOf, writeFiles } from './grounds.js';

const author = { name: 'Ada', email: 'ada@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 };

/** Runs init, commits, branches, a merge with a resolved conflict, a tag. Returns the ids. */
async function makeHistory(ground: Ground): Promise<Record<string, string>> {
  const { fs, root: dir } = ground;
  const repository = { fs, dir };
  const commit = async (message: string, files: Record<string, string>) => {
    writeFiles(ground, files);
    for (const filepath of Object.keys(files)) await git.add({ ...repository, filepath });
    return git.commit({ ...repository, message, author });
  };
  await git.init({ ...repository, defaultBranch: 'main' });
  fs.writeFileSync(join(dir, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  fs.symlinkSync('notes/list.txt', join(dir, 'latest'));
  await git.add({ ...repository, filepath: ['run.sh', 'latest'] });
  const base = await commit('Begin', { 'notes/list.txt': 'one\ntwo\nthree\n', 'ünï/cödé.txt': 'é\n' });

  await git.branch({ ...repository, ref: 'side', checkout: true });
  const side = await commit('Side', { 'notes/list.txt': 'one\nSIDE\nthree\n', 'side.txt': 'side\n' });
  await git.checkout({ ...repository, ref: 'main' });
  const main = await commit('Main', { 'notes/list.txt': 'one\nMAIN\nthree\n', 'main.txt': 'main\n' });

  const conflict = await git
    .merge({ ...repository, ours: 'main', theirs: 'side', author, abortOnConflict: false })
    .catch((error: unknown) => error);
  if (!(conflict instanceof Errors.MergeConflictError)) throw conflict;
  const marked = fs.readFileSync(join(dir, 'notes/list.txt'), 'utf8');
  writeFiles(ground, { 'notes/list.txt': 'one\nMAIN and SIDE\nthree\n', 'side.txt': 'side\n' });
  await git.add({ ...repository, filepath: ['notes/list.txt', 'side.txt'] });
  const merged = await git.commit({ ...repository, message: 'Merge side', author, parent: [main, side] });
  await git.annotatedTag({ ...repository, ref: 'v1', message: 'First', tagger: author });
  await git.remove({ ...repository, filepath: 'main.txt' });
  fs.rmSync(join(dir, 'main.txt'));
  const last = await commit('Without main.txt', {});
  await git.packObjects({ ...repository, oids: [base, side, main], write: true });
  return { base, side, main, merged, last, marked, conflicts: conflict.data.filepaths.join() };
}

async function status({ fs, root: dir }: Ground): Promise<string[]> {
  return (await git.statusMatrix({ fs, dir })).map((row) => row.join(' '));
}

describe('isomorphic-git', () => {
  it('makes the same history as on a disk: commits, branches, a merge with a conflict', async () => {
    const { answer, tree } = await onBoth(
      async (ground) => {
        const ids = await makeHistory(ground);
        const log = await git.log({ fs: ground.fs, dir: ground.root, ref: 'main' });
        return { ids, log: log.map(({ oid, commit }) => `${oid} ${commit.message}`), status: await status(ground) };
      },
      { leaveOut: /^\/\.git\/index$/ },
    );
    expect(answer.ids.conflicts).toBe('notes/list.txt');
    expect(answer.ids.marked).toContain('<<<<<<< main\nMAIN\n=======\nSIDE\n>>>>>>> side\n');
    expect(new Set(answer.log).size).toBe(5);
    expect(answer.status).toContain('notes/list.txt 1 1 1');
    expect(tree['/latest']).toBe('link to notes/list.txt');
  });

  it('writes a repository that passes git fsck, with the ids that git gives the same work', async () => {
    using folder = new HostFolder();
    const [exported, theirs] = [join(folder.root, 'exported'), join(folder.root, 'theirs')];
    const fs = await freshFs();
    fs.mkdirSync('/repository');
    const ids = await makeHistory({ fs, root: '/repository' });
    copyTree(fs, '/repository', nodeFs, exported);
    expect(realGit(exported, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    expect(realGit(exported, 'rev-parse', 'main', 'side', 'v1^{commit}').split('\n')).toEqual([
      ids.last,
      ids.side,
      ids.merged,
    ]);
    expect(realGit(exported, 'status', '--porcelain')).toBe('');

    nodeFs.mkdirSync(theirs);
    realGit(theirs, 'init', '-q', '-b', 'main');
    const ground = { fs: nodeFs, root: theirs };
    nodeFs.writeFileSync(join(theirs, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    nodeFs.symlinkSync('notes/list.txt', join(theirs, 'latest'));
    writeFiles(ground, { 'notes/list.txt': 'one\ntwo\nthree\n', 'ünï/cödé.txt': 'é\n' });
    realGit(theirs, 'add', '.');
    realGit(theirs, 'commit', '-q', '-m', 'Begin');
    expect(realGit(theirs, 'rev-parse', 'HEAD')).toBe(ids.base);
  });

  it("clones, pulls and pushes over http, and ends with git's own files", async () => {
    using folder = new HostFolder();
    const [origin, work] = [join(folder.root, 'origin.git'), join(folder.root, 'work')];
    nodeFs.mkdirSync(work);
    realGit(work, 'init', '-q', '-b', 'main');
    const text = Array.from({ length: 2000 }, (_, i) => `line ${i}`).join('\n');
    writeFiles(
      { fs: nodeFs, root: work },
      { 'a.txt': 'a\n', 'deep/er/b.bin': Uint8Array.of(0, 255, 10), 'c.txt': text },
    );
    realGit(work, 'add', '.');
    realGit(work, 'commit', '-q', '-m', 'Begin');
    realGit(work, 'branch', 'other');
    realGit(folder.root, 'clone', '-q', '--bare', work, origin);
    realGit(origin, 'config', 'http.receivepack', 'true');
    await using server = await GitServer.start(folder.root);
    const url = `${server.url}/origin.git`;

    const fs = await freshFs();
    fs.mkdirSync('/clone');
    const ground = { fs, root: '/clone' };
    const repository = { fs, dir: '/clone', http };
    await git.clone({ ...repository, url });
    expect(await git.resolveRef({ ...repository, ref: 'HEAD' })).toBe(realGit(origin, 'rev-parse', 'main'));
    expect(await git.listBranches({ ...repository, remote: 'origin' })).toContain('other');
    expect(workTree(fs, '/clone')).toEqual(workTree(nodeFs, work));

    writeFiles({ fs: nodeFs, root: work }, { 'a.txt': 'changed\n' });
    realGit(work, 'commit', '-q', '-a', '-m', 'Change');
    realGit(work, 'push', '-q', origin, 'main');
    await git.pull({ ...repository, author, ref: 'main' });
    expect(fs.readFileSync('/clone/a.txt', 'utf8')).toBe('changed\n');

    writeFiles(ground, { 'new/file.txt': 'pushed\n' });
    await git.add({ ...repository, filepath: 'new/file.txt' });
    const pushed = await git.commit({ ...repository, message: 'Push', author });
    const { ok } = await git.push({ ...repository, ref: 'main' });
    expect(ok).toBe(true);
    expect(realGit(origin, 'rev-parse', 'main')).toBe(pushed);
    expect(realGit(origin, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    expect(realGit(origin, 'show', 'main:new/file.txt')).toBe('pushed');
  });
});

function workTree(fs: Ground['fs'], root: string): Record<string, string> {
  return Object.fromEntries(Object.entries(treeOf(fs, root)).filter(([path]) => !path.startsWith('/.git')));
}
