import { describe, expect, it } from 'vitest';
import { asyncForm } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { diff, formatDiff } from '../diff/diff.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { isFsError } from '../errors.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { FileSystem, SyncFileSystem, WatchEvent } from '../file-system.js';
import { glob } from '../search/glob.js';
import { grep } from '../search/grep.js';
import { createSnapshot } from '../snapshot/create-snapshot.js';
import { restoreSnapshot } from '../snapshot/restore-snapshot.js';
import { codeOf, promises, sample } from '../testing/sample-file-system.js';
import { type Area, Refused, SampleGuard } from '../testing/sample-guard.js';
import { mount } from './mount.js';
import { observe } from './observe.js';
import { overlay } from './overlay.js';
import { readonly } from './readonly.js';
import { restrict } from './restrict.js';

const FILES = {
  '/secret/key': 'hidden',
  '/secret/deep/x.ts': 'hidden too',
  '/src/a.ts': 'const a = 1;',
  '/src/b.bin': 'binary',
  '/src/large.ts': 'x'.repeat(100),
  '/work/notes.txt': 'mine',
  '/work/d/e.txt': 'deep',
  '/out/old.txt': 'not to be read',
};

const AREAS: readonly Area[] = [
  { root: '/src', read: true, write: false, suffixes: ['.ts'], maxFileBytes: 50 },
  { root: '/work', read: true, write: true },
  { root: '/out', read: false, write: true },
];

type Open = (base: SyncFileSystem) => FileSystem;

/** Filesystems whose operations call the guards themselves. */
const ENGINE: Readonly<Record<string, Open>> = {
  'a filesystem in memory': (base) => base,
  'an overlay': (base) => overlay(base),
  'an overlay of promises': (base) => overlay(promises(base)),
};

const FOREIGN: Readonly<Record<string, Open>> = {
  'another layer': (base) => observe(base, () => {}),
  'another layer of promises': (base) => observe(promises(base), () => {}),
  'a mount': (base) => mount(base, {}),
  'a mount of promises': (base) => mount(promises(base), {}),
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Reports whether a call was refused with the policy's own error, exactly as it was thrown. */
async function refused(call: () => unknown): Promise<boolean> {
  try {
    await call();
    return false;
  } catch (error) {
    if (error instanceof Refused) return true;
    throw error;
  }
}

async function dump(fs: FileSystem): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { path, kind } of await all(fs.walk())) if (kind === 'file') found[path] = await fs.readText(path);
  return found;
}

