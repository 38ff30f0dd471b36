import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, folder, json, ok, run } from './program.js';
import { repository } from './repository.js';
import { programFolder } from './terminal.js';

/** Returns the contents of the files that an attempt shows, by path. */
async function filesOf(cwd: string): Promise<Record<string, string>> {
  const { paths } = await json('fs find', ['--type', 'file'], { cwd });
  const { files } = await json('fs cat', paths as string[], { cwd });
  return Object.fromEntries((files as { path: string; text: string }[]).map(({ path, text }) => [path, text]));
}

/** Runs work in this process that finds the attempts where the program does. */
async function inHome(work: () => Promise<void>): Promise<void> {
  const saved = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = ENVIRONMENT['XDG_STATE_HOME'];
  try {
    await work();
  } finally {
    if (saved === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = saved;
  }
}

describe('an attempt', () => {
  it('is shown, taken back and brought again without a change of the disk', async () => {
    const cwd = repository();
    expect(await json('status', [], { cwd })).toMatchObject({ attempt: null, paths: [] });
    expect(await ok(['log'], { cwd })).toBe('Nothing was done yet.\n');
    await ok(['fs', 'write', 'new.txt', 'hello\n'], { cwd });
    await ok(['fs', 'edit', 'a.txt', 'two', '2'], { cwd: join(cwd, 'src') });
    await ok(['fs', 'rm', '../b.txt'], { cwd: join(cwd, 'src') });
    const { attempt, paths } = await json('status', [], { cwd });
    expect(attempt).toMatchObject({ head: 3, changedPaths: 3, current: true });
    expect((paths as { path: string; type: string }[]).map(({ path, type }) => [path, type])).toEqual([
      ['/b.txt', 'removed'],
      ['/new.txt', 'added'],
      ['/src/a.txt', 'changed'],
    ]);
    expect(await ok(['log'], { cwd })).toMatch(/3 {2}.*Remove \/b\.txt\n.*Edit \/src\/a\.txt\n.*Write \/new\.txt\n$/);
    expect((await json('show', ['2'], { cwd }))['operation']).toMatchObject({ id: 2, tool: 'fs edit', ok: true });
    expect((await run(['show', '9'], { cwd })).code).toBe(3);
    expect(await ok(['diff', '--name-only', '1', '--', 'src'], { cwd })).toBe('src/a.txt\n');
    expect((await json('undo', ['2'], { cwd }))['operations']).toMatchObject([{ target: 3 }, { target: 2 }]);
    expect(await ok(['fs', 'cat', 'src/a.txt', 'b.txt'], { cwd })).toBe('one\ntwo\nthree\nbee\n');
    await json('redo', [], { cwd });
    expect(await ok(['fs', 'cat', 'src/a.txt'], { cwd })).toBe('one\n2\nthree\n');
    await json('restore', ['0', 'src/a.txt'], { cwd });
    expect(await ok(['fs', 'cat', 'src/a.txt'], { cwd })).toBe('one\ntwo\nthree\n');
    expect(await ok(['fs', 'cat', 'src/a.txt', '--at', '2'], { cwd })).toBe('one\n2\nthree\n');
    const tooMany = await run(['undo', '99'], { cwd });
    expect(tooMany).toMatchObject({ code: 4, stdout: '' });
    expect(tooMany.stderr).toMatch(
      /Only 3 operations of attempt \S+ can be undone, not 99\. .*\n {2}`scratchfs undo 3`\n$/,
    );
    await json('undo', ['3'], { cwd });
    expect((await run(['redo', '9'], { cwd })).stderr).toContain('Only 3 operations');
    expect((await json('undo', [], { cwd })).code).toBe(1);
    expect(execFileSync('git', ['-C', cwd, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
  });

  it('is forked, compared, switched to and discarded', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'a', '1'], { cwd });
    await json('fork', ['trial', '--switch'], { cwd });
    await ok(['fs', 'write', 'a', '2'], { cwd });
    const { attempts } = await json('attempts', [], { cwd });
    const [trial, first] = attempts as { name: string; current: boolean }[];
    expect([trial?.name, trial?.current, first?.current]).toEqual(['trial', true, false]);
    expect(await ok(['diff', '--name-only', first?.name ?? '', 'trial'], { cwd })).toBe('a\n');
    await json('switch', [first?.name ?? ''], { cwd });
    expect(await ok(['fs', 'cat', 'a'], { cwd })).toBe('1');
    expect((await run(['discard', 'trial'], { cwd })).code).toBe(4);
    expect((await run(['discard', 'trial', 'absent', '--yes'], { cwd })).code).toBe(3);
    await json('discard', ['trial', '--yes'], { cwd });
    expect(await ok(['attempts', '--names'], { cwd })).toBe(`${first?.name}\n`);
    expect((await run(['fork', first?.name ?? ''], { cwd })).code).toBe(5);
    expect((await run(['switch', 'absent'], { cwd })).code).toBe(3);
  });

  it('comes back whole with two commands after an agent deleted half of it', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `${index % 2 === 0 ? 'src' : 'docs'}/d${index % 5}/f${index}.txt`,
        `${index}\n`,
      ]),
    );
    const cwd = repository(files);
    const before = await filesOf(cwd);
    expect(Object.keys(before).length).toBe(40);
    await inHome(async () => {
      await using workspace = await openWorkspace(cwd);
      const attempt = await workspace.attempt();
      const work = { actor: 'agent', tool: 'bash', summary: 'Tidy up' };
      await attempt.operation(work, async (fs) => fs.rm('/src', { recursive: true }));
      await attempt.operation(work, async (fs) => fs.writeFile('/docs/d1/f1.txt', 'oops'));
    });
    expect(Object.keys(await filesOf(cwd)).length).toBe(20);
    expect(await ok(['log', '--actor', 'agent'], { cwd })).toMatch(/Tidy up\n.*Tidy up\n/);
    await ok(['undo'], { cwd });
    await ok(['undo'], { cwd });
    expect(await filesOf(cwd)).toEqual(before);
  });

  it('with hostile names is listed without their effect on a person', async () => {
    const cwd = repository();
    const name = 'a\n\u001b[31m\u202eb';
    await ok(['fs', 'put', '-', name], { cwd, input: 'x' });
    for (const args of [['status'], ['log'], ['diff', '--stat'], ['show', '1']]) {
      const text = await ok(args, { cwd });
      expect(text).toContain('a\\n\\e[31m\\u202eb');
      expect(text).not.toContain('\u001b');
    }
    expect(await ok(['diff', '--name-only'], { cwd })).toBe(`${name}\n`);
  });

  it('can be kept in a store of choice', async () => {
    const cwd = repository();
    const store = ['--store', folder('store')];
    await json('fork', ['there', ...store], { cwd });
    expect(await ok(['attempts', '--names', ...store], { cwd })).toBe('there\n');
    const database = ['--store', `sqlite:${folder('database')}/agents.db`];
    await json('fork', ['here', ...database], { cwd });
    expect(await ok(['attempts', '--names', ...database], { cwd })).toBe('here\n');
    expect(await ok(['attempts', '--names'], { cwd })).toBe('');
  });
});

