import { describe, expect, it } from 'vitest';
import { diff, formatDiff } from '../diff.js';
import type { FileHandle } from '../file-handle.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { grep } from '../search.js';
import { createSnapshot } from '../snapshot.js';
import { codeOf, promises, sample } from '../testing/sample-file-system.js';
import { type OperationEvent, observe } from './observe.js';
import { overlay } from './overlay.js';
import { readonly } from './readonly.js';

const FILES = { '/d/a': 'one', '/d/b': 'two', '/d/deep/c': 'three', '/g': 'four' };

const forms: Readonly<Record<string, (base: SyncFileSystem) => FileSystem>> = {
  'a synchronous filesystem': (base) => overlay(readonly(base)),
  'a filesystem of promises': (base) => overlay(promises(readonly(base))),
};

for (const [form, layer] of Object.entries(forms)) {
  describe(`overlay of ${form}`, () => {
    it('leaves the lower filesystem unchanged by writes, moves and removals', async () => {
      const base = sample(FILES);
      const fs = layer(base);
      await fs.writeFile('/d/a', 'changed');
      await fs.rm('/d/deep', { recursive: true });
      await fs.rename('/d', '/e');
      await fs.writeFile('/new', '');
      expect(await fs.readdir('/')).toEqual(['e', 'g', 'new']);
      expect(await fs.readdir('/e')).toEqual(['a', 'b']);
      expect(await fs.readText('/e/a')).toBe('changed');
      expect(await fs.readText('/e/b')).toBe('two');
      expect(await codeOf(() => fs.stat('/d/b'))).toBe('ENOENT');
      expect(base.toJSON()).toEqual(FILES);
    });

    it('does not show removed entries again after their directory is created again', async () => {
      const fs = layer(sample(FILES));
      await fs.rm('/d', { recursive: true });
      await fs.mkdir('/d');
      expect(await fs.readdir('/d')).toEqual([]);
      expect(await codeOf(() => fs.readText('/d/a'))).toBe('ENOENT');
    });

    it('returns its totals without a walk, and after every change', async () => {
      const fs = layer(sample(FILES));
      expect(await fs.stats()).toEqual({ totalSize: 15, fileCount: 4, directoryCount: 2, nodeCount: 6 });
      await fs.cp('/d', '/copy', { recursive: true });
      expect(await fs.stats()).toEqual({ totalSize: 26, fileCount: 7, directoryCount: 4, nodeCount: 11 });
      await fs.unlink('/d/a');
      await fs.rm('/d', { recursive: true });
      expect(await fs.stats()).toEqual({ totalSize: 15, fileCount: 4, directoryCount: 2, nodeCount: 6 });
    });

    it('returns its totals after a lower directory was moved into a new one, and that was removed', async () => {
      const fs = layer(sample(FILES));
      await fs.mkdir('/new');
      await fs.rename('/d', '/new/d');
      expect(await fs.stats()).toEqual({ totalSize: 15, fileCount: 4, directoryCount: 3, nodeCount: 7 });
      await fs.rm('/new', { recursive: true });
      expect(await fs.stats()).toEqual({ totalSize: 4, fileCount: 1, directoryCount: 0, nodeCount: 1 });
    });

    it('keeps hard links together', async () => {
      const base = sample(FILES);
      base.linkSync('/g', '/d/link');
      const fs = layer(base);
      await fs.appendFile('/g', '!');
      expect(await fs.readText('/d/link')).toBe('four!');
      expect((await fs.stat('/d/link')).nlink).toBe(2);
      expect((await fs.stat('/d/link')).ino).toBe((await fs.stat('/g')).ino);
      await fs.unlink('/g');
      expect((await fs.stat('/d/link')).nlink).toBe(1);
      expect((await fs.stats()).totalSize).toBe(16);
    });

    it('rolls back, forks, and applies transactions atomically', async () => {
      const fs = layer(sample(FILES));
      const checkpoint = await fs.checkpoint();
      const fork = await fs.fork();
      await fs.rm('/d', { recursive: true });
      await codeOf(() =>
        fs.transaction(async (inside) => {
          await inside.writeFile('/g', 'lost');
          await inside.mkdir('/g');
        }),
      );
      expect(await fs.readText('/g')).toBe('four');
      expect(await fork.readText('/d/b')).toBe('two');
      await fs.rollback(checkpoint);
      expect(await fs.readText('/d/deep/c')).toBe('three');
    });

    it('copies and moves files without reading their content', async () => {
      const events: OperationEvent[] = [];
      const seen = observe(sample(FILES), (event) => {
        events.push(event);
      });
      const fs = layer(seen);
      await fs.cp('/d', '/copy', { recursive: true });
      await fs.rename('/d', '/e');
      expect(events.filter(({ operation }) => operation === 'readFile')).toEqual([]);
      expect(await fs.readText('/copy/a')).toBe('one');
      expect(events.filter(({ operation }) => operation === 'readFile')).toHaveLength(1);
    });

    it('counts the lower filesystem against its limits', async () => {
      const base = sample(FILES);
      const fs = form.includes('promises')
        ? overlay(promises(base), { limits: { maxTotalSize: 16 } })
        : overlay(base, { limits: { maxTotalSize: 16 } });
      await fs.writeFile('/x', '1');
      expect(await codeOf(() => fs.writeFile('/y', '1'))).toBe('ENOSPC');
      await fs.unlink('/d/a');
      await fs.writeFile('/y', '123');
    });
  });
}

