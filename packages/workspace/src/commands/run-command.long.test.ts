import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FileSystem } from '@scratchfs/core';
import { OsSandboxUnavailableError } from '@scratchfs/host';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Attempt, RunOptions } from '../attempt-types.js';
import { openWorkspace } from '../workspace.js';
import type { Workspace, WorkspaceOptions } from '../workspace-types.js';
import { copiesOf } from './copies.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-commands-'));
chmodSync(top, 0o755);
afterAll(() => rmSync(top, { recursive: true, force: true }));
const isThere = existsSync('/usr/bin/bwrap');
let next = 0;

const workspaces: Workspace[] = [];
afterAll(async () => {
  for (const workspace of workspaces) await workspace.close();
});

/** Makes a directory and an attempt on it. */
async function projectOf(contents: Record<string, string>, options: WorkspaceOptions = {}) {
  const directory = join(top, `project-${next++}`);
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  const workspace = await openWorkspace(directory, { store: 'memory:', ...options });
  workspaces.push(workspace);
  const attempt = await workspace.attempt();
  const run: Attempt['run'] = (command, options) => attempt.run(command, options);
  return { directory, attempt, fileSystem: attempt.fileSystem, run };
}

/** Part of a script that waits until {@link endWait}, though a command sees nothing of this process. */
const WAIT = `sleep 600.${process.pid}`;

/** Ends the wait of a command, as soon as it has begun. */
async function endWait(): Promise<void> {
  while (spawnSync('pkill', ['-f', `^${WAIT}$`]).status !== 0) await pause(10);
}

/** Returns every path with its kind, mode and content. */
async function dumpOf(fileSystem: FileSystem): Promise<string[]> {
  const lines: string[] = [];
  for await (const { path, kind, mode, target } of fileSystem.walk('/')) {
    const content = kind === 'file' ? Buffer.from(await fileSystem.readFile(path)).toString('hex') : target;
    lines.push(`${path} ${kind} ${mode.toString(8)} ${content}`);
  }
  return lines;
}

