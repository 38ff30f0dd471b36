import { describe, expect, it } from 'vitest';
import type { FileSystem, SyncFileSystem, WatchEvent } from '../file-system.js';
import { sample } from '../testing/sample-file-system.js';
import { mount } from './mount.js';
import { observe } from './observe.js';
import { restrict } from './restrict.js';

/** Returns a filesystem that records, in order, which of its watchers were ended. A given `watch` replaces them. */
function counted(watch?: () => AsyncIterableIterator<WatchEvent>): { fs: SyncFileSystem; ended: string[] } {
  const ended: string[] = [];
  let made = 0;
  const fs = new Proxy(sample({ '/a': 'x' }), {
    get(target, key) {
      if (key === 'watch') {
        return (...args: Parameters<FileSystem['watch']>) => {
          if (watch !== undefined) return watch();
          const inner = target.watch(...args);
          const name = `watcher ${++made}`;
          const end = inner.return?.bind(inner);
          inner.return = async () => {
            ended.push(name);
            return (await end?.()) as IteratorResult<WatchEvent>;
          };
          return inner;
        };
      }
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { fs, ended };
}

const layers: [string, (fs: SyncFileSystem) => FileSystem][] = [
  ['observe', (fs) => observe(fs, () => {})],
  ['mount', (fs) => mount(fs, {})],
];

describe.each(layers)('the watchers of %s', (_, layerOf) => {
  it('end with it, and are dropped when they end before', async () => {
    const { fs, ended } = counted();
    const layer = layerOf(fs);
    const [first, second] = [layer.watch('/'), layer.watch('/')];
    const event = second.next();
    fs.writeFileSync('/b', '');
    expect((await event).value).toMatchObject({ type: 'create', path: '/b' });
    await first.return?.();
    expect(ended).toEqual(['watcher 1']);
    await layer.close();
    expect(ended).toEqual(['watcher 1', 'watcher 2']);
    expect(await second.next()).toMatchObject({ done: true });
  });
});

describe('watchers of a mount', () => {
  it('are ended if one of the filesystems cannot be watched', () => {
    const { fs, ended } = counted();
    const broken = counted(() => {
      throw new Error('no connection');
    });
    const layer = mount(fs, { '/mnt': broken.fs });
    expect(() => layer.watch('/', { recursive: true })).toThrow('no connection');
    expect(ended).toEqual(['watcher 1']);
  });
});

describe('a watcher whose guard throws', () => {
  const broken = new Error('the policy cannot be read');

  it('ends with that error; the writer and other watchers are not affected', async () => {
    const fs = sample({ '/a': 'x' });
    let isBroken = false;
    const isVisible = (): boolean => {
      if (isBroken) throw broken;
      return true;
    };
    const guarded = restrict(fs, { check: () => {}, isVisible });
    const [asked, unasked] = [guarded.watch('/'), guarded.watch('/')];
    const other = fs.watch('/');
    const next = asked.next();
    const failed = expect(next).rejects.toBe(broken);
    isBroken = true;
    fs.writeFileSync('/b', '');
    fs.writeFileSync('/c', '');
    isBroken = false;
    await failed;
    expect(await asked.next()).toEqual({ done: true, value: undefined });
    await expect(unasked.next()).rejects.toBe(broken);
    expect(await unasked.next()).toEqual({ done: true, value: undefined });
    expect((await other.next()).value).toMatchObject({ path: '/b' });
    await other.return?.();
  });

  it('ends a watcher of the mount that it is part of', async () => {
    let isBroken = false;
    const isVisible = (): boolean => {
      if (isBroken) throw broken;
      return true;
    };
    const inner = sample();
    const layer = mount(sample(), { '/mnt': restrict(inner, { check: () => {}, isVisible }) });
    const watcher = layer.watch('/', { recursive: true });
    const failed = expect(watcher.next()).rejects.toBe(broken);
    isBroken = true;
    inner.writeFileSync('/b', '');
    isBroken = false;
    await failed;
    expect(await watcher.next()).toMatchObject({ done: true });
  });
});
