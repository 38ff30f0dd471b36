import { describe, expect, it } from 'vitest';
import { asyncForm } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import type { Guard } from '../engine/guard.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { FileSystem } from '../file-system.js';
import { glob, grep } from '../search.js';
import { createSnapshot, restoreSnapshot } from '../snapshot.js';
import { codeOf, promises, sample } from '../testing/sample-file-system.js';
import { WRITE_FILES as FILES, WRITES } from '../testing/writes.js';
import { mount } from './mount.js';
import { observe } from './observe.js';
import { overlay } from './overlay.js';
import { readonly } from './readonly.js';
import { restrict } from './restrict.js';

const HIDES_G: Guard = {
  check({ path }) {
    if (path === '/g') throw new Error('refused');
  },
  isVisible: (path) => path !== '/g',
};

const PERMITS: Guard = { check: () => {}, isVisible: () => true };

async function remote(): Promise<FileSystem> {
  const clock = (): number => 1;
  const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock);
  return openFileSystem(asyncForm(storage, { clock }), { files: FILES, clock });
}

async function itemsOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const forms: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => sample(FILES),
  'asynchronous memory': remote,
  restrict: async () => restrict(sample(FILES), PERMITS),
  'restrict over asynchronous memory': async () => restrict(await remote(), PERMITS),
  observe: async () => observe(sample(FILES), () => {}),
  'restrict over observe': async () =>
    restrict(
      observe(sample(FILES), () => {}),
      PERMITS,
    ),
  overlay: async () => overlay(sample(FILES)),
  'overlay of promises': async () => overlay(promises(sample(FILES))),
  mount: async () => mount(sample(FILES), { '/m': sample({ '/x': 'y' }) }),
};

for (const [form, open] of Object.entries(forms)) {
  describe(`at() of ${form}`, () => {
    it('refuses every change with EROFS, and changes nothing', async () => {
      const fs = await open();
      await fs.checkpoint('before');
      await fs.writeFile('/d/f', 'later');
      const kept = await fs.checkpoints();
      const then = await fs.at('before');
      for (const [name, write] of Object.entries(WRITES)) {
        // These layers refuse some calls in any state.
        const isLayer = form === 'mount' || form.startsWith('restrict');
        const expected = isLayer ? ['EROFS', 'ENOTSUP', 'ENOENT'] : ['EROFS'];
        expect(expected, name).toContain(await codeOf(() => write(then)));
        expect(await then.readText('/d/f'), name).toBe('text');
        expect(await then.readText('/g'), name).toBe('more');
      }
      expect(await codeOf(async () => restoreSnapshot(then, await createSnapshot(fs)))).toMatch(/EROFS|ENOTSUP/);
      expect(await then.readdir('/')).toEqual(form === 'mount' ? ['d', 'g', 'm'] : ['d', 'g']);
      expect(await fs.readText('/d/f')).toBe('later');
      expect(await fs.checkpoints()).toEqual(kept);
    });

    it('searches, walks and snapshots the state of the checkpoint', async () => {
      const fs = await open();
      const checkpoint = await fs.checkpoint();
      await fs.rm('/d', { recursive: true });
      const then = await fs.at(checkpoint);
      expect((await itemsOf(then.walk('/d'))).map(({ path }) => path)).toEqual(['/d/f']);
      expect(await itemsOf(glob(then, '/d/*'))).toEqual(['/d/f']);
      expect((await itemsOf(grep(then, 'text'))).map(({ path }) => path)).toEqual(['/d/f']);
      expect(await new Response(then.createReadStream('/d/f')).text()).toBe('text');
      const copy = sample();
      await restoreSnapshot(copy, await createSnapshot(then));
      expect(copy.readTextSync('/d/f')).toBe('text');
      expect(await then.checkpoints()).toEqual([]);
    });

    it('refuses changes of a caller’s own operation that asks no guard', async () => {
      const fs = await open();
      const checkpoint = await fs.checkpoint();
      const then = await fs.at(checkpoint);
      const vandal = async (on: FileSystem): Promise<unknown> =>
        on.run((view) => {
          view.find('/g', false, 'look', 'x');
          view.remove(view.at.parent, view.at.name);
        }, []);
      expect(await codeOf(() => vandal(then))).toMatch(/EROFS|ENOTSUP/);
      expect(await codeOf(() => then.transaction(vandal))).toMatch(/EROFS|ENOTSUP|undefined/);
      expect(await then.readText('/g')).toBe('more');
      expect(await fs.readText('/g')).toBe('more');
    });
  });
}

