import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { autoRunFiles } from './auto-run-files.js';
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

  it('finds such files among the changes of a command, except those that it removed', async () => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/package.json': '{}', '/.envrc': '', '/a': '' } });
    const script = 'echo >>package.json; rm .envrc; mkdir .husky; echo x >.husky/pre-commit; echo >>a';
    expect((await bringBackAfter(script, fs)).autoRun).toEqual(['/.husky/pre-commit', '/package.json']);
    expect((await bringBackAfter('echo >>a', fs)).autoRun).toEqual([]);
  });
});
