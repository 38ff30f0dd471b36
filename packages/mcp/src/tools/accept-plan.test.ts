import type { PathDiff } from '@scratchfs/workspace';
import { describe, expect, it } from 'vitest';
import { pathLines } from './accept-plan.js';

const removed = (path: string, kind: 'file' | 'directory', files?: number): PathDiff => ({
  ...{ path, type: 'removed', before: { kind, mode: 0o644, size: 0 }, after: null },
  ...{ binary: false, additions: 0, deletions: 1, hunks: [], files },
});

describe('pathLines()', () => {
  it('names what is in a removed directory, and beyond 100 paths says how many more there are', () => {
    const inside = Array.from({ length: 120 }, (_, i) => removed(`/src/f${i}`, 'file'));
    const lines = pathLines([removed('/src', 'directory', 120), removed('/src-old', 'file'), ...inside]);
    expect(lines[0]).toBe('D /src (directory, 120 files)');
    expect(lines[1]).toBe('D /src/f0 +0 -1');
    expect(lines.slice(101)).toEqual(['and 20 more under /src', 'D /src-old +0 -1']);
  });
});