for (const [form, open] of Object.entries({ ...ENGINE, ...FOREIGN })) {
  const isForeign = form in FOREIGN;
  const onlyEngine = isForeign ? () => {} : it;

  const make = (areas: readonly Area[] = AREAS, files: Readonly<Record<string, string>> = FILES) => {
    const base = sample(files);
    const lower = open(base);
    const guard = new SampleGuard(areas);
    return { base, lower, guard, fs: restrict(lower, guard) };
  };

  describe(`restrict over ${form}`, () => {
    it('shows visible entries', async () => {
      const { fs } = make();
      expect(await fs.readdir('/')).toEqual(['out', 'src', 'work']);
      expect(await fs.readdir('/src')).toEqual(['a.ts', 'large.ts']);
      expect((await all(fs.walk())).map(({ path }) => path)).toEqual([
        '/out',
        '/src',
        '/src/a.ts',
        '/src/large.ts',
        '/work',
        '/work/d',
        '/work/d/e.txt',
        '/work/notes.txt',
      ]);
      expect(await all(glob(fs, '**/*.{ts,txt,bin}'))).toEqual([
        '/src/a.ts',
        '/src/large.ts',
        '/work/d/e.txt',
        '/work/notes.txt',
      ]);
      const found = await all(grep(fs, 'e'));
      expect(new Set(found.map(({ path }) => path))).toEqual(new Set(['/work/d/e.txt', '/work/notes.txt']));
      expect(await fs.stats()).toEqual({ totalSize: 120, fileCount: 4, directoryCount: 4, nodeCount: 8 });
    });

    it('creates missing directories of a path that leads through a link', async () => {
      const { lower, fs } = make();
      await lower.symlink('/work/d', '/work/link');
      expect(await fs.mkdir('/work/link/x/y', { recursive: true })).toBe('/work/link/x');
      await fs.cp('/src/a.ts', '/work/link/p/q/a.ts');
      expect(await lower.isDirectory('/work/d/x/y')).toBe(true);
      expect(await lower.readText('/work/d/p/q/a.ts')).toBe('const a = 1;');
    });

    it('creates no directory at the target of a dangling link', async () => {
      const { lower, fs } = make();
      await lower.symlink('/work/none', '/work/link');
      await expect(fs.mkdir('/work/link/x', { recursive: true })).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await lower.exists('/work/none')).toBe(false);
    });

    it('gives the same error for every path outside, whether it exists or not', async () => {
      const { fs } = make();
      const paths = ['/secret', '/secret/key', '/secret/none', '/secret/key/x', '/none', '/none/x', '/none/x/y'];
      const long = 'n'.repeat(300);
      for (const path of [...paths, `/secret/${long}`, `/none/${long}`]) {
        expect(await fs.exists(path)).toBe(false);
        expect(await fs.isFile(path)).toBe(false);
        for (const call of [
          () => fs.stat(path),
          () => fs.lstat(path),
          () => fs.access(path),
          () => fs.realpath(path),
          () => fs.readFile(path),
          () => fs.readdir(path),
          () => fs.readlink(path),
          () => fs.getEntry(path),
          () => fs.open(path),
          () => fs.open(path, 'a+'),
          () => fs.writeFile(path, ''),
          () => fs.mkdir(path),
          () => fs.mkdir(path, { recursive: true }),
          () => fs.mkdtemp(path),
          () => fs.rm(path),
          () => fs.rm(path, { recursive: true, force: true }),
          () => fs.rmdir(path),
          () => fs.unlink(path),
          () => fs.truncate(path),
          () => fs.chmod(path, 0o600),
          () => fs.utimes(path, 0, 0),
          () => fs.rename(path, '/work/x'),
          () => fs.rename('/work/notes.txt', path),
          () => fs.link(path, '/work/x'),
          () => fs.link('/work/notes.txt', path),
          () => fs.symlink('x', path),
          () => fs.copyFile(path, '/work/x'),
          () => fs.copyFile('/work/notes.txt', path),
          () => fs.cp(path, '/work/x', { recursive: true }),
          () => fs.cp('/work', path, { recursive: true }),
          () => fs.editFile(path, 'a', 'b'),
        ]) {
          expect([path, call.toString(), await refused(call)]).toEqual([path, call.toString(), true]);
        }
      }
    });

    it('checks links hop by hop', async () => {
      const { fs, lower } = make();
      await lower.symlink('/secret/key', '/work/to-key');
      await lower.symlink('/secret/none', '/work/to-none');
      await lower.symlink('../secret/deep/../../work/notes.txt', '/work/through');
      await lower.symlink('../secret/none/../../work/notes.txt', '/work/through-none');
      await lower.symlink('../src/a.ts', '/work/to-a');
      await lower.symlink('/work/notes.txt', '/secret/back');
      for (const path of ['to-key', 'to-none', 'through', 'through-none']) {
        expect([path, await refused(() => fs.readText(`/work/${path}`))]).toEqual([path, true]);
        expect(await fs.exists(`/work/${path}`)).toBe(false);
      }
      expect(await refused(() => fs.readText('/secret/back'))).toBe(true);
      expect(await fs.readText('/work/to-a')).toBe('const a = 1;');
      expect(await refused(() => fs.writeFile('/work/to-a', 'x'))).toBe(true);
      expect(await fs.readlink('/work/to-key')).toBe('/secret/key');
    });

    it('passes path, access and entry to the guard', async () => {
      const { fs, guard } = make();
      guard.asked.length = 0;
      await fs.readFile('work//notes.txt');
      expect(guard.asked[0]).toEqual({
        path: '/work/notes.txt',
        access: 'read',
        kind: 'file',
        size: 4,
        syscall: 'open',
        given: 'work//notes.txt',
      });
      guard.asked.length = 0;
      await fs.mkdir('/work/new');
      await fs.writeFile('/work/new/f', 'x');
      await fs.symlink('f', '/work/new/l');
      const asked = guard.asked.map(({ path, access, kind }) => `${access} ${kind} ${path}`);
      expect([...new Set(asked)]).toEqual([
        'write directory /work/new',
        'write file /work/new/f',
        'write symlink /work/new/l',
      ]);
    });

    it('enforces suffixes and sizes, for files only', async () => {
      const areas = [{ root: '/', read: true, write: true, suffixes: ['.ts'], maxFileBytes: 50 }];
      const { fs } = make(areas, { '/d/a.ts': 'a', '/d/large.ts': 'x'.repeat(51), '/d/b.bin': 'b' });
      expect(await fs.readdir('/d')).toEqual(['a.ts', 'large.ts']);
      expect(await refused(() => fs.readFile('/d/large.ts'))).toBe(true);
      expect(await refused(() => fs.entries('/d', { content: true }))).toBe(true);
      expect(await refused(() => fs.cp('/d/large.ts', '/d/c.ts'))).toBe(true);
      expect((await fs.stat('/d/large.ts')).size).toBe(51);
      await fs.mkdir('/d/folder');
      for (const call of [
        () => fs.writeFile('/d/c.txt', ''),
        () => fs.open('/d/c.txt', 'w'),
        () => fs.rename('/d/a.ts', '/d/a.txt'),
        () => fs.rename('/d/b.bin', '/d/b.ts'),
        () => fs.link('/d/a.ts', '/d/a.txt'),
        () => fs.copyFile('/d/a.ts', '/d/a.txt'),
        () => fs.cp('/d/a.ts', '/d/a.txt'),
        () => fs.cp('/d', '/copy', { recursive: true }),
        () => fs.rename('/d', '/renamed'),
        () => fs.rm('/d', { recursive: true }),
      ]) {
        expect([call.toString(), await refused(call)]).toEqual([call.toString(), true]);
      }
      await fs.rename('/d/folder', '/d/other');
    });

    onlyEngine('compares what may be seen, and prints what may be read', async () => {
      const areas = [{ root: '/', read: true, write: true, suffixes: ['.ts'], maxFileBytes: 50 }];
      const { fs, lower } = make(areas, { '/d/a.ts': 'a', '/d/large.ts': 'x'.repeat(51), '/d/b.bin': 'b' });
      await fs.checkpoint('before');
      for (const name of ['a.ts', 'large.ts', 'b.bin']) await lower.appendFile(`/d/${name}`, 'changed');
      expect((await diff(fs, 'before')).changed.map(({ path }) => path)).toEqual(['/d/a.ts', '/d/large.ts']);
      const text = await formatDiff(fs, 'before');
      expect(text).toContain('+achanged');
      expect(text).not.toContain('xxx');
    });

    it('needs the permission for every descendant, and changes nothing without it', async () => {
      const areas = [
        { root: '/work/locked', read: true, write: false },
        { root: '/work/blind', read: false, write: true },
        { root: '/work', read: true, write: true },
      ];
      const files = { '/work/d/locked': 'x', '/work/locked/f': 'x', '/work/blind/f': 'x', '/work/free/g': 'y' };
      const { fs, lower } = make(areas, files);
      const before = await dump(lower);
      expect(await refused(() => fs.rm('/work', { recursive: true }))).toBe(true);
      expect(await refused(() => fs.rename('/work/locked', '/work/free/l'))).toBe(true);
      expect(await refused(() => fs.cp('/work/blind', '/work/copy', { recursive: true }))).toBe(true);
      await fs.mkdir('/work/blind/sub').catch(() => {});
      expect(await refused(() => fs.cp('/work/d', '/work', { recursive: true }))).toBe(true);
      expect(await refused(() => fs.link('/work/locked/f', '/work/free/f'))).toBe(true);
      expect(await dump(lower)).toEqual(before);
      await fs.cp('/work/locked', '/work/free/copy', { recursive: true });
      await fs.rm('/work/free', { recursive: true });
      expect(await lower.exists('/work/free')).toBe(false);
    });

    it('allows writing in a write-only area, and nothing else', async () => {
      const { fs, lower } = make();
      await fs.writeFile('/out/new.txt', 'x');
      await fs.mkdir('/out/d');
      await fs.mkdir('/out/e/f', { recursive: true });
      await fs.appendFile('/out/old.txt', '!');
      expect(await lower.readText('/out/old.txt')).toBe('not to be read!');
      for (const call of [
        () => fs.readdir('/out'),
        () => fs.readFile('/out/new.txt'),
        () => fs.stat('/out/new.txt'),
        () => fs.editFile('/out/old.txt', 'not', 'x'),
        () => fs.open('/out/old.txt', 'r+'),
        () => fs.copyFile('/out/old.txt', '/work/x'),
      ]) {
        expect([call.toString(), await refused(call)]).toEqual([call.toString(), true]);
      }
    });

    it('checks open files, streams and transactions against a guard that became narrower', async () => {
      const { fs, guard } = make();
      const handle = await fs.open('/work/notes.txt', 'r+');
      const reader = fs.createReadStream('/work/notes.txt', { highWaterMark: 1 }).getReader();
      const writer = fs.createWriteStream('/work/new.txt').getWriter();
      await writer.write('x');
      expect((await reader.read()).value).toEqual(new TextEncoder().encode('m'));
      await fs.transaction(async (inside) => {
        await inside.writeFile('/work/notes.txt', 'more');
        guard.areas = [{ root: '/work', read: false, write: false }];
        expect(await refused(() => inside.writeFile('/work/notes.txt', 'x'))).toBe(true);
      });
      expect(await refused(() => handle.readFile())).toBe(true);
      expect(await refused(() => handle.write('x'))).toBe(true);
      expect(await refused(() => handle.stat())).toBe(true);
      expect(await refused(() => handle.truncate())).toBe(true);
      expect(await refused(() => reader.read())).toBe(true);
      expect(await refused(() => writer.write('y'))).toBe(true);
      await handle.close();
    });

    onlyEngine('follows an open file, and the guard with it', async () => {
      const { fs, lower } = make();
      const handle = await fs.open('/work/notes.txt');
      await lower.rename('/work/notes.txt', '/work/d/moved.txt');
      expect(new TextDecoder().decode(await handle.readFile())).toBe('mine');
      await lower.rename('/work/d/moved.txt', '/secret/moved.txt');
      expect(await refused(() => handle.read(new Uint8Array(1), 0))).toBe(true);
      await handle.close();
    });

    it('reports visible changes', async () => {
      const { fs, lower } = make();
      const changes = fs.watch('/', { recursive: true });
      await lower.writeFile('/secret/key', 'other');
      await lower.writeFile('/src/c.bin', 'other');
      await lower.writeFile('/src/c.ts', 'other');
      await lower.rename('/secret/key', '/work/key');
      await lower.rename('/work/key', '/secret/key');
      await lower.rename('/src/c.ts', '/src/c.bin');
      await lower.rm('/src/c.bin');
      await lower.rm('/work/d', { recursive: true });
      const seen: unknown[] = [];
      for (let i = 0; i < 5; i++) seen.push((await changes.next()).value);
      await changes.return?.();
      expect(seen).toEqual([
        { type: 'create', path: '/src/c.ts', hasContent: true },
        { type: 'create', path: '/work/key' },
        { type: 'remove', path: '/work/key' },
        { type: 'remove', path: '/src/c.ts' },
        { type: 'remove', path: '/work/d' },
      ]);
      expect(await refused(async () => fs.watch('/secret'))).toBe(true);
    });

    it('has forks that obey the same guard', async () => {
      const { fs, guard } = make();
      const fork = await fs.fork();
      expect(await fork.readdir('/')).toEqual(['out', 'src', 'work']);
      expect(await refused(() => fork.readFile('/secret/key'))).toBe(true);
      guard.areas = [];
      expect(await refused(() => fork.readFile('/work/notes.txt'))).toBe(true);
    });

    it('makes snapshots of readable files', async () => {
      const { fs } = make();
      const copy = sample();
      await restoreSnapshot(copy, await createSnapshot(fs));
      expect(copy.toJSON()).toEqual({
        '/out': null,
        '/src/a.ts': 'const a = 1;',
        '/work/d/e.txt': 'deep',
        '/work/notes.txt': 'mine',
      });
    });

    onlyEngine('restores what may be written, and leaves the rest', async () => {
      const areas = AREAS.map((area) => ({ ...area, maxFileBytes: 1000 }));
      const { fs, lower } = make(areas);
      await lower.symlink('notes.txt', '/work/link');
      await lower.link('/work/notes.txt', '/work/d/second');
      const snapshot = await createSnapshot(fs);
      const before = await dump(lower);
      const times = (await lower.stat('/work/notes.txt')).mtimeMs;
      await fs.writeFile('/work/notes.txt', 'changed');
      await fs.rm('/work/d', { recursive: true });
      await fs.mkdir('/work/new/dir', { recursive: true });
      await fs.rm('/work/link');
      await fs.writeFile('/work/link', 'a file now');
      await lower.writeFile('/secret/key', 'changed');
      await restoreSnapshot(fs, snapshot);
      expect(await dump(lower)).toEqual({ ...before, '/secret/key': 'changed' });
      expect(await fs.exists('/work/new')).toBe(false);
      expect(await fs.readlink('/work/link')).toBe('notes.txt');
      expect((await lower.stat('/work/notes.txt')).mtimeMs).toBe(times);
      expect((await lower.stat('/work/d/second')).nlink).toBe(2);
      expect(await createSnapshot(fs)).toEqual(snapshot);
    });

    onlyEngine('restores nothing where it would need more', async () => {
      const { fs, lower } = make();
      const full = await createSnapshot(lower);
      const own = await createSnapshot(fs);
      await fs.writeFile('/work/notes.txt', 'changed');
      const before = await dump(lower);
      expect(await refused(() => restoreSnapshot(fs, full))).toBe(true);
      await lower.writeFile('/src/a.ts', 'changed by its owner');
      before['/src/a.ts'] = 'changed by its owner';
      expect(await refused(() => restoreSnapshot(fs, own))).toBe(true);
      expect(await dump(lower)).toEqual(before);
    });

    onlyEngine('goes back where that is allowed, and leaves what is out of sight', async () => {
      const { fs, lower } = make();
      const before = await dump(lower);
      const snapshot = await createSnapshot(fs);
      const checkpoint = await fs.checkpoint('mine');
      await fs.writeFile('/work/notes.txt', 'changed');
      await fs.writeFile('/out/new', 'x');
      await fs.rename('/work/d', '/work/moved');
      await lower.writeFile('/secret/key', 'changed');
      await fs.rollback(checkpoint);
      expect(await dump(lower)).toEqual({ ...before, '/secret/key': 'changed' });
      expect(await createSnapshot(fs)).toEqual(snapshot);
      await lower.writeFile('/src/a.ts', 'changed by its owner');
      await fs.writeFile('/work/notes.txt', 'again');
      expect(await refused(() => fs.rollback('mine'))).toBe(true);
      expect(await fs.readText('/work/notes.txt')).toBe('again');
    });

    it('lists the checkpoints that were made through it', async () => {
      const { fs, lower } = make();
      const theirs = await lower.checkpoint('theirs');
      const mine = await fs.checkpoint('mine');
      await fs.writeFile('/work/notes.txt', 'changed');
      await lower.writeFile('/secret/key', 'changed');
      expect(await fs.checkpoints()).toEqual([mine]);
      for (const other of [theirs, theirs.id, 'theirs']) {
        expect(await codeOf(() => fs.rollback(other))).toBe(isForeign ? 'ENOTSUP' : 'ENOENT');
        expect(await codeOf(() => fs.drop(other))).toBe('ENOENT');
        expect(await codeOf(() => diff(fs, other))).toBe(isForeign ? 'ENOTSUP' : 'ENOENT');
        if (isForeign) await expect(diff(fs, other)).rejects.toThrow('put other layers above restrict');
      }
      if (!isForeign)
        expect(await diff(fs, 'mine')).toMatchObject({
          added: [],
          removed: [],
          changed: [{ path: '/work/notes.txt' }],
        });
      await fs.drop('mine');
      expect(await lower.checkpoints()).toEqual([theirs]);
    });

    it('says which limit is exceeded, not how much is in use', async () => {
      const base = openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0), {
        files: FILES,
        limits: { maxTotalSize: 1000, maxNodeCount: 20, maxCheckpoints: 0 },
      });
      const fs = restrict(open(base), new SampleGuard(AREAS));
      const errors: unknown[] = [];
      for (const call of [
        () => fs.writeFile('/work/x', 'x'.repeat(1000)),
        () =>
          fs
            .copyFile('/work/notes.txt', '/work/x')
            .then(() => fs.mkdir('/work/a/b/c/d/e/f/g/h/i', { recursive: true })),
        () => fs.checkpoint(),
      ]) {
        await Promise.resolve(call()).catch((error: unknown) => errors.push(error));
      }
      for (const error of errors) {
        expect(isFsError(error, 'ENOSPC')).toBe(true);
        expect(error).not.toHaveProperty('used');
        expect(error).not.toHaveProperty('requested');
        expect(String((error as Error).cause ?? '')).toBe('');
      }
      expect(errors.map((error) => (error as { limit: string }).limit)).toEqual([
        'maxTotalSize',
        'maxNodeCount',
        ...(errors.length > 2 ? ['maxCheckpoints'] : []),
      ]);
    });

    it('lets a view function see readable entries, and write nothing', async () => {
      const { fs, lower } = make();
      const before = await dump(lower);
      const seen = await fs.run((view) => view.list(view.tree.rootLocation).names(), []);
      expect(seen).toEqual(['out', 'src', 'work']);
      expect(await refused(() => fs.run((view) => view.find('/secret/key', true, 'read', 'x'), []))).toBe(true);
      expect(await refused(() => fs.run((view) => view.find('/secret', true, 'read', 'x'), []))).toBe(true);
      const write = () =>
        fs.run((view) => {
          view.find('/work/notes.txt', false, 'write', 'x');
          view.remove(view.at.parent, view.at.name);
        }, []);
      expect(await codeOf(write)).toBe('ENOTSUP');
      await fs.run((view) => view.tree.root.entries.delete(view.tree.owner, 'work'), []);
      expect(await dump(lower)).toEqual(before);
    });

    it('stacks: only what all guards allow is allowed', async () => {
      const { fs, lower } = make();
      const narrow = restrict(fs, new SampleGuard([{ root: '/', read: true, write: true, suffixes: ['.txt'] }]));
      expect((await all(narrow.walk())).map(({ path }) => path)).toEqual([
        '/out',
        '/src',
        '/work',
        '/work/d',
        '/work/d/e.txt',
        '/work/notes.txt',
      ]);
      expect(await refused(() => narrow.writeFile('/work/x.ts', ''))).toBe(true);
      expect(await refused(() => narrow.writeFile('/src/x.txt', ''))).toBe(true);
      await narrow.writeFile('/work/x.txt', '');
      expect(await codeOf(() => readonly(narrow).writeFile('/work/x.txt', ''))).toBe('EROFS');
      expect(await lower.exists('/work/x.txt')).toBe(true);
      if (isForeign) return;
      const mine = await narrow.checkpoint('mine');
      await narrow.writeFile('/work/x.txt', 'changed');
      await narrow.rollback(mine);
      expect(await narrow.readText('/work/x.txt')).toBe('');
    });

    it('is closed with the lower filesystem, and does not close it', async () => {
      const { fs, lower } = make();
      await restrict(lower, new SampleGuard(AREAS)).close();
      expect(await fs.readText('/work/notes.txt')).toBe('mine');
      await lower.close();
      expect(await codeOf(() => fs.readText('/work/notes.txt'))).toBe('EBADF');
    });
  });
}