/** Returns a promise-based filesystem that counts its calls, and the content bytes that are read from it. */
function counted(base: SyncFileSystem): { readonly beneath: FileSystem; readonly calls: () => object } {
  const counts = { lstat: 0, entries: 0, readFile: 0, open: 0, bytes: 0 };
  const lower = promises(base);
  const beneath = new Proxy(lower, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function' || !Object.hasOwn(counts, key)) return value;
      return async (...args: unknown[]): Promise<unknown> => {
        counts[key as keyof typeof counts] += 1;
        const answer = (await value(...args)) as unknown;
        if (answer instanceof Uint8Array) counts.bytes += answer.byteLength;
        if (key !== 'open') return answer;
        const handle = answer as FileHandle;
        return Object.assign(Object.create(handle), {
          read: async (into: Uint8Array, position: number) => {
            counts.bytes += into.byteLength;
            return handle.read(into, position);
          },
          close: () => handle.close(),
        }) as unknown;
      };
    },
  });
  const calls = (): object => {
    const result = { ...counts };
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] = 0;
    return result;
  };
  return { beneath, calls };
}

function manyFiles(count: number, content: (i: number) => string): SyncFileSystem {
  return sample(Object.fromEntries(Array.from({ length: count }, (_, i) => [`/d${i % 3}/f${i}`, content(i)])));
}

