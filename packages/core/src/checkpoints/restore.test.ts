import { describe, expect, it } from 'vitest';
import type { Guard } from '../engine/guard.js';
import type { FileSystem } from '../file-system.js';
import { mount } from '../layers/mount.js';
import { observe } from '../layers/observe.js';
import { overlay } from '../layers/overlay.js';
import { readonly } from '../layers/readonly.js';
import { restrict } from '../layers/restrict.js';
import { asyncSample, codeOf, promises, sample } from '../testing/sample-file-system.js';
import { restore, restoreSync } from './restore.js';
import { withRollback } from './with-rollback.js';

const FILES = { '/d/f': 'text', '/d/g': 'more', '/e/f': 'other' };

/** Hides `/d/g`, and allows writing only at and under `/d`. */
const ONLY_D: Guard = {
  check({ path, access }) {
    if (path === '/d/g') throw new Error('hidden');
    const isChange = access === 'write' || access === 'remove';
    if (isChange && path !== '/d' && !path.startsWith('/d/')) throw new Error('refused');
  },
  isVisible: (path) => path !== '/d/g',
};

const remote = (): Promise<FileSystem> => asyncSample(FILES);

const forms: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => sample(FILES),
  'asynchronous memory': remote,
  observe: async () => observe(sample(FILES), () => {}),
  overlay: async () => overlay(sample(FILES)),
  'overlay of promises': async () => overlay(promises(sample(FILES))),
  mount: async () => mount(sample({ '/x': 'y' }), { '/m': sample({ '/y': 'z' }), '/m/n': sample(FILES) }),
  'mount of promises': async () => mount(await remote(), { '/m': sample({ '/y': 'z' }) }),
};

for (const [form, open] of Object.entries(forms)) {
  it(`restore() through ${form} brings back one path`, async () => {
    const fs = await open();
    const at = form === 'mount' ? '/m/n' : '';
    const checkpoint = await fs.checkpoint();
    await fs.writeFile(`${at}/d/f`, 'changed');
    await fs.rm(`${at}/e`, { recursive: true });
    expect(await restore(fs, checkpoint, `${at}/d`)).toEqual({ added: [], removed: [], changed: [`${at}/d/f`] });
    expect((await restore(fs, checkpoint, `${at}/e/f`)).added).toEqual([`${at}/e`, `${at}/e/f`]);
    expect([await fs.readText(`${at}/d/f`), await fs.readText(`${at}/e/f`)]).toEqual(['text', 'other']);
    await expect(restore(fs, checkpoint, `${at}/d/never`)).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'restore',
      path: `${at}/d/never`,
    });
  });
}

describe('restore()', () => {
  it('shares content with the checkpoint, and skips what is unchanged', () => {
    const fs = sample({ '/d/f': 'x'.repeat(1_000_000), '/d/g': 'y' });
    const checkpoint = fs.checkpointSync();
    fs.rmSync('/d/f');
    expect(restoreSync(fs, checkpoint, '/d').added).toEqual(['/d/f']);
    expect(fs.readTextSync('/d/f').length).toBe(1_000_000);
  });

  it.each([
    ['memory', async () => sample(FILES)],
    ['asynchronous memory', remote],
  ])('through a guard over %s changes only what it allows, and keeps what it hides', async (_, open) => {
    const base = await open();
    const fs = restrict(base, ONLY_D);
    const own = await fs.checkpoint();
    const others = await base.checkpoint('of the owner');
    await base.writeFile('/d/f', 'changed');
    await base.writeFile('/d/g', 'changed');
    await base.writeFile('/e/f', 'changed');
    await expect(restore(fs, own, '/e/f')).rejects.toThrow('refused');
    await expect(restore(fs, own, '/d/g')).rejects.toThrow('hidden');
    await expect(restore(fs, others, '/d/f')).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await restore(fs, own, '/d')).changed).toEqual(['/d/f']);
    expect(await Promise.all(['/d/f', '/d/g', '/e/f'].map((path) => base.readText(path)))).toEqual([
      'text',
      'changed',
      'changed',
    ]);
  });

  it('of a directory with hidden entries that would have to go is refused as a whole', async () => {
    const base = sample({ '/e/f': 'x' });
    const fs = restrict(base, ONLY_D);
    const checkpoint = await fs.checkpoint();
    base.mkdirSync('/d');
    base.writeFileSync('/d/f', 'new');
    base.writeFileSync('/d/g', 'hidden');
    await expect(restore(fs, checkpoint, '/d')).rejects.toThrow('hidden');
    expect(base.readdirSync('/d')).toEqual(['f', 'g']);
  });

  it('of a symlink is refused if one of its other names may not be written', () => {
    const base = sample({ '/d/f': 'x', '/e/f': 'y' });
    base.symlinkSync('x', '/d/l');
    base.linkSync('/d/l', '/e/l');
    const fs = restrict(base, ONLY_D);
    const checkpoint = fs.checkpointSync();
    for (const path of ['/d/l', '/e/l']) base.unlinkSync(path);
    base.symlinkSync('new', '/d/l');
    base.linkSync('/d/l', '/e/l');
    expect(() => restoreSync(fs, checkpoint, '/d/l')).toThrow('refused');
    expect([base.readlinkSync('/d/l'), base.readlinkSync('/e/l'), base.lstatSync('/d/l').nlink]).toEqual([
      'new',
      'new',
      2,
    ]);
  });

  it('through a read-only view is EROFS, unless nothing has changed', async () => {
    const base = sample(FILES);
    const checkpoint = base.checkpointSync();
    const fs = readonly(base);
    expect(await restore(fs, checkpoint, '/d')).toEqual({ added: [], removed: [], changed: [] });
    base.writeFileSync('/d/f', 'changed');
    expect(await codeOf(() => restore(fs, checkpoint, '/d'))).toBe('EROFS');
    expect(base.readTextSync('/d/f')).toBe('changed');
  });

  it('through a guard over another layer is ENOTSUP, and inside a transaction EINVAL', async () => {
    const base = sample(FILES);
    const checkpoint = base.checkpointSync();
    base.writeFileSync('/d/f', 'changed');
    const fs = restrict(
      observe(base, () => {}),
      ONLY_D,
    );
    expect(await codeOf(() => restore(fs, checkpoint, '/d/f'))).toBe('ENOTSUP');
    expect(await codeOf(() => base.transaction((inside) => restore(inside, checkpoint, '/d/f')))).toBe('EINVAL');
    expect(base.readTextSync('/d/f')).toBe('changed');
  });

  it('of a path that contains a mount point is EBUSY', async () => {
    const fs = mount(sample(FILES), { '/d/m': sample() });
    const checkpoint = fs.checkpointSync();
    for (const path of ['/d', '/d/m']) expect(await codeOf(() => restore(fs, checkpoint, path))).toBe('EBUSY');
  });

  it('is observed with its path, and reported to watchers', async () => {
    const events: unknown[] = [];
    const base = sample(FILES);
    const fs = observe(base, ({ operation, paths, ok }) => events.push([operation, paths, ok]));
    const checkpoint = base.checkpointSync();
    base.unlinkSync('/d/f');
    const watcher = base.watch('/d');
    const seen = watcher.next();
    await restore(fs, checkpoint, '/d/f');
    expect(events).toEqual([['run', ['/d/f'], true]]);
    expect((await seen).value).toMatchObject({ type: 'create', path: '/d/f' });
    await watcher.return?.();
  });
});

