import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { json, ok, run } from './program.js';
import { repository } from './repository.js';
import { HAS_TMUX, Terminal } from './terminal.js';

const HAS_BUBBLEWRAP = spawnSync('bwrap', ['--version']).status === 0 || process.env['CI'] !== undefined;

let terminal: Terminal | undefined;
afterEach(() => terminal?.close());

describe.skipIf(!HAS_BUBBLEWRAP)('run (needs bubblewrap)', () => {
  it('passes output and exit code on, and keeps the changes beside the disk', async () => {
    const cwd = repository();
    const script = 'echo out; echo err >&2; echo new > new.txt; rm b.txt; exit 7';
    const { code, stdout, stderr } = await run(['run', '--', 'sh', '-c', script], { cwd });
    expect([code, stdout.split('\n')[0], stderr.split('\n')[0]]).toEqual([7, 'out', 'err']);
    const [, kept] = /Kept as attempt (\w+-\w+)\. .*`undo` has nothing to do with it/.exec(stdout) ?? [];
    expect(stdout).toMatch(new RegExp(`scratchfs switch ${kept} +goes on there\n.*discard ${kept} +throws it away`));
    expect(await ok(['log'], { cwd })).toContain(`Other attempts: ${kept};`);
    expect(await ok(['log', '--attempt', kept ?? ''], { cwd })).toContain(`sh -c '${script}'`);
    expect(await ok(['status'], { cwd })).toContain(`Other attempts: ${kept};`);
    expect([existsSync(join(cwd, 'new.txt')), existsSync(join(cwd, 'b.txt'))]).toEqual([false, true]);
    expect((await run(['run', '--', 'sh', '-c', 'kill -9 $$'], { cwd })).code).toBe(137);
  });

  it('--accept writes what the command changed and nothing else, if it succeeds', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'other.txt', 'from before\n'], { cwd });
    const failed = await json('run', ['--accept', '--', 'sh', '-c', 'echo x > x; exit 1'], { cwd });
    expect(failed).toMatchObject({ code: 1, decision: 'kept', exitCode: 1 });
    const done = await json('run', ['--accept', 'sh', '-c', 'echo 2 > b.txt; echo out'], { cwd });
    expect(done).toMatchObject({ code: 0, decision: 'accepted', stdout: 'out\n', paths: [{ path: '/b.txt' }] });
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('2\n');
    expect(existsSync(join(cwd, 'other.txt')) || existsSync(join(cwd, 'x'))).toBe(false);
  });

  it.skipIf(!HAS_TMUX)('gives an interactive program the terminal, then asks (needs tmux)', async () => {
    const cwd = repository();
    terminal = new Terminal(cwd);
    terminal.type(
      `scratchfs run -- sh -c 'test -t 0 && read -r text && echo "$text" > said.txt && exit 3'; echo "ended $?"`,
    );
    terminal.type('hello');
    await terminal.shows('What now? [a,k,d,s,?]');
    terminal.press('s');
    await terminal.shows('+hello');
    terminal.press('a');
    const [, undo = ''] = /scratchfs (undo -a \S+) takes it back/.exec(await terminal.shows(/^ended 3$/m)) ?? [];
    expect(readFileSync(join(cwd, 'said.txt'), 'utf8')).toBe('hello\n');
    // The command that the screen shows undoes the run.
    await ok([...undo.split(' '), '--yes'], { cwd });
    expect(existsSync(join(cwd, 'said.txt'))).toBe(false);
  });
});

describe.skipIf(!HAS_BUBBLEWRAP)('try (needs bubblewrap)', () => {
  it.skipIf(!HAS_TMUX)(
    'asks in a terminal which fork to keep, and prints nothing else before (needs tmux)',
    async () => {
      terminal = new Terminal(repository());
      terminal.type(`clear; scratchfs try 1 -- sh -c 'echo x > y'; echo "code $?"`);
      const screen = await terminal.shows('Which one do you keep?');
      expect(screen).not.toContain('Warning');
      terminal.press('Enter');
      await terminal.shows(/^code 0$/m);
    },
  );

  it('runs and tests forks side by side, and succeeds if one is good', async () => {
    const cwd = repository();
    const good = await json('try', ['2', '--test', 'grep -q x y', '--', 'sh', '-c', 'echo x > y'], { cwd });
    expect(good).toMatchObject({ code: 0, tries: [{ test: { exitCode: 0 } }, { test: { exitCode: 0 } }] });
    const bad = await json('try', ['1', '--test', 'grep -q absent y', '--', 'sh', '-c', 'echo x > y'], { cwd });
    expect(bad).toMatchObject({ code: 1, picked: null, tries: [{ exitCode: 0, test: { exitCode: 1 } }] });
    expect((await run(['try', '0', '--', 'true'], { cwd })).code).toBe(2);
    expect((await run(['try', '2'], { cwd })).code).toBe(2);
    expect(existsSync(join(cwd, 'y'))).toBe(false);
  });
});