describe.skipIf(!isThere && !process.env['CI'])('runCommand() (needs bubblewrap)', () => {
  it('writes what a command changed in a live attempt to the disk, and undo takes it back there', async () => {
    const { attempt, directory, run } = await projectOf({ 'a.txt': 'one\n', 'b/c.txt': 'c\n' }, { live: true });
    const { exitCode, operation } = await run(
      "echo two >> a.txt && rm -r b && mkdir new && echo '#!' > new/run && chmod +x new/run",
    );
    expect([exitCode, operation?.tool]).toEqual([0, 'run']);
    const text = (path: string): string => readFileSync(join(directory, path), 'utf8');
    expect([text('a.txt'), text('new/run'), existsSync(join(directory, 'b'))]).toEqual(['one\ntwo\n', '#!\n', false]);
    expect((await run('cat a.txt')).stdout).toBe('one\ntwo\n');
    await attempt.undo();
    expect([text('a.txt'), text('b/c.txt'), existsSync(join(directory, 'new'))]).toEqual(['one\n', 'c\n', false]);
  });

  it('has the files of a directory that is ignored no longer, in place of its private build output', async () => {
    const { directory, run } = await projectOf({ '.gitignore': 'build/\n', 'build/out': 'disk\n', a: 'a\n' });
    await run('echo private > build/out; echo private > build/more');
    rmSync(join(directory, '.gitignore'));
    expect(await run('ls build; cat build/out')).toMatchObject({ stdout: 'out\ndisk\n', exitCode: 0 });
  });

  it('takes what a command changed as one operation', async () => {
    const { attempt, fileSystem, directory, run } = await projectOf({
      'src/a.txt': 'one\n',
      'src/gone': 'x',
      'src/same': 's',
    });
    symlinkSync(join(directory, 'src/a.txt'), join(directory, 'link'));
    const result = await run(
      'cat link; echo two >>src/a.txt; rm src/gone; mkdir -p new/deep; echo x >new/deep/b; ln -s /work/src/a.txt new/link; chmod +x src/same; exit 3',
      { actor: 'claude' },
    );
    expect(result).toMatchObject({ exitCode: 3, stdout: 'one\n', stderr: '', conflicts: [], refused: [] });
    expect((await attempt.log()).operations).toMatchObject([{ id: 1, tool: 'run', actor: 'claude', ok: false }]);
    expect(await fileSystem.readText('/src/a.txt')).toBe('one\ntwo\n');
    expect(await fileSystem.exists('/src/gone')).toBe(false);
    expect(await fileSystem.readText('/new/deep/b')).toBe('x\n');
    expect(await fileSystem.readlink('/new/link')).toBe('../src/a.txt');
    expect((await fileSystem.stat('/src/same')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(directory, 'src/a.txt'), 'utf8')).toBe('one\n');
  });

  it('takes back a command that deleted half of the tree, to the byte, and makes it again', async () => {
    const contents: Record<string, string> = {};
    for (let i = 0; i < 200; i++) contents[`d${i % 8}/e${i % 3}/f${i}`] = `${i}\n`.repeat(i);
    const { attempt, directory, fileSystem, run } = await projectOf(contents);
    for (let i = 0; i < 200; i += 7)
      chmodSync(join(directory, `d${i % 8}/e${i % 3}/f${i}`), [0o755, 0o600, 0o444][i % 3] as number);
    symlinkSync('../d5', join(directory, 'd0/link'));
    symlinkSync('nowhere', join(directory, 'd4/dangling'));
    writeFileSync(join(directory, 'd2/binary'), Buffer.from([0, 255, 254, 10]));
    mkdirSync(join(directory, 'd2/empty'), { mode: 0o700 });
    await fileSystem.writeFile('/d1/mine', 'of the attempt');
    await fileSystem.rename('/d7', '/moved');
    const before = await dumpOf(fileSystem);
    const result = await run(
      'rm -rf d0 d2 d4 moved d1/mine; chmod -R a-w d3; mv d5 d0; find d6 -name "f*" -exec sh -c "echo x >>{}" ";"',
      {
        limits: { copyBackFiles: 10_000 },
      },
    );
    expect(result).toMatchObject({ exitCode: 0, conflicts: [], refused: [] });
    expect(result.operation?.changes.length).toBeGreaterThan(100);
    const after = await dumpOf(fileSystem);
    expect(after.some((line) => line.startsWith('/d0/e') && line.includes(' file '))).toBe(true);
    expect(after.length).toBeLessThan(before.length - 100);
    await attempt.undo();
    expect(await dumpOf(fileSystem)).toEqual(before);
    expect((await run('find . -type f | wc -l; cat d1/mine d2/binary | od -c | head -3')).stdout).toMatch(
      /^202\n0000000 +o +f/,
    );
    expect(await attempt.head()).toBe(4);
    await attempt.redo();
    expect(await dumpOf(fileSystem)).toEqual(after);
    expect((await run('find . -type f | wc -l')).stdout).toBe(
      `${after.filter((line) => line.includes(' file ')).length}\n`,
    );
  });

  it('merges by lines what somebody else changed meanwhile, and keeps their state where that fails', async () => {
    const lines = 'a\nb\nc\nd\ne\n';
    const names = ['merged', 'content', 'removed', 'changed', 'binary', 'mode', 'both'];
    const { fileSystem, run } = await projectOf(Object.fromEntries(names.map((name) => [name, lines])));
    await fileSystem.writeFile('/binary', Uint8Array.of(0, 1));
    const others = async (): Promise<void> => {
      await fileSystem.writeFile('/merged', lines.replace('a', 'A'));
      await fileSystem.writeFile('/content', lines.replace('c', 'theirs'));
      await fileSystem.writeFile('/removed', 'theirs\n');
      await fileSystem.rm('/changed');
      await fileSystem.chmod('/mode', 0o600);
      await fileSystem.writeFile('/both', 'same\n');
      await fileSystem.writeFile('/new', 'theirs\n');
    };
    let isDone: Promise<void> | undefined;
    const result = await run(
      `echo go; ${WAIT}
       sed -i s/e/E/ merged; sed -i s/c/ours/ content; rm removed; echo x >changed; chmod 755 mode; echo same >both; echo ours >new`,
      {
        onOutput: () => {
          isDone ??= others().finally(endWait);
        },
      },
    );
    await isDone;
    expect(result.conflicts.map(({ path, code }) => [path, code])).toEqual([
      ['/removed', 'removed'],
      ['/changed', 'removed'],
      ['/content', 'content'],
      ['/mode', 'mode'],
      ['/new', 'exists'],
    ]);
    expect(await fileSystem.readText('/merged')).toBe('A\nb\nc\nd\nE\n');
    expect(await fileSystem.readText('/content')).toBe(lines.replace('c', 'theirs'));
    expect(await fileSystem.readText('/removed')).toBe('theirs\n');
    expect(await fileSystem.exists('/changed')).toBe(false);
    expect((await fileSystem.stat('/mode')).mode & 0o777).toBe(0o600);
    expect(result.conflicts[2]).toMatchObject({ base: { size: 10 }, disk: { size: 13 }, attempt: { size: 15 } });
    // The next command is given what the attempt holds.
    expect((await run('cat content new removed; ls')).stdout).toBe(
      `${lines.replace('c', 'theirs')}theirs\ntheirs\nbinary\nboth\ncontent\nmerged\nmode\nnew\nremoved\n`,
    );
  });

  it('leaves nothing of a command that was killed, and gives the next one the files as they were', async () => {
    const { attempt, fileSystem, run } = await projectOf({ 'a/b.txt': 'one\n', 'a/c.txt': 'two\n' });
    const spoil = 'echo x >a/b.txt; rm a/c.txt; mkdir d; echo y >d/e; chmod 500 d; rm -rf a; ln -s /etc a;';
    expect(await run(`${spoil} sleep 60`, { timeoutMs: 400 })).toMatchObject({
      stopped: 'timeout',
      operation: undefined,
    });
    expect(await run(`${spoil} kill -KILL $$`)).toMatchObject({ signal: 'SIGKILL', operation: undefined });
    const controller = new AbortController();
    const aborted = run(`${spoil} echo; sleep 60`, { signal: controller.signal, onOutput: () => controller.abort() });
    await expect(aborted).rejects.toThrow('aborted');
    expect((await run('find . | sort; cat a/*')).stdout).toBe('.\n./a\n./a/b.txt\n./a/c.txt\none\ntwo\n');
    expect(await attempt.head()).toBe(0);
    expect(await fileSystem.readText('/a/b.txt')).toBe('one\n');
  });

  it('verifies a copy whose process was killed', async () => {
    const { attempt, directory, run } = await projectOf({ 'a.txt': 'one\n', 'node_modules/x': 'x' });
    await run('true');
    for (const [path, text] of [
      ['copy/files/a.txt', 'changed'],
      ['copy/files/b.txt', 'new'],
      ['in-use', ''],
    ] as const)
      writeFileSync(join(copiesOf(directory, attempt.name), '0', path), text);
    expect((await run('cat *.txt node_modules/x')).stdout).toBe('one\nx');
  });

  it('shows the repository read-only, without its credentials, and says how to commit', async () => {
    const { directory, run } = await projectOf({ 'a.txt': 'one\n', '.env': 'SECRET=1' });
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', directory, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args]);
    git('init', '-q');
    git('remote', 'add', 'origin', 'https://user:hunter2@example.com/x.git');
    git('config', 'http.extraheader', 'AUTHORIZATION: basic aHVudGVyMg==');
    for (const one of ['config', 'modules/a/config', 'worktrees/a/config.worktree']) {
      mkdirSync(dirname(join(directory, '.git', one)), { recursive: true });
      appendFileSync(join(directory, '.git', one), '[http "https://x"] extraheader = x: \\\naHVudGVyMg==\n');
    }
    git('add', 'a.txt');
    git('commit', '-qm', 'First');
    const result = await run(
      'git log --format=%s; echo two >>a.txt; git status --short; git diff --stat; cat .git/config .env; grep -rh aHVudGVyMg .git; git commit -qam x',
    );
    expect(result.stdout).toContain('First\n M a.txt\n');
    expect(result.stdout).toContain('example.com/x.git');
    expect(result.stdout).toContain('1 file changed, 1 insertion(+)');
    expect(result.stdout).not.toMatch(/hunter2|aHVudGVyMg|SECRET/);
    expect(result.exitCode).not.toBe(0);
    expect(result.hint).toContain('accept({ as: "branch"');
    expect(git('status', '--short').toString()).toBe('?? .env\n');
    expect((await run('git init -q sub; echo x >.env; mkfifo pipe; printf x >"$(printf \'\\377\')"')).refused).toEqual([
      { path: '/.env', reason: expect.stringContaining('secret') },
      { path: '/pipe', reason: 'it is a pipe, a socket or a device' },
      { path: '/sub/.git', reason: expect.stringContaining('.git') },
      { path: '/\ufffd', reason: 'its name is not UTF-8' },
    ]);
    expect((await run('find . -path ./.git -prune -o -print | sort')).stdout).toBe('.\n./a.txt\n./sub\n');
  });

  it('shows dependencies read-only with room for caches, and keeps build output to itself', async () => {
    const { directory, fileSystem, run } = await projectOf({
      'a.txt': '',
      'node_modules/x/index.js': 'x',
      'dist/old': 'old',
      '.gitignore': 'node_modules\ndist\n',
    });
    const first = await run(
      'cat node_modules/x/index.js; mkdir node_modules/.cache; echo y >node_modules/x/index.js; rm -rf node_modules/x; cat dist/old; echo new >dist/new',
    );
    expect(first.stdout).toBe('xold');
    expect(first.stderr).toContain('Read-only file system');
    expect(first).toMatchObject({ operation: undefined, refused: [], conflicts: [] });
    writeFileSync(join(directory, 'node_modules/z'), 'z');
    expect((await run('ls node_modules dist; cat dist/new')).stdout).toBe(
      'dist:\nnew\nold\n\nnode_modules:\nx\nz\nnew\n',
    );
    expect(await fileSystem.exists('/dist/new')).toBe(false);
    expect(existsSync(join(directory, 'dist/new'))).toBe(false);
    await run('echo changed >node_modules/x/index.js; mkdir node_modules/added', { install: true });
    expect((await run('cat node_modules/x/index.js; ls node_modules')).stdout).toBe('changed\nadded\nx\nz\n');
    expect(readFileSync(join(directory, 'node_modules/x/index.js'), 'utf8')).toBe('x');
  });

  it('leaves alone what an attempt cannot hold because of its name', async () => {
    const { directory, run } = await projectOf({ 'a.txt': '', 'd/a\\b': 'x', 'c\\d/e': 'y' });
    const untouched = await run('find . -type f');
    expect(untouched).toMatchObject({ stdout: './a.txt\n', refused: [], operation: undefined });
    const { refused } = await run("echo x >'f\\g'; rm -r d");
    expect(refused).toEqual([{ path: '/f\\g', reason: expect.stringContaining('A name must not') }]);
    expect(readFileSync(join(directory, 'd/a\\b'), 'utf8')).toBe('x');
  });

  it('takes no ignored directory along when a command deletes or moves the tree, and it is accepted', async () => {
    const files = {
      'pkg/a.txt': 'a',
      'pkg/node_modules/x/index.js': 'x',
      'pkg/dist/old': 'old',
      '.gitignore': 'node_modules\ndist\n',
    };
    for (const command of [
      'rm -rf pkg/*; mkdir -p pkg',
      'rm -rf pkg',
      'mv pkg lib || cp -r pkg/a.txt lib; rm -rf pkg',
    ]) {
      const { directory, attempt, run } = await projectOf(files);
      await run(command);
      expect((await attempt.accept()).success).toBe(true);
      const are = ['pkg/a.txt', 'pkg/node_modules/x/index.js', 'pkg/dist/old'].map((path) =>
        existsSync(join(directory, path)),
      );
      expect(are).toEqual([false, true, true]);
    }
  });

  it('gives a later command what was changed on the disk and in the attempt meanwhile', async () => {
    const { attempt, directory, fileSystem, run } = await projectOf({
      'a/one': '1',
      'a/two': '2',
      'b/three': '3',
      'b/four': '4',
    });
    await run('true');
    await fileSystem.rename('/a', '/moved');
    await fileSystem.writeFile('/b/three', '33');
    writeFileSync(join(directory, 'b/five'), '5');
    rmSync(join(directory, 'b/four'));
    const all = 'for f in $(find . -type f | sort); do echo $f; cat $f; echo; done';
    expect((await run(all)).stdout).toBe('./b/five\n5\n./b/three\n33\n./moved/one\n1\n./moved/two\n2\n');
    await attempt.undo();
    await attempt.undo();
    rmSync(join(directory, 'b'), { recursive: true });
    symlinkSync('/etc', join(directory, 'b'));
    expect((await run('find . | sort')).stdout).toBe('.\n./a\n./a/one\n./a/two\n./b\n');
  });

  it('cuts long output in the middle and passes all of it on', async () => {
    const { run } = await projectOf({ 'a.txt': '' });
    let bytes = 0;
    const result = await run('seq 100000; echo end', {
      limits: { outputBytes: 1_000 },
      onOutput: (chunk) => {
        bytes += chunk.length;
      },
    });
    expect(bytes).toBe(588_899);
    expect(result).toMatchObject({ exitCode: 0, stopped: undefined });
    expect(result.stdout).toMatch(/^1\n2\n3\n[\d\n]+\n\[\d+ bytes left out\]\n[\d\n]+\n100000\nend\n$/);
    expect(result.stdout.length).toBeLessThan(1_100);
  });

  it('starts in a directory, runs two commands at a time, and refuses options that do not exist', async () => {
    const { run } = await projectOf({ 'a/b/c.txt': '' });
    const results = await Promise.all([run('pwd; touch one', { cwd: '/a/b' }), run('ls; touch two', { cwd: 'a/b/' })]);
    expect(results.map(({ stdout }) => stdout)).toEqual(['/work/a/b\n', 'c.txt\n']);
    expect((await run(['ls', '/work/a/b'])).stdout).toBe('c.txt\none\ntwo\n');
    await expect(run('true', { cwd: '/a/b/c.txt' })).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(run('true', { cwd: '/none' })).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(run('true', { timeout: 1 } as RunOptions)).rejects.toThrow('timeoutMs');
    await expect(run('true', { timeoutMs: 0 })).rejects.toThrow(RangeError);
    await expect(run('true', { network: 'no' as never })).rejects.toThrow(TypeError);
    const limits = { memoryBytes: undefined, processes: undefined, fileBytes: undefined };
    expect((await run('ulimit -a', { limits })).stdout).toBe((await run('ulimit -a')).stdout);
    await expect(run('true', { limits: { copyInBytes: 1 } })).resolves.toMatchObject({ exitCode: 0 });
  });

  it('removes a directory whole unless somebody has changed something in it meanwhile', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
    const contents = Object.fromEntries(
      names.flatMap((name) => [
        [`a/${name}`, name],
        [`b/${name}`, name],
        [`c/${name}`, name],
      ]),
    );
    const { attempt, directory, fileSystem, run } = await projectOf(contents);
    let others: Promise<void> | undefined;
    const { conflicts, operation } = await run(`echo; ${WAIT}; rm -r a b c`, {
      onOutput: () => {
        writeFileSync(join(directory, 'c/f5'), 'of the person');
        others ??= fileSystem.writeFile('/b/f3', 'of the attempt').finally(endWait);
      },
    });
    await others;
    expect(conflicts.map(({ path, code }) => [path, code])).toEqual([
      ['/c/f5', 'removed'],
      ['/b/f3', 'removed'],
    ]);
    expect(operation?.changes.filter(({ path }) => path.startsWith('/a'))).toMatchObject([{ path: '/a', after: null }]);
    expect(await fileSystem.readdir('/')).toEqual(['b', 'c']);
    expect(await fileSystem.readdir('/b')).toEqual(['f3']);
    expect(await fileSystem.readText('/c/f5')).toBe('of the person');
    await attempt.undo();
    expect(await fileSystem.readdir('/b')).toEqual(names.toSorted());
    expect(await fileSystem.readText('/b/f3')).toBe('of the attempt');
  });

  it('lets commands read a secret that the options show, and keeps it as it is', async () => {
    const { run } = await projectOf(
      { '.env': 'KEY=1', '.env.local': 'KEY=2', 'a.txt': '' },
      { allowSecrets: ['.env'] },
    );
    const result = await run('cat .env* && echo KEY=3 >.env && echo x >a.txt');
    expect(result).toMatchObject({ exitCode: 0, stdout: 'KEY=1' });
    expect(result.refused).toEqual([{ path: '/.env', reason: 'it is a secret, which commands can only read' }]);
    expect(result.operation?.changes.map(({ path }) => path)).toEqual(['/a.txt']);
    expect((await run('cat .env a.txt')).stdout).toBe('KEY=1x\n');
  });

  it('has the programs that PATH names besides those of the system, and an account', async () => {
    const { directory, run } = await projectOf({ 'a.txt': '' });
    const bin = `${directory}-tools/bin`;
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'tool'), '#!/bin/sh\necho tool of the user\n', { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
    expect((await run('tool; id -un; echo x >$(command -v tool)')).stdout).toBe('tool of the user\nnobody\n');
    expect(readFileSync(join(bin, 'tool'), 'utf8')).toContain('tool of the user');
    vi.unstubAllEnvs();
  });
});

it('runs nothing where no command can be held, and says what to install', async () => {
  const { attempt, directory, run } = await projectOf({ 'a.txt': '' });
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
  try {
    const error = await run('true').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OsSandboxUnavailableError);
    expect((error as Error).message).toMatch(/exists only for Linux.*container/);
  } finally {
    Object.defineProperty(process, 'platform', platform);
  }
  expect(existsSync(copiesOf(directory, attempt.name))).toBe(false);
});
