import { asyncStorage, type Backend, type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { MemoryObjectStore } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';

/** Two clients of one store. Records what the second one requests from its backend. */
describe('A client that has seen an older state', () => {
  let now: number;
  let first: FileSystem;
  let other: FileSystem;
  let asked: string[];
  /** Runs before the second client commits. */
  let before: () => Promise<unknown>;

  beforeEach(async () => {
    now = 1_000;
    asked = [];
    before = async () => {};
    const clock = () => now;
    const store = new MemoryObjectStore();
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
            if (key !== 'commit') return value.apply(target, args) as unknown;
            asked.push('commit');
            return before().then(() => value.apply(target, args) as unknown);
          };
        },
      }),
    );
  });

  it('copies a directory with its own times at the first attempt, while another client creates names in it', async () => {
    now = 2_000;
    await other.rm('/d/a', { recursive: true });
    now = 3_000;
    before = () => first.writeFile(`/d/${asked.length}`, '');
    asked.length = 0;
    await other.cp('/d', '/copy', { recursive: true, preserveTimestamps: true });
    expect((await first.stat('/copy')).mtimeMs).toBe(2_000);
    expect(asked.filter((what) => what === 'commit').length).toBe(1);
  });

  it('reports errors from the current state, never from the older one', async () => {
    await other.writeFile('/d/seen', '');
    await first.rm('/d/f');
    await first.mkdir('/d/f');
    asked.length = 0;
    await expect(other.unlink('/d/f')).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(other.mkdir('/d/seen')).rejects.toMatchObject({ code: 'EEXIST' });
    expect(asked).toContain('old');
    const last = asked.lastIndexOf('old');
    expect(asked.slice(last + 1), asked.join(' ')).toContain('new');
    await first.rmdir('/d/f');
    await other.mkdir('/d/f');
  });
});