describe('at()', () => {
  it.each([
    ['the engine', (fs: FileSystem) => restrict(fs, HIDES_G)],
    [
      'another layer',
      (fs: FileSystem) =>
        restrict(
          observe(fs, () => {}),
          HIDES_G,
        ),
    ],
  ])('of a filesystem that hides a path in %s hides it in every state', async (_, layer) => {
    const base = sample(FILES);
    const fs = layer(base);
    const own = await fs.checkpoint('own');
    base.checkpointSync('of the owner');
    for (const state of [await fs.at(own), await fs.fork({ from: 'own' })]) {
      expect(await state.readdir('/')).toEqual(['d']);
      expect(await state.exists('/g')).toBe(false);
      await expect(state.readText('/g')).rejects.toThrow('refused');
    }
    for (const call of [() => fs.at('of the owner'), () => fs.fork({ from: 'of the owner' })])
      expect(await codeOf(call)).toBe('ENOENT');
  });

  it('and fork() search their own state through a guard over another layer', async () => {
    const fs = restrict(
      observe(sample(FILES), () => {}),
      PERMITS,
    );
    const [then, fork] = [await fs.at(await fs.checkpoint()), await fs.fork()];
    await fs.rename('/g', '/h');
    for (const state of [then, fork]) expect(await itemsOf(glob(state, '/*'))).toEqual(['/d', '/g']);
  });

  it('of a read-only view shows checkpoints of the lower filesystem', async () => {
    const base = sample(FILES);
    base.checkpointSync('before');
    base.writeFileSync('/g', 'later');
    expect(readonly(base).atSync('before').readTextSync('/g')).toBe('more');
    expect(await codeOf(() => readonly(base).forkSync({ from: 'before' }).writeFileSync('/g', 'x'))).toBe('EROFS');
  });

  it('of a mount shows each filesystem as it was, and read-only ones as they are', async () => {
    const [base, other, library] = [sample(FILES), sample({ '/x': 'y' }), sample({ '/lib': '1' })];
    const fs = mount(base, { '/m': other, '/lib': readonly(library) });
    const before = fs.checkpointSync();
    fs.writeFileSync('/g', 'later');
    fs.writeFileSync('/m/x', 'later');
    library.writeFileSync('/lib', '2');
    for (const then of [fs.atSync(before), await fs.at(before)])
      expect(['/g', '/m/x', '/lib/lib'].map((path) => then.readTextSync(path))).toEqual(['more', 'y', '2']);
    const fork = fs.forkSync({ from: before });
    fork.appendFileSync('/m/x', '!');
    expect([fork.readTextSync('/g'), fork.readTextSync('/m/x'), other.readTextSync('/x')]).toEqual([
      'more',
      'y!',
      'later',
    ]);
  });

  it('has no meaning inside a transaction', async () => {
    const fs = sample(FILES);
    const checkpoint = fs.checkpointSync();
    expect(await codeOf(() => fs.transaction((inside) => inside.at(checkpoint)))).toBe('EINVAL');
    expect(await codeOf(() => fs.transaction((inside) => inside.fork({ from: checkpoint })))).toBe('EINVAL');
  });

  it('can be read while a synchronous transaction runs, and after the filesystem was closed', async () => {
    const fs = sample(FILES);
    const then = fs.atSync(fs.checkpointSync());
    expect(fs.transactionSync(() => then.readTextSync('/g'))).toBe('more');
    await fs.close();
    expect(then.readTextSync('/g')).toBe('more');
  });

  it('is an operation with an event, whose detail is the checkpoint', () => {
    const events: unknown[] = [];
    const fs = observe(sample(FILES), ({ operation, detail }) => events.push([operation, detail]));
    fs.checkpointSync('c');
    fs.atSync('c').readTextSync('/g');
    expect(events).toEqual([
      ['checkpoint', 'c'],
      ['at', 'c'],
      ['readText', undefined],
    ]);
  });
});
