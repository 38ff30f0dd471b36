import { describe, expect, it } from 'vitest';
import type { EntryState, OperationChange } from '../operation.js';
import { mainChanges } from './main-changes.js';

const file = (hash: string): EntryState => ({ kind: 'file', mode: 0o644, size: 1, hash });
const directory: EntryState = { kind: 'directory', mode: 0o755, size: 0 };

const listOf = (changes: readonly OperationChange[], limit?: number): unknown[] =>
  mainChanges(changes, limit).map(({ type, path, from, files }) =>
    [type, ...(from === undefined ? [] : [from]), path, ...(files === undefined ? [] : [files])].join(' '),
  );

describe('mainChanges()', () => {
  it('counts a removed directory once, and a move once, also of a directory', () => {
    const changes: OperationChange[] = [
      { path: '/a', before: directory, after: null },
      { path: '/a/f', before: file('f'), after: null },
      { path: '/a/g', before: file('g'), after: null },
      { path: '/b', from: '/a', before: null, after: directory },
      { path: '/b/f', from: '/a/f', before: null, after: file('f') },
      { path: '/b/g', from: '/a/g', before: null, after: file('changed') },
      { path: '/new', from: '/old', before: file('replaced'), after: file('o') },
      { path: '/old', before: file('o'), after: null },
      { path: '/src', before: directory, after: null, files: 1 },
      { path: '/src/in', before: directory, after: null, files: 1 },
      { path: '/src/in/x', before: file('x'), after: null },
    ];
    expect(listOf(changes)).toEqual(['moved /a /b', 'moved /a/g /b/g', 'moved /old /new', 'removed /src 1']);
  });

  it('counts what a created directory holds only above the limit', () => {
    const changes: OperationChange[] = [
      { path: '/src', before: null, after: directory, files: 2 },
      { path: '/src/x', before: null, after: file('x') },
      { path: '/src/y', before: null, after: file('y') },
    ];
    expect(listOf(changes, 3)).toEqual(['added /src', 'added /src/x', 'added /src/y']);
    expect(listOf(changes, 2)).toEqual(['added /src 2']);
  });
});