describe('accept', () => {
  it('writes paths or everything, is taken back by undo, and spares what the person changed', async () => {
    const cwd = repository();
    await ok(['fs', 'edit', 'src/a.txt', 'two', '2'], { cwd });
    await ok(['fs', 'write', 'new.txt', 'hello\n'], { cwd });
    await ok(['fs', 'rm', 'b.txt'], { cwd });
    const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
    expect(await json('accept', ['--dry-run'], { cwd })).toMatchObject({ success: true, operation: null });
    expect(() => read('new.txt')).toThrow('ENOENT');
    expect((await json('accept', ['--', 'new.txt'], { cwd }))['accepted']).toEqual(['/new.txt']);
    expect([read('new.txt'), read('src/a.txt')]).toEqual(['hello\n', 'one\ntwo\nthree\n']);

    writeFileSync(join(cwd, 'b.txt'), 'mine\n');
    const { code, conflicts } = await json('accept', [], { cwd });
    expect({ code, conflicts }).toMatchObject({ code: 5, conflicts: [{ path: '/b.txt', code: 'removed' }] });
    expect(read('src/a.txt')).toBe('one\ntwo\nthree\n');
    expect(await json('accept', ['--skip-conflicts'], { cwd })).toMatchObject({ code: 0, accepted: ['/src/a.txt'] });
    expect([read('src/a.txt'), read('b.txt')]).toEqual(['one\n2\nthree\n', 'mine\n']);
    expect(await ok(['undo', '--yes'], { cwd })).toMatch(
      /^Undid \d+: Accept '\/src\/a\.txt' \(1 path on your disk\)\n {2}changed {2}src\/a\.txt\n$/,
    );
    expect([read('src/a.txt'), read('b.txt')]).toEqual(['one\ntwo\nthree\n', 'mine\n']);
    expect(await ok(['show', '5'], { cwd })).toContain('\n-two\n+2\n');
    expect(await ok(['show', '6'], { cwd })).toContain('\n-2\n+two\n');
    expect(await ok(['redo', '--yes'], { cwd })).toContain('(1 path on your disk)');
    expect(read('src/a.txt')).toBe('one\n2\nthree\n');
    expect((await run(['accept', '--merge', '--branch', 'x'], { cwd })).code).toBe(2);
  });

  it('says what was removed and what came back, and counts a directory and a move once', async () => {
    const cwd = repository({ 'src/a.txt': 'one\n', 'src/b.txt': 'two\n', 'old.txt': 'old\n' });
    await ok(['fs', 'rm', '-r', 'src'], { cwd });
    await ok(['fs', 'mv', 'old.txt', 'new.txt'], { cwd });
    const list = ['  moved    old.txt -> new.txt', '  removed  src/ (2 files)'];
    expect(await ok(['status'], { cwd })).toContain('\n\n2 paths changed, 0 lines added, 2 lines removed\n');
    expect((await json('attempts', [], { cwd }))['attempts']).toMatchObject([{ changedPaths: 2 }]);
    const accepted = (await ok(['accept'], { cwd })).split('\n');
    expect(accepted.slice(0, 3)).toEqual(['Accepted 2 paths.', ...list]);
    const undone = (await ok(['undo', '--yes'], { cwd })).split('\n');
    expect(undone[0]).toBe('Undid 3: Accept 2 paths (2 paths on your disk)');
    expect(undone.slice(1, 3)).toEqual(['  moved  new.txt -> old.txt', '  added  src/']);
  });

  it('writes a patch that git applies', async () => {
    const cwd = repository();
    await ok(['fs', 'edit', 'src/a.txt', 'two', '2'], { cwd });
    const { bytes } = await run(['accept', '--patch', '-'], { cwd });
    await ok(['accept', '--patch', 'a.patch'], { cwd });
    expect(readFileSync(join(cwd, 'a.patch')).equals(bytes)).toBe(true);
    execFileSync('git', ['-C', cwd, 'apply', 'a.patch']);
    expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('one\n2\nthree\n');
  });
});

