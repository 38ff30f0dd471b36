import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from './commands.js';
import { completionScript } from './completion.js';

/** Returns what bash offers for the last of the words. */
function offered(...words: string[]): string[] {
  const script = `${completionScript(COMMANDS, 'bash')}
    COMP_WORDS=(${words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    scratchfs() { printf '%s ' "$@"; echo; }; _scratchfs; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc'], { input: script, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

describe('completion', () => {
  it('in bash offers commands, their second words, options and fixed values', () => {
    expect(offered('scratchfs', 'comp')).toEqual(['completion']);
    expect(offered('scratchfs', '-C', 'dir', 'fs', 'm')).toEqual(['mv']);
    expect(offered('scratchfs', 'fs', 'find', '--ty')).toEqual(['--type']);
    expect(offered('scratchfs', 'fs', 'find', '-t', 'd')).toEqual(['directory']);
    expect(offered('scratchfs', 'completion', 'z')).toEqual(['zsh']);
    expect(offered('scratchfs', '--store', 'redis', ':', '//host', 'fs', 'm')).toEqual(['mv']);
  });

  it('in bash asks about the directory, store and attempt that the line names', () => {
    const asked = (...words: string[]) => offered('scratchfs', ...words).join(' ');
    expect(asked('discard', '-C', "'a b'", '--store', '=', 'redis', ':', '//host', '')).toBe(
      `attempts --names -C a b --store redis://host`,
    );
    expect(asked('show', '--directory', '=', '~/x', '-acalm', '')).toBe(
      `log --numbers --limit 20 -a calm --directory ${process.env['HOME']}/x`,
    );
    expect(asked('fs', 'cat', '-C', '$(touch hacked)', '--at', '')).toBe('log --numbers --limit 20 -C $(touch hacked)');
  });

  it('names every command and option for each shell, and refuses others', () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = completionScript(COMMANDS, shell);
      for (const { name } of COMMANDS) expect(script, shell).toContain(name.split(' ').at(-1));
      expect(script).toMatch(/-l files-with-matches|--files-with-matches/);
    }
    expect(() => completionScript(COMMANDS, 'csh')).toThrow('There is no completion for csh.');
  });
});
