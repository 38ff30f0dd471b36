import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellCommand } from './shell-command.js';

describe('shellCommand()', () => {
  it('quotes what a shell would split or expand, and nothing else', () => {
    expect(shellCommand(['sh', '-c', 'rm -rf src'])).toBe("sh -c 'rm -rf src'");
    const words = ['a b', '', "it's", '$HOME', '*', 'x\ny', '--name=v', '~'];
    const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${shellCommand(words)}`], { encoding: 'utf8' });
    expect(printed.split('\0').slice(0, -1)).toEqual(words);
  });
});
