import { describe, expect, it } from 'vitest';
import type { VersionEntry } from './diff.js';
import { History } from './history.js';
import type { MergeOptions } from './merge-options.js';

type Files = Readonly<Record<string, string>>;

const LONG = 'one\ntwo\nthree\nfour\nfive\n';

async function merged(versions: { base: Files; ours: Files; theirs: Files }, options?: MergeOptions) {
  const history = new History();
  const treeOf = async (files: Files) => {
    const entries = new Map<string, VersionEntry>();
    for (const [path, text] of Object.entries(files)) {
      const body = new TextEncoder().encode(text);
      const id = history.blobId(body);
      await history.repository.write([{ type: 'blob', body, id }]);
      entries.set(path, { mode: '100644', id });
    }
    return history.editTree(undefined, entries);
  };
  const [base, ours, theirs] = [
    await treeOf(versions.base),
    await treeOf(versions.ours),
    await treeOf(versions.theirs),
  ];
  const { clean, tree, conflicts } = await history.merge(base, ours, theirs, options);
  const files: Record<string, string> = {};
  for await (const { path, id } of history.list(tree))
    files[path] = new TextDecoder().decode(await history.readBlob(id));
  return { clean, files, conflicts: conflicts.map(({ path, kind }) => `${kind} ${path}`) };
}

describe('merge() of some paths', () => {
  it('keeps a file whose place a wanted one needs, and says so', async () => {
    const base = { a: 'precious', k: 'k' };
    const theirs = { 'a/b/x': 'new', k: 'other' };
    expect(await merged({ base, ours: base, theirs }, { paths: ['a/b/x'] })).toEqual({
      clean: false,
      files: { 'a/b/x': 'new', 'a~ours': 'precious', k: 'k' },
      conflicts: ['type a'],
    });
  });

  it('keeps a file onto which a wanted one would move with its directory', async () => {
    const base = { 'd/a': LONG, 'e/n': 'precious' };
    const ours = { 'e/a': LONG, 'e/n': 'precious' };
    const theirs = { 'd/a': LONG, 'd/n': 'new' };
    expect(await merged({ base, ours, theirs }, { paths: ['d'], directoryRenames: true })).toEqual({
      clean: false,
      files: { 'd/n': 'new', 'e/a': LONG, 'e/n': 'precious' },
      conflicts: ['location d/n'],
    });
  });

  it('moves nothing along with a directory that is wanted in part', async () => {
    const base = { 'p/d/a': LONG, 'p/d/b': `${LONG}b` };
    const ours = { ...base, 'p/d/n': 'mine' };
    const theirs = { 'e/a': LONG, 'e/b': `${LONG}b` };
    const versions = { base, ours, theirs };
    expect(await merged(versions, { paths: ['p/d/a', 'e/a'], directoryRenames: true })).toEqual({
      clean: true,
      files: { 'e/a': LONG, 'p/d/b': `${LONG}b`, 'p/d/n': 'mine' },
      conflicts: [],
    });
    const whole = await merged(versions, { paths: ['p/d', 'e'], directoryRenames: true });
    expect(Object.keys(whole.files)).toEqual(['e/a', 'e/b', 'e/n']);
  });
});
