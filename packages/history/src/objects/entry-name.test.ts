import { afterAll, describe, expect, it } from 'vitest';
import { SampleGit } from '../testing/sample-git.js';
import { isDotGit, isDotGitmodules } from './entry-name.js';

const sample = new SampleGit();
afterAll(() => sample.remove());
sample.run(['init', '-q', 'names']);
const blob = sample.run(['-C', 'names', 'hash-object', '-w', '--stdin'], 'target');

/** Reports whether git accepts a name into its index by its rules for HFS+ and NTFS. */
function takes(mode: string, name: string): boolean {
  const rules = ['-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true'];
  const { status, stderr } = sample.try([
    '-C',
    'names',
    ...rules,
    'update-index',
    '--add',
    '--cacheinfo',
    mode,
    blob,
    name,
  ]);
  if (status !== 0) expect(stderr).toContain('Invalid path');
  return status === 0;
}

const SHORT = ['gitmod~1', 'GITMOD~4', 'gitmod~5', 'gitmod~0', 'gitmod~1 .', 'gitmod~1:x', 'gitmod~12'];
const HASHED = [
  ...['gi7eba~1', 'GI7EBA~9', 'gi7eba~0', 'gi7eba~12', 'gi7eb~10', 'gi7eb~01', 'gi7e~100', 'gi~10000', 'g~100000'],
  ...['~1000000', '~10000000', '~100000', 'gi7ebb~1', 'gi7eba~1 .', 'gi7eba~1:x', 'gi7eba~1x', 'gi7eba~'],
];
const DISGUISED = [
  '.gitmodules',
  '.GitModules',
  '.gitmodules .',
  '.gitmodules::$DATA',
  '.git\u200cmodules',
  '.gitmodules2',
  'gitmodules',
];

describe('names that some filesystem confuses with others', () => {
  it.each([...SHORT, ...HASHED, ...DISGUISED])('%j counts as .gitmodules if it does for git', (name) => {
    expect(isDotGitmodules(name)).toBe(!takes('120000', name));
  });

  it.each([
    '.git',
    '.GIT',
    'git~1',
    'GIT~1',
    'git~2',
    'git~1.',
    '.git ',
    '.git.',
    '.git:x',
    '.g\u200dit',
    '.gitx',
    'git',
  ])('%j counts as .git if it does for git', (name) => {
    expect(isDotGit(name)).toBe(!takes('100644', name));
  });
});
