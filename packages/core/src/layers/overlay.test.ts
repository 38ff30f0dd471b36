import { describe, expect, it } from 'vitest';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { type OperationEvent, observe } from './observe.js';
import { overlay } from './overlay.js';
import { readonly } from './readonly.js';
import { codeOf, promises, sample } from './sample-file-system.js';

const FILES = { '/d/a': 'one', '/d/b': 'two', '/d/deep/c': 'three', '/g': 'four' };

const forms: Readonly<Record<string, (base: SyncFileSystem) => FileSystem>> = {
  'a synchronous filesystem': (base) => overlay(readonly(base)),
  'a filesystem of promises': (base) => overlay(promises(readonly(base))),
};

for (const [form, layer] of Object.entries(forms)) {
  describe(`overlay of ${form}`, () => {
    it('keeps what is written, moved and removed from what is beneath', async () => {
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

    it('has what was removed removed, also where it is made again', async () => {
      const fs = layer(sample(FILES));
      await fs.rm('/d', { recursive: true });
      await fs.mkdir('/d');
      expect(await fs.readdir('/d')).toEqual([]);
      expect(await codeOf(() => fs.readText('/d/a'))).toBe('ENOENT');
    });

    it('knows its totals without a walk, and after every change', async () => {
      const fs = layer(sample(FILES));
      expect(await fs.stats()).toEqual({ totalSize: 15, fileCount: 4, directoryCount: 2, nodeCount: 6 });
      await fs.cp('/d', '/copy', { recursive: true });
      expect(await fs.stats()).toEqual({ totalSize: 26, fileCount: 7, directoryCount: 4, nodeCount: 11 });
      await fs.unlink('/d/a');
      await fs.rm('/d', { recursive: true });
      expect(await fs.stats()).toEqual({ totalSize: 15, fileCount: 4, directoryCount: 2, nodeCount: 6 });
    });

    it('knows its totals when a directory from beneath was moved into a new one, and that is removed', async () => {
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

    it('goes back to a checkpoint, forks, and does transactions whole', async () => {
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

    it('reads no content of what is copied or moved', async () => {
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

    it('counts what is beneath against its limits', async () => {
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

describe('overlay', () => {
  it('of a synchronous filesystem shows the moment it was made', () => {
    const base = sample(FILES);
    const fs = overlay(base);
    base.writeFileSync('/g', 'later');
    base.rmSync('/d', { recursive: true });
    expect(fs.readTextSync('/g')).toBe('four');
    expect(fs.readdirSync('/d')).toEqual(['a', 'b', 'deep']);
  });

  it('does what it is told where a listener beneath looks at it meanwhile', () => {
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

  it('of promises shows each part as it was first seen, and says where content is gone', async () => {
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

  it('answers the failures of what is beneath, and works again when they pass', async () => {
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

  it('does many things at once', async () => {
    const fs = overlay(promises(sample(FILES)));
    await Promise.all(Array.from({ length: 50 }, (_, i) => fs.appendFile('/d/a', String(i % 10))));
    await Promise.all(Array.from({ length: 50 }, (_, i) => fs.copyFile('/d/b', `/d/deep/${i}`)));
    expect((await fs.readText('/d/a')).length).toBe(53);
    expect((await fs.stats()).fileCount).toBe(54);
  });

  it('stops when it is told to', async () => {
    const fs = overlay(promises(sample(FILES)));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(fs.readText('/g', { signal })).rejects.toThrow('enough');
    expect(() => overlay(sample(), { limit: {} } as never)).toThrow(TypeError);
  });
});
