import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryRepository, type ObjectId, type TreeMode } from '@scratchfs/history';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SampleFolders } from '../testing/sample-repository.js';
import { HostHistory } from './host-history.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const encoder = new TextEncoder();
let repository: MemoryRepository;
let versions: HostHistory;
let work = '';
let before: Record<string, string> = {};

beforeEach(async () => {
  repository = new MemoryRepository();
  versions = new HostHistory({ repository });
  work = folders.folder();
  mkdirSync(join(work, 'old/deep'), { recursive: true });
  writeFileSync(join(work, 'old/deep/file'), 'old');
  writeFileSync(join(work, 'kept'), 'not committed');
  symlinkSync('kept', join(work, 'link'));
  before = contentsOf(work);
  return () => versions.close();
});

function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
  return Object.fromEntries(files.map((path) => [path, readText(path)]));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return 'a directory';
  }
}

async function blob(text: string): Promise<ObjectId> {
  const history = versions.historyOf();
  const body = encoder.encode(text);
  const id = history.blobId(body);
  await repository.write([{ type: 'blob', body, id }]);
  return id;
}

/** Makes a version of unchecked entries. */
async function versionOf(entries: Readonly<Record<string, readonly [TreeMode, ObjectId]>>): Promise<string> {
  const history = versions.historyOf();
  const tree = await history.editTree(
    undefined,
    new Map(Object.entries(entries).map(([path, [mode, id]]) => [path, { mode, id }])),
  );
  return history.commitTree(tree, { message: 'x', parents: [] });
}

describe('checkoutSnapshot() and rollback()', () => {
  const MISSING = 'f'.repeat(40) as ObjectId;
  it.each<[string, string, () => Promise<readonly [TreeMode, ObjectId]>]>([
    ['a file whose object is missing', 'not-found', async () => ['100644', MISSING]],
    ['a link whose object is missing', 'not-found', async () => ['120000', MISSING]],
    [
      'a file whose object is a tree',
      'wrong-type',
      async () => ['100644', await versions.historyOf().treeOf(await versionOf({ x: ['100644', await blob('x')] }))],
    ],
    ['a link with an empty target', 'hostile', async () => ['120000', await blob('')]],
    ['a link with NUL in its target', 'hostile', async () => ['120000', await blob('a\0b')]],
    ['a link with too long a target', 'hostile', async () => ['120000', await blob('a/'.repeat(3_000))]],
  ])('change nothing if a version has %s', async (_, code, last) => {
    const version = await versionOf({
      first: ['100644', await blob('first')],
      'old/deep': ['100644', await blob('a file in place of a directory')],
      'z/last': await last(),
    });
    for (const name of ['checkoutSnapshot', 'rollback'] as const)
      await expect(versions[name](version, work), name).rejects.toMatchObject({ name: 'HistoryError', code });
    expect(contentsOf(work)).toEqual(before);
  });

  it('change nothing if the signal aborts before everything has been written', async () => {
    const version = await versionOf({ a: ['100644', await blob('a')] });
    const controller = new AbortController();
    const reads = repository.read.bind(repository);
    Object.assign(repository, {
      read: async (...args: Parameters<typeof reads>) => {
        const found = await reads(...args);
        if (found?.type === 'blob') controller.abort(new Error('enough'));
        return found;
      },
    });
    const { signal } = controller;
    await expect(versions.checkoutSnapshot(version, work, { signal })).rejects.toThrow('enough');
    expect(contentsOf(work)).toEqual(before);
  });

  it('replace everything, including files by directories and directories by files', async () => {
    const version = await versionOf({
      'kept/a/b': ['100644', await blob('b')],
      'kept/a-b': ['100755', await blob('a-b')],
      'link/c': ['120000', await blob('../old')],
      'new/d/e': ['100644', await blob('e')],
      'new/d/sub': ['160000', MISSING],
      old: ['100644', await blob('old')],
    });
    await versions.checkoutSnapshot(version, work);
    expect(readdirSync(work, { recursive: true }).sort()).toEqual(
      [
        'kept',
        'kept/a',
        'kept/a-b',
        'kept/a/b',
        'link',
        'link/c',
        'new',
        'new/d',
        'new/d/e',
        'new/d/sub',
        'old',
      ].sort(),
    );
    expect(readText(join(work, 'new/d/e'))).toBe('e');
    await versions.rollback(version, work);
    expect(readText(join(work, 'old'))).toBe('old');
  });

  it('remove the files that a killed call has left', async () => {
    mkdirSync(join(work, '.scratchfs-0123456789abcdef/new'), { recursive: true });
    writeFileSync(join(work, '.scratchfs-0123456789abcdef/new/half'), 'half');
    await versions.checkoutSnapshot(await versionOf({ a: ['100644', await blob('a')] }), work);
    expect(readdirSync(work)).toEqual(['a']);
  });
});

describe('checkoutSnapshot()', () => {
  it('removes directories that the version does not have, empty ones too, and no others', async () => {
    const version = await versionOf({
      'src/deep/a': ['100644', await blob('a')],
      'was-directory': ['100644', await blob('b')],
      'libs/sub': ['160000', '1'.repeat(40) as ObjectId],
    });
    for (const path of ['src/empty/inner', 'src/deep/empty', 'empty', 'old/none', 'was-directory/x', 'libs/sub/empty'])
      mkdirSync(join(work, path), { recursive: true });
    writeFileSync(join(work, 'libs/sub/file'), 'x');
    for (const call of [() => versions.checkoutSnapshot(version, work), () => versions.rollback(version, work)]) {
      await call();
      const expected = { 'src/deep/a': 'a', 'was-directory': 'b', src: '', 'src/deep': '', libs: '', 'libs/sub': '' };
      expect(Object.keys(contentsOf(work)).sort()).toEqual(
        Object.keys(expected)
          .map((path) => join(work, path))
          .sort(),
      );
      mkdirSync(join(work, 'src/again/and/again'), { recursive: true });
    }
  });

  it('refuses options that do not exist, as the other methods do', async () => {
    const version = await versionOf({});
    const typo = { forced: true } as object;
    const options = 'force, signal';
    await expect(versions.checkoutSnapshot(version, work, typo)).rejects.toThrow(`It takes ${options}`);
    await expect(versions.rollback(version, work, typo)).rejects.toThrow(`It takes ${options}`);
    await expect(versions.onboardRepo(work, typo)).rejects.toThrow("onboardRepo has no option 'forced'");
    await expect(versions.createSnapshot(work, version, 'x', typo)).rejects.toThrow('createSnapshot has no option');
    await expect(versions.executeMerge(work, version, typo)).rejects.toThrow('executeMerge has no option');
    expect(() => new HostHistory({ maxEntrys: 1 } as object)).toThrow("HostHistory has no option 'maxEntrys'");
    expect(contentsOf(work)).toEqual(before);
  });
});