describe('undo after an accept of another attempt', () => {
  it('says so behind its success and in its error, until that accept is taken back', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'mine.txt', 'mine'], { cwd });
    await ok(['fork', 'other'], { cwd });
    await ok(['fs', 'write', 'k.txt', 'k', '-a', 'other'], { cwd });
    await ok(['accept', 'other', '--', 'k.txt'], { cwd });
    const hint = 'The last accept was of attempt other: `scratchfs undo --yes -a other` takes it back.';
    expect(await ok(['undo'], { cwd })).toBe(`Undid 1: Write /mine.txt (1 path)\n${hint}\n`);
    expect(await json('undo', [], { cwd })).toMatchObject({ code: 1, error: { code: 'nothing-to-undo', hint } });
    await ok(['undo', '--yes', '-a', 'other'], { cwd });
    expect(existsSync(join(cwd, 'k.txt'))).toBe(false);
    expect((await run(['undo'], { cwd })).stderr).not.toContain('other');
  });
});

describe('undo of several operations', () => {
  it('with an accept among them does nothing without a terminal, unless --yes is given', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'b.txt', 'agent'], { cwd });
    expect(await ok(['accept'], { cwd })).toContain('scratchfs undo --yes takes it back');
    await ok(['fs', 'write', 'c.txt', 'later'], { cwd });
    for (const args of [['2'], ['3', '--no-input']]) {
      const { code, stdout, stderr } = await run(['undo', ...args], { cwd });
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toContain(
        "Take back 2, Accept '/b.txt': change 1 path on your disk? There is no terminal to ask.",
      );
    }
    expect(await json('status', [], { cwd })).toMatchObject({ attempt: { head: 3 } });
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('agent');
    await ok(['undo', '3', '--yes'], { cwd });
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('bee\n');
  });

  it('that fails half-way says what was undone, what was not, and why, with exit code 1', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'b.txt', 'agent'], { cwd });
    await ok(['accept'], { cwd });
    writeFileSync(join(cwd, 'b.txt'), 'person');
    const more = () => ok(['fs', 'write', 'more.txt', 'more'], { cwd });
    await more();
    const { code, stdout, stderr } = await run(['undo', '3', '-q', '--yes'], { cwd });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: [
        'Undid 3: Write /more.txt (1 path)',
        "Not undone 2: Accept '/b.txt' (1 path)",
        'Not undone 1: Write /b.txt (1 path)',
        'Only 1 of 3: the next one failed.\n',
      ].join('\n'),
      stderr: expect.stringContaining("no longer hold what the accept left there: '/b.txt'"),
    });
    await more();
    expect(await json('undo', ['3', '--yes'], { cwd })).toMatchObject({
      code: 1,
      operations: [{ target: 5 }],
      left: [{ id: 2 }, { id: 1 }],
      error: { code: 'refused', message: expect.stringContaining("'/b.txt'") },
    });
    expect(await run(['undo', '2', '--yes'], { cwd })).toMatchObject({ code: 4, stdout: '' });
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('person');
  });
});

