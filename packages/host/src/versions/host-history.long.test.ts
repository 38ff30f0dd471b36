import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openFileSystem } from '@scratchfs/core';
import { isHistoryError, MemoryRepository, type ObjectId } from '@scratchfs/history';
import { MemoryStorage } from '@scratchfs/memory';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SampleFolders } from '../testing/sample-repository.js';
import { HostHistory } from './host-history.js';
import { LinkedRepository } from './linked-repository.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());
let versions: HostHistory;
beforeEach(() => {
  versions = new HostHistory({ clock: () => Date.now() });
  return () => versions.close();
});
/** User id that root switches to, because modes do not restrict root. */
const SOMEBODY = 12_345;
const text = (...path: string[]): string => readFileSync(join(...path), 'utf8');

describe('the life of a work tree', () => {
  it('goes from onboarding through snapshots back to the beginning, with the same ids as git', async () => {
    const repository = folders.repository({ 'src/a.ts': 'let x = 1;\n', 'b.txt': 'b\n' });
    const start = await versions.onboardRepo(repository.path);
    expect(start).toBe(repository.git('rev-parse', 'HEAD'));
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    expect(text(work, 'src/a.ts')).toBe('let x = 1;\n');
    writeFileSync(join(work, 'src/a.ts'), 'const x = 1;\n');
    writeFileSync(join(work, 'new.sh'), '#!/bin/sh\n', { mode: 0o755 });
    symlinkSync('src/a.ts', join(work, 'link'));
    rmSync(join(work, 'b.txt'));
    const changed = await versions.createSnapshot(work, start, 'change');
    const { tree, parent, message } = await versions.readCommit(changed);
    expect({ parent, message }).toEqual({ parent: start, message: 'change\n' });
    const index = new Map(readdirSync(work).map((name) => [name, true]));
    expect([...index.keys()].sort()).toEqual(['link', 'new.sh', 'src']);
    const check = folders.repository({});
    for (const name of ['link', 'new.sh', 'src']) check.git('--work-tree', work, 'add', '-f', name);
    expect(tree).toBe(check.git('write-tree'));
    const diff = await versions.diffSnapshots(start, changed);
    expect(diff.added.map(({ path }) => path)).toEqual(['link', 'new.sh']);
    expect(diff.removed.map(({ path }) => path)).toEqual(['b.txt']);
    expect(diff.changed[0]?.before.id).toBe(repository.git('rev-parse', 'HEAD:src/a.ts'));
    const shown = await versions.formatDiffForDisplay(diff);
    expect(shown).toContain('\u001b[31m-let x = 1;');
    expect(shown).toContain('\u001b[32m+const x = 1;');
    const { renamed: _, ...rest } = diff;
    expect(await versions.formatDiffForDisplay(rest)).toBe(shown);
    expect(await versions.formatDiffForDisplay({ added: [], removed: [], changed: [] })).toBe('');
    await versions.rollback(start, work);
    expect(text(work, 'src/a.ts')).toBe('let x = 1;\n');
    expect(readdirSync(work).sort()).toEqual(['b.txt', 'src']);
    await versions.rollback(changed, work);
    expect(statSync(join(work, 'new.sh')).mode & 0o111).not.toBe(0);
    expect(readlinkSync(join(work, 'link'))).toBe('src/a.ts');
    expect(await versions.createSnapshot(work, start, 'again')).not.toBe(changed);
    expect(
      (await versions.diffSnapshots(changed, await versions.createSnapshot(work, start, 'again'))).changed,
    ).toEqual([]);
  });

  it('finds changes between snapshots, even with the same size and time', async () => {
    const work = folders.folder();
    writeFileSync(join(work, 'a'), 'one');
    const first = await versions.createSnapshot(work, undefined, 'first');
    writeFileSync(join(work, 'a'), 'two');
    const second = await versions.createSnapshot(work, first, 'second');
    expect((await versions.diffSnapshots(first, second)).changed.map(({ path }) => path)).toEqual(['a']);
  });

  it('leaves out files that git ignores, unless the parent has them or the caller asks for them', async () => {
    const work = folders.folder();
    writeFileSync(join(work, '.gitignore'), 'out/\n*.log\n');
    mkdirSync(join(work, 'out/deep'), { recursive: true });
    writeFileSync(join(work, 'out/deep/x'), 'x');
    writeFileSync(join(work, 'a.log'), 'log');
    const all = await versions.createSnapshot(work, undefined, 'all', { includeIgnored: true });
    const some = await versions.createSnapshot(work, undefined, 'some');
    const paths = async (id: string) => (await versions.diffSnapshots(some, id)).added.map(({ path }) => path);
    expect(await paths(all)).toEqual(['a.log', 'out/deep/x']);
    writeFileSync(join(work, 'out/deep/y'), 'y');
    expect(await paths(await versions.createSnapshot(work, all, 'kept'))).toEqual(['a.log', 'out/deep/x']);
  });

  it('does not follow links, neither out of a work tree nor within it', async () => {
    const outside = folders.folder();
    writeFileSync(join(outside, 'secret'), 'secret');
    const work = folders.folder();
    symlinkSync(outside, join(work, 'dir'));
    const id = await versions.createSnapshot(work, undefined, 'link');
    expect((await versions.historyOf().list(id).next()).value).toMatchObject({ path: 'dir', mode: '120000' });
    const other = folders.folder();
    mkdirSync(join(other, 'dir'));
    writeFileSync(join(other, 'dir/secret'), 'mine');
    const files = await versions.createSnapshot(other, undefined, 'files');
    await versions.checkoutSnapshot(files, work);
    expect(text(work, 'dir/secret')).toBe('mine');
    expect(text(outside, 'secret')).toBe('secret');
    await versions.checkoutSnapshot(id, work);
    expect(readlinkSync(join(work, 'dir'))).toBe(outside);
    expect(text(outside, 'secret')).toBe('secret');
  });

  it('rolls back names that are not UTF-8, also under an entry that is replaced', async () => {
    const start = await versions.onboardRepo(folders.repository({ 'a.txt': 'a', dir: 'a file' }).path);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    const bytes = (path: string): Buffer => Buffer.concat([Buffer.from(join(work, path)), Buffer.of(0xff)]);
    rmSync(join(work, 'dir'));
    mkdirSync(join(work, 'dir'));
    for (const path of ['bad', 'dir/bad']) writeFileSync(bytes(path), 'x');
    mkdirSync(bytes('deep'));
    writeFileSync(Buffer.concat([bytes('deep'), Buffer.from('/\ufffd')]), 'x');
    writeFileSync(join(work, 'bad\ufffd'), 'good');
    await expect(versions.createSnapshot(work, start, 'refused')).rejects.toThrow(/3 of the names/);
    await versions.rollback(start, work);
    expect(readdirSync(work).sort()).toEqual(['a.txt', 'dir']);
    expect(text(work, 'dir')).toBe('a file');
  });

  it('neither overlooks nor keeps files put into a submodule', async () => {
    const inner = folders.repository({ 'inner.txt': 'x' });
    const repository = folders.repository({ 'a.txt': 'a\n', '.gitignore': '*.o\n' });
    repository.git('submodule', '--quiet', 'add', inner.path, 'sub');
    const start = repository.commit({}, 'submodule');
    await versions.onboardRepo(repository.path);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    mkdirSync(join(work, 'sub/deep'));
    const snapshot = async (): Promise<string> => versions.createSnapshot(work, start, 'same');
    const treeOf = async (version: string): Promise<string> => (await versions.readCommit(version)).tree;
    writeFileSync(join(work, 'sub/deep/made.o'), 'ignored');
    expect(await treeOf(await snapshot())).toBe(await treeOf(start));
    writeFileSync(join(work, 'sub/deep/vendored.txt'), 'work');
    await expect(snapshot()).rejects.toThrow(/'sub\/deep\/vendored.txt': a submodule is there/);
    const skipped: string[] = [];
    const skipUnrepresentable = ({ path }: { readonly path: string }): void => void skipped.push(path);
    expect(await treeOf(await versions.createSnapshot(work, start, 'same', { skipUnrepresentable }))).toBe(
      await treeOf(start),
    );
    expect(skipped).toEqual(['sub/deep/vendored.txt']);
    await versions.rollback(start, work);
    expect(readdirSync(join(work, 'sub'))).toEqual([]);
    folders.repository().git('clone', '-q', inner.path, join(work, 'sub'));
    await expect(snapshot()).rejects.toThrow(/'sub\/\.git'/);
    await expect(versions.rollback(start, work)).rejects.toThrow(/Repositories lie in the directory: 'sub'/);
    await versions.rollback(start, work, { force: true });
    expect(readdirSync(join(work, 'sub'))).toEqual([]);
    rmSync(join(work, 'sub'), { recursive: true });
    const removed = await versions.diffSnapshots(start, await snapshot());
    expect(removed.removed.map(({ path }) => path)).toEqual(['sub']);
    expect(await treeOf(await versions.createSnapshot(repository.path, start, 'checked out'))).toBe(
      await treeOf(start),
    );
  });

  it('does not fill a directory that is a repository', async () => {
    const repository = folders.repository();
    const start = await versions.onboardRepo(repository.path);
    await expect(versions.checkoutSnapshot(start, repository.path)).rejects.toThrow(/repository of its own/);
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('removes a repository that an agent has made only with force, and reports a nested one', async () => {
    const start = await versions.onboardRepo(folders.repository().path);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    folders.repository().git('init', '-q', join(work, 'nested'));
    writeFileSync(join(work, 'nested/x'), 'x');
    await expect(versions.createSnapshot(work, start, 'refused')).rejects.toThrow(/'nested\/\.git'/);
    const skipped: string[] = [];
    const skipUnrepresentable = ({ path }: { path: string }): void => void skipped.push(path);
    const version = await versions.createSnapshot(work, start, 'without', { skipUnrepresentable });
    expect(skipped).toEqual(['nested/.git']);
    expect((await versions.diffSnapshots(start, version)).added.map(({ path }) => path)).toEqual(['nested/x']);
    folders.repository().git('init', '-q', work);
    await expect(versions.rollback(start, work)).rejects.toThrow(/force to delete the repository/);
    await versions.rollback(start, work, { force: true });
    expect(readdirSync(work)).toEqual(['a.txt']);
  });

  it.skipIf(process.seteuid === undefined)('rolls back files whose modes keep their owner out', async () => {
    const start = await versions.onboardRepo(folders.repository({ 'a.txt': 'a', 'd/b': 'b', 'd/gone': 'x' }).path);
    const work = mkdtempSync(join(tmpdir(), 'scratchfs-owner-'));
    const isRoot = process.getuid?.() === 0;
    try {
      if (isRoot) chownSync(work, SOMEBODY, SOMEBODY);
      if (isRoot) process.seteuid?.(SOMEBODY);
      await versions.checkoutSnapshot(start, work);
      rmSync(join(work, 'd/gone'));
      mkdirSync(join(work, 'new/deep'), { recursive: true });
      writeFileSync(join(work, 'new/deep/x'), 'x');
      writeFileSync(join(work, 'new/unread'), 'x');
      chmodSync(join(work, 'a.txt'), 0);
      chmodSync(join(work, 'new/unread'), 0);
      chmodSync(join(work, 'new/deep'), 0);
      for (const path of ['d', 'new']) chmodSync(join(work, path), 0o500);
      await versions.rollback(start, work);
      expect(readdirSync(work).sort()).toEqual(['a.txt', 'd']);
      expect([text(work, 'a.txt'), text(work, 'd/b'), text(work, 'd/gone')]).toEqual(['a', 'b', 'x']);
    } finally {
      if (isRoot) process.seteuid?.(0);
      rmSync(work, { recursive: true, force: true });
    }
  });

  it('does nothing more after it is closed', async () => {
    const start = await versions.onboardRepo(folders.repository().path);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    await versions.close();
    await expect(versions.createSnapshot(work, undefined, 'late')).rejects.toThrow(/have been closed/);
    expect(() => versions.historyOf()).toThrow(TypeError);
  });

  it('shares its versions with work in memory', async () => {
    const repository = folders.repository();
    const start = await versions.onboardRepo(repository.path);
    const fs = await openFileSystem(new MemoryStorage());
    await versions.historyOf().checkout(start, fs);
    await fs.writeFile('/a.txt', 'two\n');
    const done = await versions.historyOf().commit(fs, { message: 'in memory', parents: [start] });
    // One is in the repository, the other in memory.
    for (const [version, id] of [
      [start.slice(0, 10), start],
      [done.slice(0, 10), done],
      [`${done.slice(0, 10)}~1`, start],
    ] as const)
      expect(await versions.historyOf().resolve(version)).toBe(id);
    const work = folders.folder();
    await versions.checkoutSnapshot(done, work);
    expect(text(work, 'a.txt')).toBe('two\n');
  });
});

describe('onboardRepo()', () => {
  it('takes HEAD, not uncommitted changes of the work tree', async () => {
    const repository = folders.repository();
    repository.write('a.txt', 'changed');
    repository.write('b.txt', 'new');
    expect(await versions.onboardRepo(repository.path)).toBe(repository.git('rev-parse', 'HEAD'));
  });

  it('takes the work tree on top of HEAD when asked, without touching the repository', async () => {
    const repository = folders.repository({ 'a.txt': 'one\n', gone: 'x', '.gitignore': 'ignored\n' });
    repository.write('a.txt', 'changed\n');
    repository.write('new', 'new\n');
    repository.write('ignored', 'ignored\n');
    rmSync(join(repository.path, 'gone'));
    const before = repository.git('count-objects', '-v');
    const id = await versions.onboardRepo(repository.path, { workingTree: true });
    const commit = await versions.readCommit(id);
    expect(commit.parent).toBe(repository.git('rev-parse', 'HEAD'));
    const diff = await versions.diffSnapshots(commit.parent as string, id);
    expect(diff.added.map(({ path }) => path)).toEqual(['new']);
    expect(diff.removed.map(({ path }) => path)).toEqual(['gone']);
    expect(diff.changed.map(({ path }) => path)).toEqual(['a.txt']);
    expect(repository.git('count-objects', '-v')).toBe(before);
    const all = await versions.onboardRepo(repository.path, { workingTree: true, includeIgnored: true });
    expect((await versions.diffSnapshots(id, all)).added.map(({ path }) => path)).toEqual(['ignored']);
    repository.git('add', '-A');
    expect(commit.tree).toBe(repository.git('write-tree'));
  });

  it('reads files of the work tree that git has been told not to look at', async () => {
    const files = { assumed: '1', 'ä/gone': '1', skipped: '1', sparse: '1', both: '1', 'beneath/file': '1' };
    const repository = folders.repository(files);
    repository.git('update-index', '--assume-unchanged', 'assumed', 'ä/gone', 'both');
    repository.git('update-index', '--skip-worktree', 'skipped', 'sparse', 'both', 'beneath/file');
    for (const path of ['assumed', 'skipped', 'both']) repository.write(path, '2');
    for (const path of ['ä/gone', 'sparse', 'beneath']) rmSync(join(repository.path, path), { recursive: true });
    repository.write('beneath', 'a file');
    const tags = repository.git('ls-files', '-v');
    // Wait for the next second: a change in the second of the index does not differ in its times.
    await setTimeout(1_100);
    const id = await versions.onboardRepo(repository.path, { workingTree: true });
    const { added, changed, removed } = await versions.diffSnapshots(repository.git('rev-parse', 'HEAD'), id);
    expect(changed.map(({ path }) => path)).toEqual(['assumed', 'both', 'skipped']);
    expect(added.map(({ path }) => path)).toEqual(['beneath']);
    expect(removed.map(({ path }) => path)).toEqual(['beneath/file', 'ä/gone']);
    expect(repository.git('ls-files', '-v')).toBe(tags);
  });

  it('returns the same id for a repository with SHA-256, packed, with tags and links', async () => {
    const repository = folders.repository({ 'a.txt': 'one\n' }, '--object-format=sha256');
    symlinkSync('a.txt', join(repository.path, 'link'));
    repository.commit({ 'ä/ö.txt': 'x' }, 'more');
    repository.git('gc', '-q');
    const id = await versions.onboardRepo(repository.path);
    expect(id).toBe(repository.git('rev-parse', 'HEAD'));
    const work = folders.folder();
    await versions.checkoutSnapshot(id, work);
    expect(text(work, 'ä/ö.txt')).toBe('x');
  });

  it('makes a version without a parent of a folder that is not a repository', async () => {
    const folder = folders.folder();
    writeFileSync(join(folder, 'a.txt'), 'one\n');
    const id = await versions.onboardRepo(folder);
    expect((await versions.readCommit(id)).parent).toBeUndefined();
    const result = await versions.executeMerge(folder, id);
    expect(result).toMatchObject({ success: false, conflict: false });
    expect(result.message).toMatch(/not a complete git repository/);
  });

  it('keeps submodules as they are and leaves nested repositories out', async () => {
    const inner = folders.repository({ 'inner.txt': 'x' });
    const repository = folders.repository();
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    repository.commit({}, 'submodule');
    const nested = folders.repository({ 'n.txt': 'n' });
    repository.git('clone', '-q', nested.path, 'nested');
    const skipped: string[] = [];
    const id = await versions.onboardRepo(repository.path, {
      workingTree: true,
      skipUnrepresentable: ({ path }) => skipped.push(path),
    });
    expect(skipped).toEqual(['nested']);
    const work = folders.folder();
    await versions.checkoutSnapshot(id, work);
    expect(readdirSync(join(work, 'sub'))).toEqual([]);
    expect(existsSync(join(work, 'nested'))).toBe(false);
    const snapshot = await versions.createSnapshot(work, id, 'same');
    expect((await versions.readCommit(snapshot)).tree).toBe((await versions.readCommit(id)).tree);
  });

  it('lists every unrepresentable name in one error, and takes the rest when asked', async () => {
    const repository = folders.repository({ good: 'x', 'back\\slash': 'x', 'dir/also\\bad': 'x' });
    const error = await versions.onboardRepo(repository.path).catch((reason: unknown) => reason);
    expect(isHistoryError(error, 'hostile')).toBe(true);
    expect((error as Error).message).toMatch(/back.*\n.*also/);
    const skipped: string[] = [];
    const id = await versions.onboardRepo(repository.path, { skipUnrepresentable: ({ path }) => skipped.push(path) });
    expect(skipped).toEqual(['back\\slash', 'dir/also\\bad']);
    const work = folders.folder();
    await versions.checkoutSnapshot(id, work);
    expect(readdirSync(work)).toEqual(['good']);
    writeFileSync(join(work, 'good'), 'better');
    const done = await versions.createSnapshot(work, id, 'better');
    expect(await versions.executeMerge(repository.path, done)).toMatchObject({ success: true });
    expect(text(repository.path, 'good')).toBe('better');
    expect(text(repository.path, 'back\\slash')).toBe('x');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('reads the remaining repositories if one is gone', async () => {
    const [first, second] = [folders.repository({ a: 'a' }), folders.repository({ b: 'b' })];
    const gone = await versions.onboardRepo(first.path);
    const start = await versions.onboardRepo(second.path);
    rmSync(first.path, { recursive: true });
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    expect(readdirSync(work)).toEqual(['b']);
    await expect(versions.checkoutSnapshot(gone, work)).rejects.toThrow(/no object .* is gone/);
  });

  it('onboards a new repository at a known path anew, and reads that of a deleted work tree', async () => {
    const repository = folders.repository({ a: 'a' });
    await versions.checkoutSnapshot(await versions.onboardRepo(repository.path), folders.folder());
    rmSync(repository.path, { recursive: true });
    const other = folders.repository({ b: 'b' });
    other.git('clone', '-q', '--bare', '.', repository.path);
    const work = folders.folder();
    await versions.checkoutSnapshot(await versions.onboardRepo(repository.path), work);
    expect(readdirSync(work)).toEqual(['b']);
    const linked = join(folders.folder(), 'linked');
    other.git('worktree', 'add', '-q', '-b', 'side', linked);
    await versions.onboardRepo(linked);
    rmSync(linked, { recursive: true });
    await versions.checkoutSnapshot(other.commit({ c: 'c' }, 'more'), work);
    expect(readdirSync(work)).toEqual(['b', 'c']);
  });

  it('knows the boundary of a shallow clone, unless another repository continues there', async () => {
    const repository = folders.repository({ a: 'a' });
    const middle = repository.commit({ a: 'b' }, 'second');
    const tip = repository.commit({ a: 'c' }, 'third');
    const shallow = join(folders.folder(), 'shallow');
    repository.git('clone', '-q', '--depth=2', `file://${repository.path}`, shallow);
    const start = await versions.onboardRepo(shallow);
    const work = folders.folder();
    await versions.checkoutSnapshot(start, work);
    writeFileSync(join(work, 'a'), 'd');
    const version = await versions.createSnapshot(work, start, 'fourth');
    const history = versions.historyOf(version);
    const log = async (): Promise<string[]> => {
      const ids: string[] = [];
      for await (const { id } of history.log(version)) ids.push(id);
      return ids;
    };
    expect(await log()).toEqual([version, tip, middle]);
    expect(await history.mergeBases(version, middle)).toEqual([middle]);
    expect((await history.verify(version)).problems).toEqual([]);
    expect(await versions.executeMerge(shallow, version)).toMatchObject({ success: true, mergeCommit: version });
    await versions.onboardRepo(repository.path);
    expect(await log()).toHaveLength(4);
  });

  it('continues after a shallow clone is deepened, and after another repository is gone', async () => {
    const gone = folders.repository({ a: 'a' });
    const repository = folders.repository({ b: 'b' });
    repository.commit({ b: 'c' }, 'second');
    const shallow = join(folders.folder(), 'shallow');
    repository.git('clone', '-q', '--depth=1', `file://${repository.path}`, shallow);
    await using own = new HostHistory();
    await own.onboardRepo(gone.path);
    rmSync(gone.path, { recursive: true });
    const version = await own.onboardRepo(shallow);
    const log = async (): Promise<number> => {
      let count = 0;
      for await (const _ of own.historyOf(version).log(version)) count++;
      return count;
    };
    expect(await log()).toBe(1);
    repository.git('-C', shallow, 'fetch', '-q', '--unshallow');
    expect(await log()).toBe(2);
  });

  it('knows the boundary of a repository that is onboarded while boundaries are read', async () => {
    const own = new MemoryRepository();
    const linked = new LinkedRepository(own);
    const end = 'ab'.repeat(20) as ObjectId;
    const source = (ends: () => Promise<ReadonlySet<ObjectId>>) =>
      Object.assign(new MemoryRepository(), { shallow: ends, close: () => undefined });
    linked.link('/one', '1', () =>
      source(async () => {
        linked.link('/two', '2', () => source(async () => new Set([end])));
        return new Set();
      }),
    );
    expect([...(await linked.shallow())]).toEqual([]);
    expect([...(await linked.shallow())]).toEqual([end]);
  });

  it('lists every mode that git no longer writes, and takes the files with the modes that git reads when asked', async () => {
    const repository = folders.repository({ a: 'a', 'run.sh': 'x', 'dir/b': 'b' });
    const tree = (entries: readonly (readonly [mode: string, name: string, of: string])[]): string => {
      const path = join(folders.folder(), 'tree');
      const encoded = entries.map(([mode, name, of]) =>
        Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(repository.git('rev-parse', of), 'hex')]),
      );
      writeFileSync(path, Buffer.concat(encoded));
      return repository.git('hash-object', '-t', 'tree', '-w', '--literally', path);
    };
    const dir = tree([['100664', 'b', 'HEAD:dir/b']]);
    const top = tree([
      ['100644', 'a', 'HEAD:a'],
      ['040000', 'dir', dir],
      ['100775', 'run.sh', 'HEAD:run.sh'],
    ]);
    repository.git('reset', '-q', '--hard', repository.git('commit-tree', top, '-m', 'old'));
    const refused = await versions.onboardRepo(repository.path).catch((error: Error) => error.message);
    expect(refused).toMatch(/3 of .*\n'dir': its mode is 040000.*\n'run.sh': its mode is 100775.*\n'dir\/b': its mode/);
    const skipped: string[] = [];
    const id = await versions.onboardRepo(repository.path, { skipUnrepresentable: ({ path }) => skipped.push(path) });
    expect(skipped).toEqual(['dir', 'run.sh', 'dir/b']);
    const work = folders.folder();
    await versions.checkoutSnapshot(id, work);
    expect(text(work, 'dir/b')).toBe('b');
    expect(statSync(join(work, 'run.sh')).mode & 0o111).not.toBe(0);
    writeFileSync(join(work, 'dir/b'), 'better');
    const done = await versions.createSnapshot(work, id, 'better');
    expect(await versions.executeMerge(repository.path, done)).toMatchObject({ success: true });
    expect(text(repository.path, 'dir/b')).toBe('better');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('runs no filter, hook or fsmonitor of the repository', async () => {
    const repository = folders.repository({ 'a.txt': 'one\n', '.gitattributes': '* filter=evil\n' });
    const canary = join(folders.top, 'onboard-canary');
    for (const key of ['filter.evil.clean', 'filter.evil.process', 'core.fsmonitor'])
      repository.git('config', key, `touch ${canary}; cat`);
    repository.write('a.txt', 'two\n');
    await versions.onboardRepo(repository.path, { workingTree: true });
    expect(existsSync(canary)).toBe(false);
  });

  it('reports its progress, and stops midway when its signal aborts', async () => {
    const folder = folders.folder();
    for (let i = 0; i < 3_000; i++) writeFileSync(join(folder, `file-${i}`), `${i}\n`);
    const told: number[] = [];
    await versions.onboardRepo(folder, { onProgress: ({ done }) => void told.push(done) });
    expect(told.length).toBeGreaterThan(3);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(3_000);
    const stop = new AbortController();
    let last = 0;
    const onProgress = ({ done }: { readonly done: number }): void => {
      last = done;
      if (done >= 1_000) stop.abort(new Error('enough'));
    };
    await expect(versions.onboardRepo(folder, { onProgress, signal: stop.signal })).rejects.toThrow('enough');
    expect(last).toBeLessThan(3_000);
  });

  it('stops when its signal aborts', async () => {
    const repository = folders.repository();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(versions.onboardRepo(repository.path, { signal })).rejects.toThrow('enough');
  });
});
