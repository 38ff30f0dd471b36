import { asyncStorage, type Backend, type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { beforeEach, describe, expect, it } from 'vitest';
import { MapStore } from './testing/map-store.js';

/** Two clients of one store, and what the second one asks its backend for. */
describe('A client that has seen an older state', () => {
  let now: number;
  let first: FileSystem;
  let other: FileSystem;
  let asked: string[];

  beforeEach(async () => {
    now = 1_000;
    asked = [];
    const clock = () => now;
    const store = new MapStore();
    const open = (backend: Backend) => openFileSystem(asyncStorage(backend, { clock }), { clock });
    first = await open(new ObjectTreeBackend(store, { clock }));
    await first.mkdir('/d/a/b', { recursive: true });
    await first.writeFile('/d/f', 'text');
    const backend = new ObjectTreeBackend(store, { clock });
    other = await open(
      new Proxy<Backend>(backend, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => {
            if (key === 'load') asked.push((args[1] as { mayBeOld?: boolean }).mayBeOld === true ? 'old' : 'new');
            if (key === 'commit') asked.push('commit');
            return value.apply(target, args) as unknown;
          };
        },
      }),
    );
  });

  it('copies a directory with the times that it has now, also where it has changed them itself', async () => {
    now = 2_000;
    await other.rm('/d/a', { recursive: true });
    now = 3_000;
    await other.cp('/d', '/copy', { recursive: true, preserveTimestamps: true });
    const [there, copy] = [await other.stat('/d'), await other.stat('/copy')];
    expect([there.mtimeMs, copy.mtimeMs, copy.atimeMs]).toEqual([2_000, 2_000, there.atimeMs]);
  });

  it('copies a directory with the mode that another has given it since', async () => {
    await other.mkdir('/into');
    await other.readdir('/d');
    await first.chmod('/d', 0o700);
    await first.chmod('/d/a', 0o711);
    await other.cp('/d', '/copy', { recursive: true });
    await other.mkdir('/into/a');
    await first.chmod('/d/a', 0o722);
    await other.cp('/d', '/into', { recursive: true });
    const modes = ['/copy', '/copy/a', '/into/a'].map(async (path) => (await first.stat(path)).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([0o700, 0o711, 0o755]);
  });

  it('fails by what is there now, which it has looked at, and not by what was', async () => {
    await other.writeFile('/d/seen', '');
    await first.rm('/d/f');
    await first.mkdir('/d/f');
    asked.length = 0;
    await expect(other.unlink('/d/f')).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(other.mkdir('/d/seen')).rejects.toMatchObject({ code: 'EEXIST' });
    const last = asked.lastIndexOf('old');
    expect(asked.slice(last + 1), asked.join(' ')).toContain('new');
    await first.rmdir('/d/f');
    await other.mkdir('/d/f');
  });
});
