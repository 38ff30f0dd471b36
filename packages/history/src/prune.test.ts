import { join } from 'node:path';
import { type FileSystem, FsError, openFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { afterAll, describe, expect, it } from 'vitest';
import { History } from './history.js';
import type { ObjectId } from './object-id.js';
import type { Repository } from './repository.js';
import { GitDirectory } from './stores/git-directory.js';
import { MemoryRepository } from './stores/memory-repository.js';
import { SampleGit, toDisk } from './testing/sample-git.js';

const sample = new SampleGit();
afterAll(() => sample.remove());

const HOUR = 3_600_000;

/** A clock that stands still until the test moves it. */
class TestClock {
  now = 1_700_000_000_000;
  readonly read = (): number => this.now;
}

interface Opened {
  readonly repository: Repository;
  /** Another client of the same repository. */
  readonly another: () => Promise<Repository>;
  /** Filesystem of the repository; undefined in memory. */
  readonly disk?: FileSystem;
}

async function gitDirectoryOn(disk: FileSystem): Promise<Opened> {
  const repository = await GitDirectory.init(disk, { path: '/' });
  return { repository, disk, another: () => GitDirectory.open(disk, { path: '/' }) };
}

/** A filesystem without transactions, like a directory of the host. */
function withoutTransactions(fileSystem: FileSystem): FileSystem {
  const capabilities = { ...fileSystem.capabilities, transactions: false };
  return new Proxy(fileSystem, {
    get(target, key) {
      if (key === 'capabilities') return capabilities;
      if (key === 'transaction') return () => Promise.reject(new FsError('ENOTSUP', { syscall: 'transaction' }));
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const repositories: readonly (readonly [string, (clock: () => number) => Promise<Opened>])[] = [
  [
    'in memory',
    async (clock) => {
      const repository = new MemoryRepository('sha1', { clock });
      return { repository, another: async () => repository };
    },
  ],
  ["in git's layout", async (clock) => gitDirectoryOn(await openFileSystem(new MemoryStorage(), { clock }))],
  [
    "in git's layout on a remote storage",
    async (clock) => gitDirectoryOn(await openFileSystem(asyncMemoryStorage(), { clock })),
  ],
  [
    "in git's layout without transactions",
    async (clock) => gitDirectoryOn(withoutTransactions(await openFileSystem(new MemoryStorage(), { clock }))),
  ],
];

async function idsIn(repository: Repository): Promise<ObjectId[]> {
  const ids = new Set<ObjectId>();
  for await (const { id } of (repository as Required<Repository>).list('')) ids.add(id);
  return [...ids].sort();
}

describe.each(repositories)('prune() of a history %s', (name, open) => {
  const started = async () => {
    const clock = new TestClock();
    const opened = await open(clock.read);
    const history = new History({ repository: opened.repository, clock: clock.read });
    const work = await openFileSystem(new MemoryStorage());
    await work.writeFile('/kept', 'kept');
    const first = await history.commit(work, { message: 'first' });
    return { ...opened, clock, history, work, first };
  };

  it('deletes exactly what no reference reaches, loose and packed', async () => {
    const { history, work, clock, repository, disk, first } = await started();
    await history.tag('v1', 'HEAD', { message: 'annotated' });
    // Enough objects for a pack that also contains what stays.
    await work.mkdir('/many');
    for (let i = 0; i < 150; i++) await work.writeFile(`/many/${i}`, `content ${i}`);
    await history.commit(work, { message: 'many' });
    const before = await idsIn(repository);
    for (let i = 0; i < 120; i++) await work.appendFile(`/many/${i}`, ' of a topic');
    const topic = await history.commit(work, { message: 'topic', branch: 'topic', parents: ['main'] });
    await work.writeFile('/loose', 'a few objects more');
    const tip = await history.commit(work, { message: 'more', branch: 'topic', parents: [topic] });
    const all = await idsIn(repository);
    clock.now += 2 * HOUR;
    expect(await history.prune()).toEqual({ objects: 0, bytes: 0, kept: all.length });
    await history.moveRef('refs/heads/topic', tip, undefined);
    if (disk !== undefined) {
      const path = join(sample.folder, `dry-${Math.random()}`);
      await toDisk(disk, path);
      const unreachable = sample.run(['-C', path, 'fsck', '--unreachable', '--no-reflogs']).split('\n');
      expect(unreachable.map((line) => line.split(' ').at(-1)).sort()).toEqual(
        all.filter((id) => !before.includes(id)),
      );
    }
    const dry = await history.prune({ dryRun: true });
    expect(dry).toMatchObject({ objects: all.length - before.length, kept: before.length });
    expect(dry.bytes).toBeGreaterThan(1_000);
    expect(await idsIn(repository)).toEqual(all);
    expect(await history.prune()).toEqual(dry);
    expect(await idsIn(repository)).toEqual(before);
    expect((await history.verify()).problems).toEqual([]);
    expect(await history.resolve('v1')).toBe(first);
    await expect(history.show(tip)).rejects.toMatchObject({ code: 'not-found' });
    if (disk === undefined) return;
    const path = join(sample.folder, `pruned-${Math.random()}`);
    await toDisk(disk, path);
    expect(sample.run(['-C', path, 'fsck', '--strict', '--full', '--unreachable'])).toBe('');
  });

  it('keeps what was written in the grace period, with everything it refers to', async () => {
    const { history, work, clock, repository, first } = await started();
    await work.writeFile('/dir', 'unreachable, old');
    const old = await history.writeTree(work);
    clock.now += 2 * HOUR;
    const commit = await history.commitTree(old, { message: 'recent, of an old tree', parents: [first] });
    const all = await idsIn(repository);
    await history.prune();
    expect(await idsIn(repository)).toEqual(all);
    await history.moveRef('refs/heads/kept', undefined, commit);
    expect((await history.verify()).problems).toEqual([]);
    await history.moveRef('refs/heads/kept', commit, undefined);
    clock.now += HOUR - 1;
    expect(await history.prune()).toMatchObject({ objects: 0 });
    clock.now += 2;
    expect(await history.prune()).toMatchObject({ objects: 3 });
  });

  it('keeps an object that was stored again', async () => {
    const { history, work, clock, another, repository } = await started();
    await work.writeFile('/again', 'again');
    const tree = await history.writeTree(work);
    clock.now += 2 * HOUR;
    const fresh = new History({ repository: await another(), clock: clock.read });
    expect(await fresh.writeTree(work)).toBe(tree);
    await history.prune();
    expect(await idsIn(repository)).toContain(tree);
    expect((await history.verify(tree)).problems).toEqual([]);
  });

  it('keeps a pack that was stored again', async () => {
    const { clock, another, repository, history } = await started();
    const work = await openFileSystem(new MemoryStorage());
    for (let i = 0; i < 100; i++) await work.writeFile(`/${i}`, `content ${i}`);
    const store = async () => new History({ repository: await another(), clock: clock.read }).writeTree(work);
    const tree = await store();
    clock.now += 2 * HOUR;
    expect(await store()).toBe(tree);
    expect(await history.prune()).toMatchObject({ objects: 0 });
    expect((await history.verify(tree)).problems).toEqual([]);
    clock.now += 2 * HOUR;
    expect(await history.prune()).toMatchObject({ objects: 101 });
    expect(await idsIn(repository)).not.toContain(tree);
  });

  it('does not make other clients rely on deleted objects', async () => {
    const { history, work, clock, another } = await started();
    const other = new History({ repository: await another(), clock: clock.read });
    await work.mkdir('/dir');
    for (let i = 0; i < 120; i++) await work.writeFile(`/dir/${i}`, `content ${i}`);
    const branch = await other.commit(work, { message: 'topic', branch: 'topic', parents: ['main'] });
    await history.writeTree(work);
    await history.moveRef('refs/heads/topic', branch, undefined);
    clock.now += 2 * HOUR;
    expect((await history.prune()).objects).toBe(123);
    // Both clients know the directory's state from before.
    for (const each of [other, history]) {
      await work.appendFile('/kept', '!');
      await each.commit(work, { message: 'again' });
      const fresh = new History({ repository: await another() });
      expect((await fresh.verify()).problems).toEqual([]);
    }
    await other.checkout('main~2', work);
    expect(await work.readText('/kept')).toBe('kept');
  });

  it.each(['the commit', 'prune()'] as const)(
    'loses nothing that a commit needs if both run at the same time, whatever call of %s the other comes before',
    async (first) => {
      // The calls are the same as on a filesystem in memory, and take much longer.
      if (name.includes('remote')) return;
      for (let index = 0; ; index++) {
        const { history, work, clock, repository, disk, another } = await started();
        let calls = 0;
        let isDone = false;
        let intrude = async (): Promise<void> => undefined;
        let intruded = false;
        const hook = async (): Promise<void> => {
          if (calls++ !== index) return;
          isDone = true;
          // Under a lock the other waits, so it cannot come before this call.
          const locks = disk === undefined ? [] : ['/scratchfs-prunes.lock', '/refs/heads/main.lock'];
          for (const lock of locks) if (await disk?.exists(lock)) return;
          intruded = true;
          await intrude();
        };
        const hooked =
          disk === undefined
            ? hookedBy(repository, hook)
            : await GitDirectory.open(hookedBy(disk, hook), { path: '/' });
        // The client knows states whose objects are old and unreachable, and stores other such objects again.
        const client = new History({
          repository: first === 'the commit' ? hooked : await another(),
          clock: clock.read,
        });
        await work.mkdir('/known');
        await work.writeFile('/known/a', 'known to the client');
        await client.writeTree(work);
        const other = await openFileSystem(new MemoryStorage());
        await other.writeFile('/b', 'stored by another client');
        await history.writeTree(other);
        await work.writeFile('/b', 'stored by another client');
        clock.now += 2 * HOUR;
        const pruner = new History({
          repository: first === 'the commit' ? await another() : hooked,
          clock: clock.read,
        });
        const commit = (): Promise<unknown> => client.commit(work, { message: 'second' });
        const prune = (): Promise<unknown> => pruner.prune({ gracePeriodMs: 0 });
        calls = 0;
        isDone = false;
        intruded = false;
        intrude = async () => void (await (first === 'the commit' ? prune() : commit()));
        await (first === 'the commit' ? commit() : prune());
        const fresh = new History({ repository: await another() });
        const { problems, counts } = await fresh.verify();
        expect([index, problems]).toEqual([index, []]);
        expect(counts.commit).toBe(intruded || first === 'the commit' ? 2 : 1);
        if (!isDone) {
          expect(index).toBeGreaterThan(5);
          return;
        }
      }
    },
  );
});

/** Returns an object whose methods first wait for a function. */
function hookedBy<T extends object>(target: T, before: () => Promise<void>): T {
  return new Proxy(target, {
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function' || key === 'close') return value;
      if (key === 'list' || key === 'walk') return value.bind(target);
      return async (...args: unknown[]) => {
        await before();
        return Reflect.apply(value, target, args);
      };
    },
  });
}

describe('prune()', () => {
  it('lets a client that has a pack open continue to read', async () => {
    const clock = new TestClock();
    const { repository, another } = await gitDirectoryOn(
      await openFileSystem(asyncMemoryStorage(), { clock: clock.read }),
    );
    const history = new History({ repository, clock: clock.read });
    const work = await openFileSystem(new MemoryStorage());
    for (let i = 0; i < 120; i++) await work.writeFile(`/${i}`, `content ${i}`);
    const id = await history.commit(work, { message: 'packed' });
    const reader = new History({ repository: await another() });
    expect(await reader.readFile('main', '7')).toEqual(new TextEncoder().encode('content 7'));
    await work.rm('/8');
    const next = await history.commit(work, { message: 'next', branch: 'next', parents: [] });
    await history.moveRef('refs/heads/main', id, next);
    clock.now += 2 * HOUR;
    expect(await history.prune()).toMatchObject({ objects: 3 });
    for (let i = 0; i < 120; i++) if (i !== 8) await reader.readFile('next', String(i));
    await expect(reader.show(id)).rejects.toMatchObject({ code: 'not-found' });
  });

  it.each(['index', 'logs/HEAD', 'worktrees/a/HEAD', 'MERGE_HEAD', 'objects/info/commit-graph', 'objects/pack/x.keep'])(
    'refuses a repository that git uses: %s exists',
    async (name) => {
      const disk = await openFileSystem(new MemoryStorage());
      const history = new History({ repository: await GitDirectory.init(disk, { path: '/' }) });
      await disk.mkdir(`/${name}/..`, { recursive: true });
      await disk.writeFile(`/${name}`, '');
      for (const dryRun of [true, false])
        await expect(history.prune({ dryRun })).rejects.toMatchObject({ code: 'unsupported' });
    },
  );

  it('deletes nothing if a reference leads to a missing object', async () => {
    const repository = new MemoryRepository();
    const history = new History({ repository });
    const work = await openFileSystem(new MemoryStorage());
    await work.writeFile('/a', '1');
    await history.writeTree(work);
    const missing = '1'.repeat(40) as ObjectId;
    await repository.swapRef('refs/heads/broken', undefined, { id: missing });
    await expect(history.prune({ gracePeriodMs: 0 })).rejects.toMatchObject({ code: 'not-found', id: missing });
    expect(repository.size).toBe(2);
  });

  it('refuses a repository that cannot delete, and invalid options', async () => {
    const plain = new MemoryRepository();
    const repository = new Proxy(plain, {
      get(target, key) {
        if (key === 'prune' || key === 'list') return undefined;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as Repository;
    const history = new History({ repository });
    await expect(history.prune()).rejects.toMatchObject({ code: 'unsupported' });
    await expect(history.resolve('abcd')).rejects.toMatchObject({ code: 'unsupported' });
    for (const gracePeriodMs of [-1, Number.NaN, '1' as unknown as number])
      await expect(history.prune({ gracePeriodMs })).rejects.toThrow(RangeError);
    await expect(history.prune({ dryRun: 1 as unknown as boolean })).rejects.toThrow(TypeError);
  });
});