describe('a live attempt', () => {
  it('is taken back on the disk only with a yes', async () => {
    const cwd = repository();
    const args = ['-a', 'live'];
    await inHome(async () => {
      await using workspace = await openWorkspace(cwd, { live: true });
      const { fileSystem } = await workspace.attempt();
      await fileSystem.writeFile('/b.txt', 'agent');
      await fileSystem.writeFile('/y.txt', 'why');
    });
    const disk = () => [readFileSync(join(cwd, 'b.txt'), 'utf8'), existsSync(join(cwd, 'y.txt'))];
    const refuses = async (words: readonly string[], questions: string) => {
      const { code, stdout, stderr } = await run([...words, ...args], { cwd });
      expect({ code, stdout, stderr }).toEqual({ code: 4, stdout: '', stderr: expect.stringContaining(questions) });
      expect(stderr).toContain(`\`scratchfs ${words.join(' ')} --yes -a live\` does not ask.`);
    };
    await refuses(['undo', '2'], "Take back 2, Create '/y.txt': change 1 path on your disk? Take back 1,");
    await refuses(['restore', '0'], 'Restore the state after operation 0: change 2 paths on your disk? There is no');
    await refuses(['restore', '0', 'b.txt'], 'change 1 path on your disk?');
    expect(disk()).toEqual(['agent', true]);
    expect(await ok(['restore', '0', 'b.txt', '--yes', ...args], { cwd })).toContain('(1 path on your disk)');
    expect(disk()).toEqual(['bee\n', true]);
    expect(await ok(['undo', '2', '--yes', ...args], { cwd })).toMatch(
      /^Undid 3: .* \(1 path on your disk\)\n {2}changed {2}b\.txt\nUndid 2: .* on your disk\)\n {2}removed {2}y\.txt$/m,
    );
    expect(disk()).toEqual(['agent', false]);
    await refuses(['redo'], "Make again 2, Create '/y.txt': change 1 path on your disk?");
    expect(disk()).toEqual(['agent', false]);
    await ok(['restore', '0', '--yes', ...args], { cwd });
    expect(await ok(['restore', '0', ...args], { cwd })).toContain('Nothing differs');
    expect(disk()).toEqual(['bee\n', false]);
  });
});

