import { describe, expect, it } from 'vitest';
import { openFileSystem } from '../create-file-system.js';
import { diff, formatDiff } from '../diff.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { FsError, StorageError } from '../errors.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { Checkpoint, FileSystem, SyncFileSystem, WatchEvent } from '../file-system.js';
import { codeOf, promises, sample } from '../testing/sample-file-system.js';
import { mount } from './mount.js';
import { overlay } from './overlay.js';
import { readonly } from './readonly.js';

function parts() {
  const root = sample({ '/home/notes': 'mine', '/mnt/other': 'beside' });
  const a = sample({ '/f': 'in a', '/d/x': 'deep' });
  const b = sample({ '/f': 'in b' });
  return { root, a, b };
}

/** Returns the filesystem with a method that fails in both forms after some successful calls. */
function failing(fileSystem: SyncFileSystem, method: string, error: Error, successes = 0): SyncFileSystem {
  let left = successes;
  return new Proxy(fileSystem, {
    get(target, key) {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== 'function') return value;
      if (key !== method && key !== `${method}Sync`) return value.bind(target) as unknown;
      return (...args: readonly unknown[]): unknown => {
        if (left-- <= 0) throw error;
        return Reflect.apply(value, target, args);
      };
    },
  });
}

const forms: Readonly<Record<string, (fileSystem: FileSystem) => FileSystem>> = {
  synchronous: (fileSystem) => fileSystem,
  'of promises': promises,
};