describe('restrict', () => {
  it('over a remote storage restores snapshots and rolls back, as far as the guard allows', async () => {
    const far = await openFileSystem(asyncForm(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0)), {
      files: FILES,
    });
    const fs = restrict(far, new SampleGuard(AREAS.map((area) => ({ ...area, maxFileBytes: 1000 }))));
    const checkpoint = await fs.checkpoint();
    const snapshot = await createSnapshot(fs);
    await fs.writeFile('/work/notes.txt', 'changed');
    await restoreSnapshot(fs, snapshot);
    expect(await far.readText('/work/notes.txt')).toBe('mine');
    expect(await far.readText('/secret/key')).toBe('hidden');
    await fs.writeFile('/work/notes.txt', 'changed');
    await fs.rm('/work/d', { recursive: true });
    await fs.mkdir('/work/new');
    await far.writeFile('/secret/key', 'theirs');
    await fs.rollback(checkpoint);
    expect(await far.readText('/work/notes.txt')).toBe('mine');
    expect(await far.readdir('/work')).toEqual(['d', 'notes.txt']);
    expect(await far.readText('/work/d/e.txt')).toBe(FILES['/work/d/e.txt']);
    expect(await far.readText('/secret/key')).toBe('theirs');
    await far.writeFile('/src/a.ts', 'theirs');
    await fs.writeFile('/work/notes.txt', 'changed');
    await expect(fs.rollback(checkpoint)).rejects.toThrow(Refused);
    expect(await far.readText('/work/notes.txt')).toBe('changed');
  });

  it('enforces the guard in every form of call', () => {
    const fs = restrict(sample(FILES), new SampleGuard(AREAS));
    expect(fs.readdirSync('/src')).toEqual(['a.ts', 'large.ts']);
    expect(() => fs.readFileSync('/secret/key')).toThrow(Refused);
    expect(() => fs.transactionSync((inside) => inside.writeFileSync('/src/a.ts', 'x'))).toThrow(Refused);
    expect(fs.statsSync().fileCount).toBe(4);
    const checkpoint = fs.checkpointSync();
    fs.writeFileSync('/work/notes.txt', 'changed');
    fs.rollbackSync(checkpoint);
    expect(fs.readTextSync('/work/notes.txt')).toBe('mine');
    expect(fs.forkSync().existsSync('/secret')).toBe(false);
    expect(Object.keys(fs.toJSON())).toEqual(['/out', '/src/a.ts', '/work/d/e.txt', '/work/notes.txt']);
  });

  it('refuses an invalid guard or filesystem', () => {
    expect(() => restrict(sample(), {} as never)).toThrow(TypeError);
    expect(() => restrict({} as never, new SampleGuard([]))).toThrow(TypeError);
  });
});