describe('a word that is the name of an attempt and of a path', () => {
  it('is refused; behind -- and with --attempt, all are paths', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'src/a.txt', 'mine\n'], { cwd });
    await ok(['fs', 'write', 'other.txt', 'mine\n'], { cwd });
    await ok(['fork', 'src'], { cwd });
    await ok(['fs', 'write', 'evil.txt', 'evil\n', '--attempt', 'src'], { cwd });
    for (const command of ['accept', 'diff']) {
      const { code, stderr } = await run([command, 'src'], { cwd });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--attempt src') });
    }
    expect(await ok(['diff', '--name-only', '--', 'src'], { cwd })).toBe('src/a.txt\n');
    expect(await json('accept', ['--dry-run', '--attempt', 'src', 'src'], { cwd })).toMatchObject({
      attempt: 'src',
      accepted: ['/src/a.txt'],
    });
    expect((await json('accept', ['./src'], { cwd }))['accepted']).toEqual(['/src/a.txt']);
    await ok(['fs', 'write', 'src/b.txt', 'b\n'], { cwd });
    expect((await json('accept', ['--', 'src'], { cwd }))['accepted']).toEqual(['/src/b.txt']);
  });
});

describe('a word that is neither an attempt nor a path', () => {
  it('ends diff, accept and restore with exit code 3, and the attempts that exist', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'new.txt', '1'], { cwd });
    await ok(['fs', 'rm', 'new.txt'], { cwd });
    await ok(['fork', 'trial'], { cwd });
    for (const args of [
      ['diff', 'trail', 'trial'],
      ['diff', 'trial', 'trail'],
      ['accept', 'trail'],
    ]) {
      const { code, stderr } = await run(args, { cwd });
      expect({ code, stderr }).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/'trail' is not an attempt and not a path\.\n {2}Attempts: .*trial/),
      });
    }
    const { code, stderr } = await run(['restore', '1', 'nosuchfile'], { cwd });
    expect({ code, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("'nosuchfile' is not a path of attempt"),
    });
    // Only the state after operation 1 has the file, only the disk and the attempt have the other one.
    await ok(['diff', '0', '1', 'new.txt'], { cwd });
    await ok(['diff', '--', 'b.txt'], { cwd });
    await ok(['restore', '2', 'src/a.txt'], { cwd });
  });
});

describe('accept to a patch', () => {
  it('replaces a file only with --force, and no file behind a link', async () => {
    const cwd = repository();
    const outside = join(folder('outside'), 'file');
    writeFileSync(outside, 'precious\n');
    symlinkSync(outside, join(cwd, 'a.patch'));
    await ok(['fs', 'write', 'new.txt', 'new\n'], { cwd });
    expect((await run(['accept', '--patch', 'a.patch'], { cwd })).code).toBe(5);
    expect(readFileSync(join(cwd, 'a.patch'), 'utf8')).toBe('precious\n');
    await ok(['accept', '--patch', 'a.patch', '--force'], { cwd });
    expect(readFileSync(outside, 'utf8')).toBe('precious\n');
    expect(readFileSync(join(cwd, 'a.patch'), 'utf8')).toContain('+new');
  });
});

describe('accept to git', () => {
  it('commits to a branch without a checkout, or merges', async () => {
    const cwd = repository();
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', cwd, ...args], { env: ENVIRONMENT, encoding: 'utf8' });
    await ok(['fs', 'edit', 'src/a.txt', 'two', '2'], { cwd });
    const { commit } = await json('accept', ['--branch', 'agent', '-m', 'Use a digit'], { cwd });
    expect(git('log', '-1', '--format=%H %s', 'agent')).toBe(`${commit} Use a digit\n`);
    expect(git('show', 'agent:src/a.txt')).toBe('one\n2\nthree\n');
    expect(git('status', '--porcelain')).toBe('');
    const merged = await ok(['accept', '--merge', '-m', 'Merge it'], { cwd });
    const head = git('rev-parse', 'HEAD').trim();
    expect(merged).toContain(`\ngit revert ${head} takes it back.\n`);
    const { code, stderr } = await run(['undo'], { cwd });
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(`git revert ${head}`) });
    expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('one\n2\nthree\n');
    expect(git('status', '--porcelain')).toBe('');
  });
});