describe('requests of an overlay to its promise-based lower filesystem', () => {
  it.each([10, 300, 1000])('grep over %i files calls lstat once for each', async (count) => {
    const { beneath, calls } = counted(manyFiles(count, (i) => `needle ${i}`));
    const fs = overlay(beneath);
    await fs.stats();
    calls();
    const found: number[] = [];
    for await (const { text } of grep(fs, 'needle')) found.push(Number(text.slice('needle '.length)));
    expect(found.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
    const bytes = found.reduce((sum, i) => sum + `needle ${i}`.length, 0);
    // After its content was read, each file is checked once more: it must still be the listed one.
    expect(calls()).toEqual({ lstat: count, entries: 4, readFile: count, open: 0, bytes });
  });

  it('grep over more files than fit into one load calls lstat once for each', async () => {
    const { beneath, calls } = counted(manyFiles(12, (i) => `${'x'.repeat(2 ** 20)}\nneedle ${i}`));
    const fs = overlay(beneath);
    let found = 0;
    for await (const _ of grep(fs, 'needle')) found += 1;
    expect(found).toBe(12);
    expect(calls()).toMatchObject({ readFile: 12, open: 0 });
  });

  it.each(['createSnapshot', 'diff', 'formatDiff'])('%s reads each content once', async (name) => {
    const { beneath, calls } = counted(manyFiles(300, (i) => `content ${i}`));
    const fs = overlay(beneath);
    const before = await fs.checkpoint();
    if (name !== 'createSnapshot') for (let i = 0; i < 300; i++) await fs.writeFile(`/d${i % 3}/f${i}`, `CONTENT ${i}`);
    calls();
    if (name === 'createSnapshot') await createSnapshot(fs);
    else if (name === 'diff') expect((await diff(fs, before)).changed.length).toBe(300);
    else expect((await formatDiff(fs, before)).length).toBeGreaterThan(300 * 20);
    expect(calls()).toMatchObject({ readFile: 300, open: 0 });
  });

  it.each([2 ** 20, 2 ** 24])('a stream of %i bytes reads each byte once', async (size) => {
    const { beneath, calls } = counted(sample({ '/large': 'x'.repeat(size) }));
    const fs = overlay(beneath);
    let read = 0;
    for (const reader = fs.createReadStream('/large').getReader(); ; ) {
      const { value, done } = await reader.read();
      if (done) break;
      read += value.byteLength;
    }
    expect(read).toBe(size);
    expect(calls()).toMatchObject({ bytes: size });
  });

  it('a read of a part of a large file reads only that part', async () => {
    const base = sample({ '/large': 'abcdefgh'.repeat(2 ** 20) });
    const { beneath, calls } = counted(base);
    const fs = overlay(beneath);
    await using handle = await fs.open('/large');
    const into = new Uint8Array(8);
    calls();
    expect(await handle.read(into, 2 ** 22)).toBe(8);
    expect(new TextDecoder().decode(into)).toBe('abcdefgh');
    expect(calls()).toEqual({ lstat: 1, entries: 0, readFile: 0, open: 1, bytes: 2 ** 16 });
    base.truncateSync('/large', 2 ** 22 + 4);
    expect(await codeOf(() => handle.read(into, 2 ** 22))).toBe('ESTALE');
    base.unlinkSync('/large');
    expect(await codeOf(() => handle.read(into, 2 ** 22))).toBe('ESTALE');
  });
});

describe('overlay', () => {
  it('over a synchronous filesystem shows the state when it was made', () => {
    const base = sample(FILES);
    const fs = overlay(base);
    base.writeFileSync('/g', 'later');
    base.rmSync('/d', { recursive: true });
    expect(fs.readTextSync('/g')).toBe('four');
    expect(fs.readdirSync('/d')).toEqual(['a', 'b', 'deep']);
  });

  it('works if an observer of the lower filesystem reads the overlay during an operation', () => {
    const operations: readonly ((fs: SyncFileSystem) => unknown)[] = [
      (fs) => fs.rmSync('/d', { recursive: true }),
      (fs) => fs.unlinkSync('/d/deep/c'),
      (fs) => fs.appendFileSync('/d/a', 'more'),
      (fs) => fs.renameSync('/d/a', '/other/kept'),
      (fs) => fs.renameSync('/d', '/other/d'),
      (fs) => fs.linkSync('/d/a', '/d/deep/link'),
      (fs) => fs.cpSync('/d', '/other', { recursive: true }),
      (fs) => fs.mkdirSync('/d/deep/new/er', { recursive: true }),
      (fs) => fs.writeFileSync('/d/deep/new', 'new'),
    ];
    for (const operation of operations) {
      const after = (looks: boolean): { readonly state: object; readonly looked: number } => {
        let looked = 0;
        let isIdle = true;
        const look = (): void => {
          if (isIdle) return;
          isIdle = true;
          fs.existsSync('/other/kept');
          fs.readdirSync('/');
          looked += 1;
          isIdle = false;
        };
        const base = sample({ ...FILES, '/other/kept': 'kept' });
        const fs: SyncFileSystem = overlay(observe(base, look));
        isIdle = !looks;
        operation(fs);
        isIdle = true;
        return { state: fs.toJSON(), looked };
      };
      const disturbed = after(true);
      expect(disturbed.looked).toBeGreaterThan(0);
      expect(disturbed.state).toEqual(after(false).state);
    }
  });

  it('over promises shows each part as it was first loaded, and reports content that is gone', async () => {
    const base = sample(FILES);
    const fs = overlay(promises(base));
    await fs.stat('/g');
    expect(await fs.readText('/d/a')).toBe('one');
    base.writeFileSync('/g', 'later');
    base.writeFileSync('/d/a', 'later');
    base.writeFileSync('/d/b', 'later');
    expect(await codeOf(() => fs.readText('/g'))).toBe('ESTALE');
    expect(await fs.readText('/d/a')).toBe('one');
    expect(await fs.readText('/d/b')).toBe('later');
    await fs.writeFile('/g', 'mine');
    expect(await fs.readText('/g')).toBe('mine');
  });

  it('rejects with failures of the lower filesystem, and works again when they are over', async () => {
    const base = sample(FILES);
    const failure = new Error('away');
    let isAway = true;
    const away = new Proxy(promises(base), {
      get(target, key) {
        if (isAway && (key === 'lstat' || key === 'stats')) return () => Promise.reject(failure);
        return Reflect.get(target, key) as unknown;
      },
    });
    const fs = overlay(away);
    await expect(fs.readText('/g')).rejects.toBe(failure);
    isAway = false;
    expect(await fs.readText('/g')).toBe('four');
  });

  it('runs many operations concurrently', async () => {
    const fs = overlay(promises(sample(FILES)));
    await Promise.all(Array.from({ length: 50 }, (_, i) => fs.appendFile('/d/a', String(i % 10))));
    await Promise.all(Array.from({ length: 50 }, (_, i) => fs.copyFile('/d/b', `/d/deep/${i}`)));
    expect((await fs.readText('/d/a')).length).toBe(53);
    expect((await fs.stats()).fileCount).toBe(54);
  });

  it('stops when its signal aborts', async () => {
    const fs = overlay(promises(sample(FILES)));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(fs.readText('/g', { signal })).rejects.toThrow('enough');
    expect(() => overlay(sample(), { limit: {} } as never)).toThrow(TypeError);
  });
});
