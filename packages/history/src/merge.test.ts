import { describe, expect, it } from 'vitest';
import type { VersionEntry } from './diff.js';
import { History } from './history.js';
import type { MergeOptions } from './merge-options.js';
import { objectId } from './object-id.js';

type Files = Readonly<Record<string, string>>;

/** Prefix of the entries that stand for submodules. */
const COMMIT = 'commit ';
const LONG = 'one\ntwo\nthree\nfour\nfive\n';

async function merged(versions: { base: Files; ours: Files; theirs: Files }, options?: MergeOptions) {
  const history = new History();
  const treeOf = async (files: Files) => {
    const entries = new Map<string, VersionEntry>();
    for (const [path, text] of Object.entries(files)) {
      if (text.startsWith(COMMIT)) {
        entries.set(path, { mode: '160000', id: objectId(text.slice(COMMIT.length).repeat(40), 'sha1') });
        continue;
      }
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
  for await (const { path, id, mode } of history.list(tree))
    files[path] = mode === '160000' ? COMMIT + id[0] : new TextDecoder().decode(await history.readBlob(id));
  return { clean, files, conflicts: conflicts.map(({ path, kind }) => `${kind} ${path}`) };
}

describe('merge() of some paths', () => {
  it('keeps a file in the place of a wanted one and reports the conflict', async () => {
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

  it('moves nothing with a directory of which only a part is wanted', async () => {
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

  it('accepts paths in the usual forms', async () => {
    const base = { 'a/x': '1', b: '1' };
    const theirs = { 'a/x': '2', b: '2' };
    for (const path of ['./a', '/a/', 'b/../a//x']) {
      const { files } = await merged({ base, ours: base, theirs }, { paths: [path] });
      expect(files).toEqual({ 'a/x': '2', b: '1' });
    }
    for (const path of ['', '/', '.']) {
      const { files } = await merged({ base, ours: base, theirs }, { paths: [path] });
      expect(files).toEqual(theirs);
    }
  });
});

describe('merge() of renamed files', () => {
  it('prefers, of two equal files, the one whose directory did not become the file', async () => {
    const base = { 'd.x/a': LONG, 'd/x.t': LONG, 'd/x/y': 'y' };
    const ours = { 'd.x': LONG, 'd/x/y': 'y' };
    const theirs = { ...base, 'd/x.t': `${LONG}theirs\n` };
    expect(await merged({ base, ours, theirs })).toEqual({
      clean: true,
      files: { 'd.x': `${LONG}theirs\n`, 'd/x/y': 'y' },
      conflicts: [],
    });
  });
});

describe('merge() with a favored side', () => {
  it('calls favor with the path that the conflict would have', async () => {
    const base = { a: LONG };
    const ours = { b: `${LONG}mine\n` };
    const theirs = { a: `${LONG}theirs\n`, b: 'another\n' };
    const asked = new Set<string>();
    const { conflicts } = await merged({ base, ours, theirs }, { favor: (path) => void asked.add(path) });
    expect([...asked]).toEqual(['b']);
    expect(new Set(conflicts)).toEqual(new Set(['content b', 'add/add b']));
  });

  it('keeps the conflict about the commit of a submodule', async () => {
    const versions = { base: { a: `${COMMIT}1` }, ours: { a: `${COMMIT}2` }, theirs: { a: `${COMMIT}3` } };
    for (const favor of ['ours', 'theirs', 'union'] as const)
      expect(await merged(versions, { favor })).toEqual({
        clean: false,
        files: { a: `${COMMIT}2` },
        conflicts: ['submodule a'],
      });
  });
});

describe('merge() of a file and a directory', () => {
  const aside = async (name: string, ours: string) => {
    const versions = { base: {}, ours: { [`in/${name}`]: 'mine' }, theirs: { [`in/${name}/x`]: 'x' } };
    const { files, conflicts } = await merged(versions, { labels: { ours, theirs: 'theirs' } });
    expect(conflicts).toEqual([`type in/${name}`]);
    const [path] = Object.entries(files).find(([, text]) => text === 'mine') as [string, string];
    expect(Object.keys(files)).toHaveLength(2);
    return path;
  };

  it('moves the file to a name that a filesystem can hold', async () => {
    expect(await aside('a', 'feature/\\x')).toBe('in/a~feature__x');
    expect(await aside('a', 'é'.repeat(200))).toBe(`in/a~${'é'.repeat(126)}`);
    expect(await aside('n'.repeat(252), 'ours')).toBe(`in/${'n'.repeat(252)}~ou`);
    expect(await aside('é'.repeat(127), 'ours')).toBe(`in/${'é'.repeat(127)}~`);
    expect(await aside('n'.repeat(255), 'ours')).toBe(`in/${'n'.repeat(254)}~`);
  });

  it('moves the file to a name that is not taken for .git', async () => {
    expect(await aside('git', '1')).toBe('in/git~_1');
    expect(await aside('git', '1:x')).toBe('in/git~_1:x');
  });

  it('moves the file to a name that does not exist', async () => {
    const long = 'n'.repeat(255);
    const cut = 'n'.repeat(254);
    const theirs = { 'a/x': 'x', 'a~ours/y': 'y', [`${long}/x`]: 'x', [`${cut}~`]: 'z' };
    const { files } = await merged({ base: {}, ours: { a: 'mine', [long]: 'long' }, theirs });
    expect(files).toEqual({ ...theirs, 'a~ours_0': 'mine', [`${'n'.repeat(252)}~_0`]: 'long' });
  });
});