describe('refresh', () => {
  it('merges lines that the person changed, and reports what cannot be merged with exit code 5', async () => {
    const cwd = repository();
    await ok(['fs', 'edit', 'src/a.txt', 'three', '3'], { cwd });
    writeFileSync(join(cwd, 'src/a.txt'), 'ONE\ntwo\nthree\n');
    expect(await json('refresh', [], { cwd })).toMatchObject({ code: 0, merged: ['/src/a.txt'], conflicts: [] });
    expect(await ok(['fs', 'cat', 'src/a.txt'], { cwd })).toBe('ONE\ntwo\n3\n');
    writeFileSync(join(cwd, 'src/a.txt'), 'ONE\ntwo\nthird\n');
    const { code, stdout } = await run(['refresh'], { cwd });
    expect({ code, stdout }).toEqual({ code: 5, stdout: expect.stringContaining('both changed the same lines') });
  });

  it('shows a conflict in undo and in each write, and none of them settles it', async () => {
    const cwd = repository();
    const disk = join(cwd, 'b.txt');
    for (const text of ['agent 1', 'agent 2']) await ok(['fs', 'write', 'b.txt', text], { cwd });
    writeFileSync(disk, 'person');
    expect((await run(['undo'], { cwd })).stdout).toMatch(/conflict +b\.txt +both changed the same lines/);
    for (const text of ['agent 3', 'agent 4'])
      expect((await run(['fs', 'write', 'b.txt', text], { cwd })).stderr).toContain('scratchfs restore disk b.txt');
    expect((await run(['accept'], { cwd })).code).toBe(5);
    expect(readFileSync(disk, 'utf8')).toBe('person');
    await ok(['restore', 'disk', 'b.txt'], { cwd });
    await ok(['fs', 'write', 'b.txt', 'person and agent'], { cwd });
    await ok(['accept'], { cwd });
    expect(readFileSync(disk, 'utf8')).toBe('person and agent');
  });
});

describe('doctor', () => {
  it('says what the machine can do', async () => {
    const { checks } = await json('doctor', [], { cwd: repository() });
    expect(checks).toContainEqual(expect.objectContaining({ name: 'workspace', ok: true }));
    expect(checks).toContainEqual(expect.objectContaining({ name: 'git', ok: true }));
    const cwd = repository();
    await ok(['fork', 'trial'], { cwd });
    expect(await ok(['doctor'], { cwd })).toMatch(/, 1 attempt$/m);
  });
});

describe('a hidden file', () => {
  it('is said to be hidden, not to be missing', async () => {
    const cwd = repository({ '.env': 'SECRET=1\n', 'b.txt': 'bee\n' });
    for (const args of [
      ['fs', 'cat', '.env'],
      ['fs', 'write', '.env', 'x'],
      ['fs', 'ls', '.git'],
    ]) {
      const { code, stderr } = await run(args, { cwd });
      expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining('is hidden: secrets') });
    }
    expect((await run(['fs', 'cat', 'absent'], { cwd })).code).toBe(3);
  });
});