for (const [form, wrap] of Object.entries(forms)) {
  const mounted = (points: readonly [string, string] = ['/mnt/a', '/far/away/b']) => {
    const { root, a, b } = parts();
    return { root, a, b, fs: mount(wrap(root), { [points[0]]: wrap(a), [points[1]]: wrap(b) }) };
  };

  describe(`mount, ${form}`, () => {
    it('lists mount points and the directories that lead to them', async () => {
      const { fs } = mounted();
      expect(await fs.readdir('/')).toEqual(['far', 'home', 'mnt']);
      expect(await fs.readdir('/far')).toEqual(['away']);
      expect(await fs.readdir('/mnt')).toEqual(['a', 'other']);
      const [first] = await fs.readdir('/mnt/', { withFileTypes: true });
      expect(first).toMatchObject({ name: 'a', parentPath: '/mnt/', kind: 'directory' });
      const [inside] = await fs.readdir('/mnt/a', { withFileTypes: true });
      expect(inside).toMatchObject({ name: 'd', parentPath: '/mnt/a', kind: 'directory' });
      expect((await fs.entries('/mnt')).map(({ path }) => path)).toEqual(['/mnt/a', '/mnt/other']);
      expect((await fs.entries('/mnt/a', { content: true })).map(({ path }) => path)).toEqual(['/mnt/a/d', '/mnt/a/f']);
      expect((await fs.stat('/far/away')).isDirectory()).toBe(true);
    });

    it('hides the entries under a mount point', async () => {
      const { fs, root } = mounted(['/home', '/b']);
      expect(await fs.readdir('/home')).toEqual(['d', 'f']);
      expect(await codeOf(() => fs.readText('/home/notes'))).toBe('ENOENT');
      await fs.writeFile('/home/notes', 'new');
      expect(root.readTextSync('/home/notes')).toBe('mine');
    });

    it('walks all filesystems, and runs a view function over all of them as one tree', async () => {
      const { fs } = mounted();
      const paths: string[] = [];
      for await (const { path } of fs.walk('/')) paths.push(path);
      expect(paths).toEqual([
        '/far',
        '/far/away',
        '/far/away/b',
        '/far/away/b/f',
        '/home',
        '/home/notes',
        '/mnt',
        '/mnt/a',
        '/mnt/a/d',
        '/mnt/a/d/x',
        '/mnt/a/f',
        '/mnt/other',
      ]);
      expect(await fs.run((view) => view.find('/mnt/a/d/x', true, 'read', 'test')?.kind, [])).toBe(0);
      const write = () =>
        fs.run((view) => {
          view.find('/mnt/a/f', false, 'remove', 'test');
          view.remove(view.at.parent, view.at.name);
        }, []);
      expect(await codeOf(write)).toBe('ENOTSUP');
      expect(await fs.exists('/mnt/a/f')).toBe(true);
    });

    it('follows links from one filesystem into another, hop by hop', async () => {
      const { fs, a } = mounted();
      a.symlinkSync('/home', '/d/out');
      a.symlinkSync('../../../home/notes', '/d/up');
      a.symlinkSync('/mnt/a/d/loop', '/d/loop');
      expect(await fs.readText('/mnt/a/d/out/notes')).toBe('mine');
      expect(await fs.readText('/mnt/a/d/up')).toBe('mine');
      expect(await fs.realpath('/mnt/a/d/out')).toBe('/home');
      expect(await codeOf(() => fs.readText('/mnt/a/d/loop'))).toBe('ELOOP');
      await fs.writeFile('/mnt/a/d/out/new', 'x');
      expect(await fs.readText('/home/new')).toBe('x');
    });

    it('creates the directories on the path to a mount point when something is written into one', async () => {
      const { fs, root } = mounted();
      expect(root.existsSync('/far')).toBe(false);
      await fs.writeFile('/far/away/file', 'x');
      expect(root.readTextSync('/far/away/file')).toBe('x');
      expect(await fs.readdir('/far/away')).toEqual(['b', 'file']);
      expect(await codeOf(() => fs.mkdir('/far'))).toBe('EEXIST');
    });

    it("does not follow a link of the mounted filesystem's parent on the way to a mount point", async () => {
      const root = sample({ '/secret/a/f': 'hidden', '/secret/g': 'hidden' });
      root.symlinkSync('/secret', '/mnt');
      const fs = mount(wrap(root), { '/mnt/a': wrap(sample({ '/f': 'seen' })) });
      expect(await fs.readText('/mnt/a/f')).toBe('seen');
      expect(await codeOf(() => fs.readText('/mnt/g'))).toBe('ENOENT');
      expect(await codeOf(() => fs.writeFile('/mnt/g', 'x'))).toBe('ENOTDIR');
      expect(root.readTextSync('/secret/g')).toBe('hidden');
    });

    it('creates nothing in a read-only filesystem, and names the given path in the error', async () => {
      const fs = mount(wrap(readonly(sample())), { '/far/a': wrap(sample()) });
      await expect(fs.writeFile('/far/new', 'x')).rejects.toMatchObject({ code: 'EROFS', path: '/far/new' });
      await fs.writeFile('/far/a/new', 'x');
      expect(await fs.readdir('/far')).toEqual(['a']);
    });

    it('refuses to rename and link across filesystems, and to remove a mount point', async () => {
      const { fs } = mounted();
      expect(await codeOf(() => fs.rename('/mnt/a/f', '/f'))).toBe('EXDEV');
      expect(await codeOf(() => fs.link('/mnt/a/f', '/far/away/b/g'))).toBe('EXDEV');
      for (const path of ['/mnt', '/mnt/a', '/far', '/far/away']) {
        expect(await codeOf(() => fs.rm(path, { recursive: true })), path).toBe('EBUSY');
        expect(await codeOf(() => fs.rename(path, '/moved')), path).toBe('EBUSY');
      }
      expect(await codeOf(() => fs.rmdir('/mnt/a'))).toBe('EBUSY');
      expect(await codeOf(() => fs.rmdir('/far'))).toBe('ENOTEMPTY');
      expect(await codeOf(() => fs.unlink('/far'))).toBe('EISDIR');
    });

    it('copies across filesystems: contents, links and times', async () => {
      const { fs, a, root } = mounted();
      a.symlinkSync('x', '/d/l');
      a.utimesSync('/d/x', 5, 6);
      await fs.cp('/mnt', '/copy', { recursive: true, preserveTimestamps: true });
      expect(root.toJSON()).toMatchObject({
        '/copy/a/d/x': 'deep',
        '/copy/a/d/l': { symlink: 'x' },
        '/copy/a/f': 'in a',
        '/copy/other': 'beside',
      });
      expect((await fs.stat('/copy/a/d/x')).mtimeMs).toBe(6000);
      await fs.copyFile('/mnt/a/f', '/far/away/b/f');
      expect(await fs.readText('/far/away/b/f')).toBe('in a');
      expect(await codeOf(() => fs.copyFile('/mnt/a/f', '/far/away/b/f', { exclusive: true }))).toBe('EEXIST');
      expect(await codeOf(() => fs.cp('/mnt', '/mnt/a/d', { recursive: true }))).toBe('EINVAL');
    });

    it('reports paths as the caller gave them', async () => {
      const { fs } = mounted();
      await expect(fs.readFile('/mnt/a/../a/missing')).rejects.toMatchObject({ path: '/mnt/a/../a/missing' });
      await expect(fs.readFile('/mnt/a/missing')).rejects.toThrow(
        "ENOENT: no such file or directory, open '/mnt/a/missing'",
      );
      await expect(fs.rename('/mnt/a/missing', '/mnt/a/x')).rejects.toMatchObject({
        path: '/mnt/a/missing',
        dest: '/mnt/a/x',
      });
      await fs.symlink('/nowhere/at/all', '/mnt/a/lost');
      await expect(fs.rename('/mnt/a/lost/x', '/mnt/a/lost/x/y')).rejects.toMatchObject({
        path: '/mnt/a/lost/x',
        dest: '/mnt/a/lost/x/y',
      });
      const handle = await fs.open('/mnt/a/f');
      expect(handle.path).toBe('/mnt/a/f');
      await expect(handle.write('x')).rejects.toMatchObject({ path: '/mnt/a/f' });
      await handle.close();
      expect(await fs.mkdtemp('/mnt/a')).toMatch(/^\/mnt\/a\w{6}$/);
      expect(await fs.mkdtemp('/mnt/a/')).toMatch(/^\/mnt\/a\/\w{6}$/);
    });

    it('distinguishes files of two filesystems with equal inode numbers', async () => {
      const { fs } = mounted();
      const of = async (path: string): Promise<string> => {
        const { dev, ino } = await fs.stat(path);
        return `${dev}:${ino}`;
      };
      const all = await Promise.all(['/home/notes', '/mnt/a/f', '/far/away/b/f', '/far'].map(of));
      expect(new Set(all).size).toBe(4);
    });

    it('rolls back and forks all filesystems, and counts each one once', async () => {
      const { root, a, fs } = mounted();
      expect((await fs.stats()).fileCount).toBe(5);
      expect((await mount(wrap(root), { '/x': wrap(a), '/y': wrap(a) }).stats()).fileCount).toBeGreaterThan(3);
      const checkpoint = await fs.checkpoint('before');
      const fork = await fs.fork();
      await fs.writeFile('/mnt/a/f', 'changed');
      await fs.unlink('/home/notes');
      expect(await fork.readText('/mnt/a/f')).toBe('in a');
      await fs.rollback('before');
      expect(await fs.readText('/mnt/a/f')).toBe('in a');
      expect(await fs.readText('/home/notes')).toBe('mine');
      expect(await codeOf(() => fs.checkpoint('before'))).toBe('EEXIST');
      await fs.drop(checkpoint);
      expect([root.checkpointsSync(), a.checkpointsSync()]).toEqual([[], []]);
      expect(await codeOf(() => fs.rollback(checkpoint))).toBe('ENOENT');
    });

    it('rolls back nothing if one filesystem has lost its checkpoint', async () => {
      const { a, fs } = mounted();
      await fs.checkpoint('before');
      await fs.unlink('/home/notes');
      for (const part of a.checkpointsSync()) a.dropSync(part);
      expect(await codeOf(() => fs.rollback('before'))).toBe('ENOENT');
      expect(await fs.exists('/home/notes')).toBe(false);
    });

    it('rolls back nothing, and keeps the work, if one filesystem cannot roll back', async () => {
      for (const error of [new FsError('ENOSPC'), new Error('maybe done')]) {
        const { root, a, b } = parts();
        const all = [root, a, b];
        const fs = mount(wrap(root), { '/a': wrap(a), '/b': wrap(failing(b, 'rollback', error)) });
        await fs.checkpoint('before');
        for (const part of all) part.writeFileSync('/work', 'new');
        await expect(fs.rollback('before')).rejects.toThrow(error.message);
        expect(all.map((part) => part.readTextSync('/work'))).toEqual(['new', 'new', 'new']);
        expect(all.map((part) => part.checkpointsSync().length)).toEqual([1, 1, error instanceof FsError ? 1 : 2]);
      }
    });

    it('leaves a checkpoint of the work in a filesystem that cannot return to it', async () => {
      const { root, a, b } = parts();
      const once = failing(root, 'rollback', new Error('cannot return'), 1);
      const fs = mount(wrap(once), { '/a': wrap(a), '/b': wrap(failing(b, 'rollback', new FsError('ENOSPC'))) });
      await fs.checkpoint('before');
      for (const part of [root, a, b]) part.writeFileSync('/work', 'new');
      expect(await codeOf(() => fs.rollback('before'))).toBe('ENOSPC');
      expect([root, a, b].map((part) => part.existsSync('/work'))).toEqual([false, true, true]);
      expect([root, a, b].map((part) => part.checkpointsSync().length)).toEqual([2, 1, 1]);
      root.rollbackSync(root.checkpointsSync()[1] as Checkpoint);
      expect(root.readTextSync('/work')).toBe('new');
    });

    it('reports the error of a failed checkpoint, not of dropping the others', async () => {
      const { root, a, b } = parts();
      const fs = mount(wrap(failing(root, 'drop', new Error('cannot drop'))), {
        '/a': wrap(a),
        '/b': wrap(failing(b, 'checkpoint', new Error('cannot keep'))),
      });
      await expect((async () => fs.checkpoint())()).rejects.toThrow('cannot keep');
      expect(a.checkpointsSync()).toEqual([]);
    });

    it('drops its checkpoint in every filesystem, although one fails, and drops that one at the next call', async () => {
      const { root, a, b } = parts();
      const refused = new FsError('EBUSY', { syscall: 'drop' });
      let left = 1;
      const once = new Proxy(root, {
        get(target, key) {
          const value = Reflect.get(target, key, target) as unknown;
          if (typeof value !== 'function') return value;
          if (key !== 'drop' && key !== 'dropSync') return value.bind(target) as unknown;
          return (...args: readonly unknown[]): unknown => {
            if (left-- > 0) throw refused;
            return Reflect.apply(value, target, args);
          };
        },
      });
      const fs = mount(wrap(once), { '/mnt/a': wrap(a), '/b': wrap(b) });
      const checkpoint = await fs.checkpoint('before');
      await expect(fs.drop(checkpoint)).rejects.toMatchObject({ code: 'EBUSY' });
      const held = () => [root, a, b].map((each) => each.checkpointsSync().length);
      expect(held()).toEqual([1, 0, 0]);
      await expect(fs.rollback('before')).rejects.toMatchObject({ code: 'ENOENT' });
      await fs.drop('before');
      expect([held(), await fs.checkpoints()]).toEqual([[0, 0, 0], []]);
    });

    it('closes the forks that it has if another filesystem cannot fork', async () => {
      const { root, a, b } = parts();
      const closed: string[] = [];
      const withMethods = (fileSystem: SyncFileSystem, methods: Record<string, () => unknown>): SyncFileSystem =>
        new Proxy(fileSystem, {
          get(target, key) {
            const value = methods[String(key)] ?? (Reflect.get(target, key, target) as unknown);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
      const forking = (fileSystem: SyncFileSystem, name: string): SyncFileSystem => {
        const close = async (): Promise<never> => {
          closed.push(name);
          throw new Error(`${name} cannot be closed`);
        };
        const forkSync = () => withMethods(fileSystem.forkSync(), { close });
        return withMethods(fileSystem, { forkSync, fork: async () => forkSync() });
      };
      const refused = new FsError('EBUSY', { syscall: 'fork' });
      const sync = mount(forking(root, 'root'), { '/a': forking(a, 'a'), '/b': failing(b, 'fork', refused) });
      await expect(sync.fork()).rejects.toBe(refused);
      expect(closed.splice(0)).toEqual(['root', 'a']);
      expect(() => sync.forkSync()).toThrow(refused);
      expect(closed.splice(0)).toEqual(['root', 'a']);
      const fork = await mount(forking(root, 'root'), { '/a': forking(a, 'a') }).fork();
      await expect(fork.close()).rejects.toThrow('root cannot be closed');
      expect(closed).toEqual(['root', 'a']);
    });

    it('keeps no checkpoint if a writable filesystem cannot', async () => {
      const { root, a } = parts();
      const without = new Proxy(a, {
        get: (target, key) =>
          key === 'capabilities' ? { ...target.capabilities, checkpoints: false } : Reflect.get(target, key, target),
      });
      const fs = mount(wrap(root), { '/a': wrap(without) });
      expect(fs.capabilities.checkpoints).toBe(false);
      expect(await codeOf(() => fs.checkpoint())).toBe('ENOTSUP');
      expect(root.checkpointsSync()).toEqual([]);
      expect(await codeOf(() => fs.transaction(async () => {}))).toBe('ENOTSUP');
    });

    it('has checkpoints, transactions and diff beside a read-only filesystem', async () => {
      const { root, a } = parts();
      const fs = mount(wrap(overlay(root)), { '/lib': wrap(readonly(a)) });
      const before = await fs.checkpoint('before');
      await fs.transaction(async (tx) => {
        await tx.writeFile('/new', await tx.readText('/lib/f'));
        await tx.unlink('/home/notes');
      });
      expect(await codeOf(() => fs.writeFile('/lib/f', 'x'))).toBe('EROFS');
      const changes = await diff(fs, before);
      expect([changes.added, changes.removed].map((list) => list.map(({ path }) => path))).toEqual([
        ['/new'],
        ['/home/notes'],
      ]);
      expect(await formatDiff(fs, 'before')).toContain('+in a');
      await expect(
        fs.transaction(async (tx) => {
          await tx.rm('/new');
          throw new Error('undo');
        }),
      ).rejects.toThrow('undo');
      expect(await fs.exists('/new')).toBe(true);
      await fs.rollback('before');
      expect([await fs.exists('/new'), await fs.readText('/home/notes')]).toEqual([false, 'mine']);
      expect(root.readTextSync('/home/notes')).toBe('mine');
    });

    it('has the limits of the only filesystem that can be changed', () => {
      const { root, a } = parts();
      const limited = overlay(root, { limits: { maxTotalSize: 1000 } });
      expect(mount(wrap(limited), { '/lib': wrap(readonly(a)) }).limits).toEqual({ maxTotalSize: 1000 });
      expect(mount(wrap(readonly(a)), { '/work': wrap(limited) }).limits).toEqual({ maxTotalSize: 1000 });
      expect(mount(wrap(limited), { '/a': wrap(a) }).limits).toEqual({});
    });

    it('runs a transaction that only reads if no filesystem can be changed', async () => {
      const { root, a } = parts();
      const fs = mount(wrap(readonly(root)), { '/a': wrap(readonly(a)) });
      expect(fs.capabilities).toMatchObject({ transactions: true, writes: false });
      expect(await fs.transaction((tx) => tx.readText('/a/f'))).toBe('in a');
      expect(await codeOf(() => fs.transaction((tx) => tx.writeFile('/a/f', 'x')))).toBe('EROFS');
    });

    it('runs a transaction in a filesystem that is mounted twice', async () => {
      const both = wrap(sample());
      const fs = mount(both, { '/again': both });
      expect(fs.capabilities).toMatchObject({ transactions: true, diff: false });
      await fs.transaction(async (tx) => {
        await tx.writeFile('/f', 'x');
        await tx.writeFile('/again/f', `${await tx.readText('/again/f')}y`);
      });
      expect(await fs.readText('/f')).toBe('xy');
      await expect(diff(fs, await fs.checkpoint())).rejects.toThrow('mounted once');
    });

    it('compares its own checkpoints if nothing is mounted', async () => {
      const fs = mount(wrap(sample({ '/f': 'x' })), {});
      const before = await fs.checkpoint('before');
      await fs.writeFile('/f', 'longer');
      for (const which of [before, before.id, 'before']) {
        const sizes = await fs.compare(which, undefined, (...views) => ({
          next: () => views.shift()?.find('/f', false, 'read', 'test')?.size,
        }));
        expect(sizes).toEqual([1, 6]);
      }
    });

    it('compares the only writable filesystem under its mount point', async () => {
      const { root, a, b } = parts();
      const fs = mount(wrap(readonly(root)), { '/mnt/work': wrap(a), '/mnt/work/d': wrap(readonly(b)) });
      const before = await fs.checkpoint();
      a.writeFileSync('/f', 'other');
      a.writeFileSync('/d/hidden', 'x');
      expect((await diff(fs, before)).changed.map(({ path }) => path)).toEqual(['/mnt/work/f']);
      expect((await diff(fs, before)).added).toEqual([]);
    });

    it('reports changes in every filesystem, except hidden ones', async () => {
      const { fs, root, a } = mounted(['/home', '/b']);
      const events: WatchEvent[] = [];
      const watcher = fs.watch('/', { recursive: true });
      a.writeFileSync('/f', 'x');
      root.writeFileSync('/home/notes', 'hidden');
      root.writeFileSync('/new', 'x');
      for await (const event of watcher) {
        events.push(event);
        if (events.length === 2) break;
      }
      expect(events.map(({ path }) => path).sort()).toEqual(['/home/f', '/new']);
    });

    it('closes without closing its filesystems', async () => {
      const { fs, a } = mounted();
      await fs.close();
      expect(await codeOf(() => fs.readText('/mnt/a/f'))).toBe('EBADF');
      expect(a.readTextSync('/f')).toBe('in a');
    });
  });
}

describe('mount', () => {
  it('needs synchronous transactions only of filesystems that can be changed', () => {
    const { root, a } = parts();
    const fs = mount(root, { '/lib': failing(readonly(a), 'transaction', new Error('no transactions')) });
    fs.transactionSync((inside) => inside.writeFileSync('/copy', inside.readTextSync('/lib/f')));
    expect(root.readTextSync('/copy')).toBe('in a');
    expect(mount(readonly(root), { '/lib': readonly(a) }).transactionSync((tx) => tx.readTextSync('/lib/f'))).toBe(
      'in a',
    );
  });

  it('rolls back synchronously in all filesystems or none', async () => {
    const { root, a } = parts();
    const fs = mount(root, { '/a': failing(a, 'rollback', new FsError('ENOSPC')) });
    fs.checkpointSync('before');
    fs.writeFileSync('/home/notes', 'new');
    expect(await codeOf(() => fs.rollbackSync('before'))).toBe('ENOSPC');
    expect(root.readTextSync('/home/notes')).toBe('new');
    expect(root.checkpointsSync().length).toBe(1);
  });

  it('returns to the work even if the caller aborts the rollback', async () => {
    const { root, a } = parts();
    const abort = new AbortController();
    const stopping = failing(a, 'rollback', new Error('stopped'));
    const fs = mount(promises(root), {
      '/a': new Proxy(promises(stopping), {
        get: (target, key) => {
          if (key === 'rollback') abort.abort(new Error('stopped'));
          return Reflect.get(target, key, target) as unknown;
        },
      }),
    });
    await fs.checkpoint('before');
    root.writeFileSync('/home/notes', 'new');
    await expect(fs.rollback('before', { signal: abort.signal })).rejects.toThrow('stopped');
    expect(root.readTextSync('/home/notes')).toBe('new');
  });

  it('commits a synchronous transaction in all filesystems', async () => {
    const { root, a } = parts();
    const fs = mount(root, { '/a': a });
    fs.transactionSync((inside) => {
      inside.writeFileSync('/home/notes', 'both');
      inside.writeFileSync('/a/f', 'both');
    });
    expect([root.readTextSync('/home/notes'), a.readTextSync('/f')]).toEqual(['both', 'both']);
    const failing = () =>
      fs.transactionSync((inside) => {
        inside.writeFileSync('/home/notes', 'lost');
        inside.writeFileSync('/a/f', 'lost');
        inside.mkdirSync('/a');
      });
    expect(await codeOf(failing)).toBe('EEXIST');
    expect([root.readTextSync('/home/notes'), a.readTextSync('/f')]).toEqual(['both', 'both']);
  });

  it('commits a synchronous transaction in no filesystem if one has another transaction open', async () => {
    const { root, a, b } = parts();
    const fs = mount(root, { '/a': a, '/b': mount(b, {}) });
    const paths = ['/home/notes', '/a/f', '/b/f'];
    const before = paths.map((path) => fs.readTextSync(path));
    for (const busy of [root, a, b]) {
      const work = (inside: SyncFileSystem): void => {
        for (const path of paths) inside.writeFileSync(path, 'part');
      };
      expect(await codeOf(() => busy.transactionSync(() => fs.transactionSync(work)))).toBe('EBUSY');
      expect(paths.map((path) => fs.readTextSync(path))).toEqual(before);
    }
  });

  it('commits a synchronous transaction in all filesystems even if a storage is closed during it', () => {
    const executor = MemoryExecutor.create(rootMeta(0));
    const storage = new ExecutorSyncStorage(executor, () => 0);
    const a = sample();
    const fs = mount(openFileSystem(storage), { '/a': a });
    fs.transactionSync((inside) => {
      inside.writeFileSync('/f', 'both');
      inside.writeFileSync('/a/f', 'both');
      storage.close();
    });
    expect([executor.tree.totals().files, a.readTextSync('/f')]).toEqual([1, 'both']);
    expect(() => fs.readTextSync('/f')).toThrow(StorageError);
  });

  it('rejects with the error of the first failed watch, even if another one cannot be ended', async () => {
    const { root, a } = parts();
    const failing = (part: Partial<AsyncIterator<WatchEvent>>): FileSystem => {
      const iterator = { next: () => new Promise<never>(() => {}), ...part, [Symbol.asyncIterator]: () => iterator };
      return Object.assign(Object.create(promises(a)) as FileSystem, { watch: () => iterator });
    };
    const broken = failing({ next: () => Promise.reject(new Error('broken')) });
    const stuck = failing({ return: () => Promise.reject(new Error('stuck')) });
    const watcher = mount(root, { '/a': broken, '/b': stuck }).watch('/', { recursive: true });
    await expect(watcher.next()).rejects.toThrow('broken');
  });

  it('works inside a mount and under an overlay', async () => {
    const { root, a, b } = parts();
    const fs = mount(root, { '/x': mount(a, { '/y': b }) });
    expect(fs.readTextSync('/x/y/f')).toBe('in b');
    expect(new Set(['/x/y/f', '/x/f', '/home/notes'].map((path) => fs.statSync(path).dev)).size).toBe(3);
    const over = overlay(fs);
    over.renameSync('/x/y/f', '/f');
    over.rmSync('/x', { recursive: true });
    expect(over.readdirSync('/')).toEqual(['f', 'home', 'mnt']);
    expect(fs.readTextSync('/x/y/f')).toBe('in b');
  });

  it('takes several mount points, one inside another', () => {
    const { root, a, b } = parts();
    const fs = mount(root, { '/x': a, '/x/y': b });
    expect(fs.readdirSync('/x')).toEqual(['d', 'f', 'y']);
    expect(fs.readTextSync('/x/y/f')).toBe('in b');
  });

  it('refuses invalid mount points and filesystems', () => {
    const { root, a } = parts();
    expect(() => mount(root, { '/': a })).toThrow(TypeError);
    expect(() => mount(root, { '/a': a, '/a/': a })).toThrow(TypeError);
    expect(() => mount(root, { '/a': {} as never })).toThrow(TypeError);
    expect(() => mount(root, null as never)).toThrow(TypeError);
  });
});