describe('withRollback()', () => {
  it('refuses arguments of a wrong kind before anything runs', async () => {
    const fs = sample(FILES);
    await expect(withRollback(fs, 'work' as never)).rejects.toThrow(/work must be a function/);
    await expect(withRollback(fs, () => {}, 5 as never)).rejects.toThrow(/check must be a function/);
    await expect(withRollback(fs, () => {}, undefined, { named: 'x' } as never)).rejects.toThrow(TypeError);
    expect(fs.checkpointsSync()).toEqual([]);
  });

  it('undoes work whose check returns nonsense, and says so', async () => {
    const fs = sample(FILES);
    const attempt = await withRollback(
      fs,
      () => fs.rmSync('/d', { recursive: true }),
      () => 1 as never,
    );
    expect(attempt).toMatchObject({ committed: false, reason: expect.stringMatching(/must return true/) });
    expect(fs.existsSync('/d/f')).toBe(true);
  });

  it('keeps the checkpoint if the rollback fails, and accepts that the work dropped it', async () => {
    const fs = sample(FILES);
    const failing = new Proxy(fs, {
      get: (target, key) => {
        if (key === 'rollback') return async () => Promise.reject(new Error('no rollback'));
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await expect(
      withRollback(
        failing,
        () => fs.unlinkSync('/d/f'),
        () => false,
      ),
    ).rejects.toThrow('no rollback');
    const [kept] = fs.checkpointsSync();
    fs.rollbackSync(kept as never);
    expect(fs.readTextSync('/d/f')).toBe('text');
    fs.dropSync(kept as never);
    const result = await withRollback(fs, () => {
      for (const checkpoint of fs.checkpointsSync()) fs.dropSync(checkpoint);
      return 1;
    });
    expect(result).toEqual({ committed: true, result: 1 });
  });

  it('undoes the work of an aborted caller', async () => {
    const fs = sample(FILES);
    const controller = new AbortController();
    const { signal } = controller;
    const work = async (): Promise<void> => {
      fs.unlinkSync('/d/f');
      controller.abort(new Error('enough'));
      await fs.stat('/d/g', { signal });
    };
    const attempt = await withRollback(fs, work, undefined, { signal });
    expect(attempt).toMatchObject({ committed: false, reason: 'enough' });
    expect(fs.readTextSync('/d/f')).toBe('text');
    await expect(withRollback(fs, work, undefined, { signal })).rejects.toThrow('enough');
  });

  it('says nothing of changes that the filesystem cannot compare', async () => {
    const [one, two] = [sample(FILES), sample({ '/x': 'y' })];
    const fs = mount(one, { '/m': two });
    const attempt = await withRollback(
      fs,
      () => fs.writeFileSync('/m/x', 'z'),
      () => 'no',
    );
    expect(attempt).toEqual({ committed: false, reason: 'no' });
    expect(two.readTextSync('/x')).toBe('y');
  });
});
