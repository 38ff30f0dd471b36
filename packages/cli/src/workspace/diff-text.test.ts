import type { PathDiff } from '@scratchfs/workspace';
import { describe, expect, it } from 'vitest';
import { Output } from '../terminal/output.js';
import { patchLines } from './diff-text.js';

const output = new Output({
  stdout: { write: () => true },
  stderr: { write: () => true },
  stdin: {},
  environment: {},
});

const link = (target: string) => ({ kind: 'symlink' as const, mode: 0o777, size: target.length, target });

function lines(before: PathDiff['before'], after: PathDiff['after']): string[] {
  const type = before === null ? 'added' : 'changed';
  const path = { path: '/l', type, before, after, binary: false, additions: 0, deletions: 0, hunks: [] } as const;
  return patchLines(path, output);
}

describe('patchLines', () => {
  it('escapes marks of direction in names on a terminal, and leaves them to git in a pipe', () => {
    const link = { kind: 'symlink' as const, mode: 0o777, size: 1, target: 'x' };
    const path = {
      path: '/a\u202eb',
      type: 'moved',
      from: '/c\u001b\u202ed',
      before: link,
      after: link,
      binary: false,
      additions: 0,
      deletions: 0,
      hunks: [],
    } as const;
    const { style } = output;
    expect(patchLines(path, { style, isTerminal: true }).join('\n')).not.toContain('\u202e');
    expect(patchLines(path, { style, isTerminal: true }).at(-1)).toBe('rename to a\\u202eb');
    expect(patchLines(path, { style, isTerminal: false }).at(-1)).toBe('rename to a\u202eb');
  });

  it('shows the target of a symlink as git does', () => {
    expect(lines(null, link('/etc/passwd')).slice(1)).toEqual([
      'new file mode 120000',
      '--- /dev/null',
      '+++ b/l',
      '@@ -0,0 +1 @@',
      '+/etc/passwd',
      '\\ No newline at end of file',
    ]);
    expect(lines(link('old'), link('new'))).toEqual([
      'diff --git a/l b/l',
      '--- a/l',
      '+++ b/l',
      '@@ -1 +1 @@',
      '-old',
      '\\ No newline at end of file',
      '+new',
      '\\ No newline at end of file',
    ]);
  });

  it('shows an entry that became another kind as a removal and an addition', () => {
    const file = { kind: 'file' as const, mode: 0o644, size: 2 };
    const hunks = [{ id: 'h', oldStart: 1, oldLines: 1, newStart: 0, newLines: 0, lines: ['-a'] }];
    const counts = { additions: 0, deletions: 1, binary: false };
    const path = { path: '/l', type: 'changed', before: file, after: link('t'), hunks, ...counts } as const;
    expect(patchLines(path, output)).toEqual([
      'diff --git a/l b/l',
      'deleted file mode 100644',
      '--- a/l',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-a',
      'diff --git a/l b/l',
      'new file mode 120000',
      '--- /dev/null',
      '+++ b/l',
      '@@ -0,0 +1 @@',
      '+t',
      '\\ No newline at end of file',
    ]);
    const directory = { kind: 'directory' as const, mode: 0o755, size: 0 };
    expect(patchLines({ ...path, after: directory }, output).slice(-2)).toEqual(['-a', 'added l/']);
  });
});
