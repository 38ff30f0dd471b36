import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { autoRunFiles, type KnownLink } from './auto-run-files.js';
import { bringBackAfter } from './testing/bring-back-after.js';

describe('autoRunFiles()', () => {
  it('returns the files that other programs run, in their order, at any depth and in any case', () => {
    const run = [
      '.envrc',
      '/sub/.EnvRC',
      'package.json',
      'packages/a/package.json',
      '.vscode/tasks.json',
      'x/.VSCode/settings.json',
      '.husky/_/pre-commit',
      '.github/workflows/ci.yml',
      'my.code-workspace',
      '.gitattributes',
    ];
    const others = ['src/a.ts', 'envrc', 'package.json.md', 'husky/x', '.github/README.md', 'vscode', '.vscode', ''];
    expect(autoRunFiles([...others, ...run])).toEqual(run);
    expect(autoRunFiles([])).toEqual([]);
  });

  it('judges a path by every name under which links make it reachable', () => {
    const links: KnownLink[] = [
      ['/.vscode', 'conf'],
      ['/.GitHub', './gh/'],
      ['/.husky/pre-commit', '../scripts/hook.sh'],
      ['/a/.envrc', '/env/of-a'],
      ['/.idea', 'near/ide'],
      ['/near', 'far/./away'],
      ['/out/.vscode', '../../other'],
      ['/.cargo', '.cargo'],
      ['/loop', '.'],
    ];
    const run = [
      'conf/tasks.json',
      '/gh/workflows/ci.yml',
      '/scripts/HOOK.sh',
      '/env/of-a',
      '/far/away/ide/x.xml',
      '/.vscode',
      '/.husky/pre-commit',
    ];
    const others = ['/conf', '/gh/README.md', '/scripts/hook.sh.txt', '/other/x', '/near/x', '/loop', '/x', '/confx/y'];
    expect(autoRunFiles([...run, ...others], links)).toEqual(run);
    expect(autoRunFiles(run)).toEqual(['/.husky/pre-commit']);
  });

  it('judges a path by names through several links, however many others there are', () => {
    const many = Array.from({ length: 500 }, (_, i): KnownLink => [`/x${i}`, 'b']);
    const links: KnownLink[] = [...many, ['/b/round', '..'], ['/a/tasks.json', '../b/t.json'], ['/.vscode', 'a']];
    expect(autoRunFiles(['/b/t.json', '/b/u.json'], links)).toEqual(['/b/t.json']);
  });

  it('finds files of a command that links make reachable', async () => {
    const fs = await openFileSystem(new MemoryStorage(), {
      files: { '/conf/a': '', '/lib/a': '', '/.vscode': { symlink: '/conf' }, '/.husky/x': { symlink: '../lib/hook' } },
    });
    const script = 'echo x >conf/tasks.json; echo x >lib/hook; echo x >lib/other';
    expect((await bringBackAfter(script, fs)).autoRun).toEqual(['/conf/tasks.json', '/lib/hook']);
  });

  it('finds such files among the changes of a command, except those that it removed', async () => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/package.json': '{}', '/.envrc': '', '/a': '' } });
    const script = 'echo >>package.json; rm .envrc; mkdir .husky; echo x >.husky/pre-commit; echo >>a';
    expect((await bringBackAfter(script, fs)).autoRun).toEqual(['/.husky/pre-commit', '/package.json']);
    expect((await bringBackAfter('echo >>a', fs)).autoRun).toEqual([]);
  });
});