describe('hints', () => {
  it('of fs edit and accept name only what helps', async () => {
    const cwd = repository({ 'a b.txt': 'one one\n', 'c.txt': 'sea\n' });
    const hintOf = async (...args: readonly string[]) =>
      (await run(args, { cwd })).stderr.split('\n').slice(1).join('');
    expect(await hintOf('fs', 'edit', 'a b.txt', 'nosuch', 'x')).toBe("  scratchfs fs cat 'a b.txt' shows the file.");
    expect(await hintOf('fs', 'edit', 'a b.txt', 'one', 'x')).toBe('  --all replaces every occurrence.');
    await ok(['fs', 'write', 'a b.txt', 'agent\n'], { cwd });
    writeFileSync(join(cwd, 'a b.txt'), 'mine\n');
    const { stdout } = await run(['accept'], { cwd });
    expect(stdout).toContain("scratchfs restore disk 'a b.txt'\n");
    expect(stdout).not.toMatch(/skip-conflicts|refresh|the person/);
    await ok(['fs', 'write', 'c.txt', 'agent\n'], { cwd });
    expect((await run(['accept'], { cwd })).stdout).toContain(
      'Accept the rest: the same command with --skip-conflicts\n',
    );
  });
});

describe('a hint', () => {
  it('works as printed: in a fork, with removed directories, moved files and -C', async () => {
    const cwd = repository({
      'a b.txt': 'a\n',
      'm.txt': 'm\n',
      'd/f': 'f\n',
      'd/g': 'g\n',
      'gone/f': 'f\n',
      'gone/g': 'g\n',
    });
    const env = { ...ENVIRONMENT, PATH: `${programFolder()}:${ENVIRONMENT['PATH']}` };
    /** Runs the command of a hint in a directory by a shell. */
    const follow = (text: string, hint: RegExp, place: string): void => {
      const [, command = ''] = hint.exec(text) ?? [];
      expect(command).toMatch(/^scratchfs /);
      execFileSync('/bin/sh', ['-c', command], { cwd: place, env });
    };
    await ok(['fs', 'write', 'a b.txt', 'parent\n'], { cwd });
    await ok(['fs', 'write', 'gone/f', 'parent\n'], { cwd });
    await ok(['fs', 'mv', 'm.txt', 'n.txt'], { cwd });
    await ok(['fs', 'write', 'n.txt', 'parent\n'], { cwd });
    await ok(['fs', 'rm', '-r', 'd'], { cwd });
    await ok(['fork', 'kid'], { cwd });
    for (const name of ['a b.txt', 'm.txt', 'd/f']) writeFileSync(join(cwd, name), 'person\n');
    const refreshed = async (place: string, ...args: readonly string[]) => run(['refresh', ...args], { cwd: place });
    const yours = /Take yours, then edit that: (.*)/;
    const first = await refreshed(join(cwd, 'gone'), '-a', 'kid');
    expect(first).toMatchObject({
      code: 5,
      stdout: expect.stringContaining("disk '../a b.txt' ../d/f ../n.txt -a kid\n"),
    });
    follow(first.stdout, yours, join(cwd, 'gone'));
    expect((await refreshed(cwd, '-a', 'kid')).code).toBe(0);
    rmSync(join(cwd, 'gone'), { recursive: true });
    const outside = folder('outside');
    const second = await run(['accept', 'kid', '-C', cwd], { cwd: outside });
    expect(second.code).toBe(5);
    follow(second.stdout, yours, outside);
    expect((await refreshed(cwd, '-a', 'kid')).code).toBe(0);
    const { files } = await json('fs cat', ['-a', 'kid', 'a b.txt', 'm.txt', 'd/f', 'd/g'], { cwd });
    expect((files as { text: string }[]).map(({ text }) => text)).toEqual(['person\n', 'person\n', 'person\n', 'g\n']);
    expect(await ok(['diff', '--name-only', 'kid'], { cwd })).toBe('');
    await ok(['fs', 'write', 'new.txt', 'new', '-a', 'kid'], { cwd });
    const third = await run(['accept', 'kid', '-C', cwd], { cwd: outside });
    follow(third.stdout, /(scratchfs undo .*) takes it back/, outside);
    expect(existsSync(join(cwd, 'new.txt'))).toBe(false);
  });
});

describe('the disk', () => {
  it('is not read outside the workspace', async () => {
    const cwd = repository();
    expect((await run(['fs', 'cat', '../outside'], { cwd })).code).toBe(3);
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('bee\n');
  });
});
