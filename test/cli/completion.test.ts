import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ENVIRONMENT, ok } from './program.js';
import { repository } from './repository.js';
import { HAS_TMUX, programFolder, Terminal } from './terminal.js';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0 || process.env['CI'] !== undefined;

/** Makes a repository with two attempts and another with one, and a PATH in which `scratchfs` is. */
async function scene(): Promise<{ readonly cwd: string; readonly other: string; readonly path: string }> {
  const cwd = repository({ 'notes.txt': 'a\n', 'src/a b.txt': 'b\n' });
  for (const name of ['calm-otter', 'late-fox']) await ok(['fork', name], { cwd });
  const other = repository();
  await ok(['fork', 'far-owl'], { cwd: other });
  await ok(['fs', 'write', 'a', '1', '-a', 'far-owl'], { cwd: other });
  return { cwd, other, path: `${programFolder()}${delimiter}${ENVIRONMENT['PATH']}` };
}

let terminal: Terminal | undefined;
afterEach(() => {
  terminal?.close();
  terminal = undefined;
});

describe.skipIf(!has('fish'))('completion in fish (needs fish)', () => {
  it('offers commands, names of attempts, paths, options and their values', async () => {
    const { cwd, path, other } = await scene();
    const lines = [
      ['scratchfs un', ['undo']],
      ['scratchfs fs m', ['mv']],
      ['scratchfs discard l', ['late-fox']],
      ['scratchfs undo --attempt ca', ['calm-otter']],
      ['scratchfs show 1', []],
      [`scratchfs -C ${other} discard `, ['far-owl']],
      [`scratchfs show --directory=${other} -a far-owl `, ['1']],
      ['scratchfs accept no', ['notes.txt']],
      ['scratchfs accept late-fox src/', ['src/a b.txt']],
      ['scratchfs fs find --ty', ['--type']],
      ['scratchfs fs find --type d', ['directory']],
      ['scratchfs fs find --type not', []],
      ['scratchfs completion z', ['zsh']],
    ] as const;
    const script = `scratchfs completion fish | source\n${lines.map(([line]) => `complete -C '${line}'; echo ==`).join('\n')}`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], {
      cwd,
      env: { ...ENVIRONMENT, PATH: path },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const offered = stdout.split('==\n').slice(0, -1);
    const words = (text: string): string[] => text.split('\n').filter((one) => one !== '');
    expect(offered.map((text) => words(text).map((one) => one.split('\t')[0]))).toEqual(
      lines.map(([, found]) => found),
    );
  });
});

describe.skipIf(!HAS_TMUX).each([
  ['bash', 'bash --norc', 'source <(scratchfs completion bash)'],
  ['zsh', 'zsh -f', 'autoload -Uz compinit && compinit -u -D && source <(scratchfs completion zsh)'],
])('completion in %s (needs tmux and %s)', (shell, start, load) => {
  it.skipIf(!has(shell))('completes a command, the name of an attempt, and a path at Tab', async () => {
    const { cwd, path, other } = await scene();
    const one = new Terminal(cwd);
    terminal = one;
    // The terminal's own shell has `scratchfs` as a function; the shell started here finds the program by PATH.
    one.type(`PATH='${path}' PS1='$ ' ${start}`);
    one.type(`PS1='> '; ${load}; echo loaded $((40 + 2))`);
    await one.shows('loaded 42');
    for (const [typed, completed] of [
      ['scratchfs un', 'scratchfs undo'],
      ['scratchfs discard la', 'scratchfs discard late-fox'],
      ['scratchfs accept not', 'scratchfs accept notes.txt'],
      [`scratchfs -C ${other} discard fa`, `scratchfs -C ${other} discard far-owl`],
      ['scratchfs accept late-fox src/', 'scratchfs accept late-fox src/a\\ b.txt'],
      ['scratchfs fs find --type d', 'scratchfs fs find --type directory'],
    ] as const) {
      one.type('clear');
      one.press('-l', typed);
      one.press('Tab');
      await one.shows(`> ${completed}`);
      one.press('C-u');
    }
  });
});