describe('a guard that reads the guarded filesystem in check()', () => {
  const doAll = (fs: SyncFileSystem): void => {
    fs.writeFileSync('/work/notes.txt', 'new');
    fs.writeFileSync('/work/made', 'made');
    fs.mkdirSync('/work/a/b', { recursive: true });
    fs.cpSync('/src', '/work/copy', { recursive: true });
    fs.copyFileSync('/work/made', '/work/a/copied');
    fs.renameSync('/work/d', '/work/a/moved');
    fs.symlinkSync('../made', '/work/a/link');
    fs.linkSync('/work/made', '/work/a/hard');
    fs.appendFileSync('/work/a/link', '!');
    fs.editFileSync('/work/a/copied', 'made', 'edited');
    fs.truncateSync('/work/a/hard', 2);
    fs.chmodSync('/work/a', 0o700);
    const file = fs.openSync('/work/a/file', 'w+');
    file.writeSync('by a handle');
    file.closeSync();
    fs.rmSync('/out/old.txt');
    fs.rmSync('/work/copy', { recursive: true });
    fs.transactionSync((inner) => inner.writeFileSync('/work/last', 'inside'));
  };

  async function eventsUntil(watcher: AsyncIterable<WatchEvent>, last: string): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for await (const event of watcher) {
      events.push(event);
      if (event.path === last) break;
    }
    return events;
  }

  it('does not disturb its operations, and is asked about all of them', async () => {
    const plain = sample(FILES);
    const plainWatcher = plain.watch('/', { recursive: true });
    doAll(plain);
    const fs = sample(FILES);
    let looks = 0;
    const look = (): void => {
      if (looks < 0) return;
      const before = looks;
      looks = -1;
      guarded.existsSync('/src/a.ts');
      guarded.readTextSync('/secret/key');
      guarded.readdirSync('/secret');
      looks = before + 1;
    };
    const guarded: SyncFileSystem = restrict(fs, {
      check: look,
      isVisible: () => {
        look();
        return true;
      },
      coversTree: () => {
        look();
        return false;
      },
    });
    const watcher = guarded.watch('/', { recursive: true });
    doAll(guarded);
    expect(looks).toBeGreaterThan(100);
    expect(fs.toJSON()).toEqual(plain.toJSON());
    const heard = await eventsUntil(plainWatcher, '/work/last');
    expect(heard.length).toBeGreaterThan(15);
    expect(await eventsUntil(watcher, '/work/last')).toEqual(heard);
  });
});

it('writes the bytes that a handle was given, even if they change right after the call', async () => {
  const fs = restrict(mount(promises(sample({})), {}), new SampleGuard([{ root: '/', read: true, write: true }]));
  const handle = await fs.open('/a', 'w');
  const bytes = new Uint8Array([1]);
  const written = handle.write(bytes);
  bytes[0] = 2;
  await written;
  await handle.close();
  expect(await fs.readFile('/a')).toEqual(new Uint8Array([1]));
});
