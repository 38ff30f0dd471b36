import { describe, expect, it } from 'vitest';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { MemoryFileSystem } from '../memory-file-system.js';
import { codeOf, promises, sample } from '../testing/sample-file-system.js';
import { WRITE_FILES as FILES, WRITES } from '../testing/writes.js';
import { HANDLE_METHODS, METHODS, namesOf } from './method-table.js';
import { observe } from './observe.js';
import { readonly } from './readonly.js';

const forms: Readonly<Record<string, (base: SyncFileSystem) => FileSystem>> = {
  'a filesystem of the engine': (base) => readonly(base),
  'any filesystem': (base) => readonly(observe(base, () => {})),
  'any filesystem of promises': (base) => readonly(promises(observe(base, () => {}))),
};

for (const [form, layer] of Object.entries(forms)) {
  describe(`readonly over ${form}`, () => {
    it('the list above contains every method that writes', () => {
      const args = ['/a', '/b'];
      const writing = namesOf(METHODS).filter((name) => {
        const { whole, paths } = METHODS[name];
        return whole === 'change' || paths(args).some(({ access }) => access === 'write' || access === 'remove');
      });
      expect(Object.keys(WRITES)).toEqual(expect.arrayContaining(writing));
    });

    for (const [name, write] of Object.entries(WRITES)) {
      it(`refuses ${name} and changes nothing`, async () => {
        const base = sample(FILES);
        base.checkpointSync('before');
        base.writeFileSync('/d/f', 'text');
        const before = base.toJSON();
        const ids = base.checkpointsSync();
        expect(await codeOf(() => write(layer(base)))).toBe('EROFS');
        expect(base.toJSON()).toEqual(before);
        expect(base.checkpointsSync()).toEqual(ids);
      });
    }

    it('reads the current state of the lower filesystem', async () => {
      const base = sample(FILES);
      const fs = layer(base);
      base.writeFileSync('/d/f', 'later');
      expect(await fs.readText('/d/f')).toBe('later');
      expect(await fs.readdir('/')).toEqual(['d', 'g']);
      expect(await fs.transaction((inside) => inside.readText('/g'))).toBe('more');
      expect(await fs.run((view) => view.tree.root.files, [])).toBe(2);
      expect(await new Response(fs.createReadStream('/g')).text()).toBe('more');
    });

    it('allows calls of writing methods that would change nothing', async () => {
      const fs = layer(sample(FILES));
      expect(await fs.mkdir('/d', { recursive: true })).toBeUndefined();
      expect(await codeOf(() => fs.mkdir('/d/new', { recursive: true }))).toBe('EROFS');
      expect(await codeOf(() => fs.rm('/missing', { force: true }))).toBeUndefined();
      expect(await codeOf(() => fs.rm('/g', { force: true }))).toBe('EROFS');
    });

    it('rejects access() for writing with EROFS, and allows it for reading', async () => {
      const fs = layer(sample(FILES));
      expect(await codeOf(() => fs.access('/g', 4))).toBeUndefined();
      expect(await codeOf(() => fs.access('/g', 2))).toBe('EROFS');
      expect(await codeOf(() => fs.access('/missing', 2))).toBe('ENOENT');
    });

    it('opens only handles that cannot change their file, even after it was unlinked', async () => {
      const base = sample(FILES);
      const handle = await layer(base).open('/g');
      base.unlinkSync('/g');
      for (const name of namesOf(HANDLE_METHODS)) {
        if ((HANDLE_METHODS[name].access as string) !== 'write') continue;
        const call = { write: ['x'], writeFile: ['x'], truncate: [], chmod: [0], chown: [1, 1], utimes: [0, 0] }[
          name as 'write'
        ];
        const method = (handle as unknown as Record<string, (...args: unknown[]) => unknown>)[name];
        expect(['EROFS', 'EBADF', 'EINVAL']).toContain(await codeOf(() => method?.apply(handle, call)));
      }
      expect(new TextDecoder().decode(await handle.readFile())).toBe('more');
      await handle.close();
    });

    it('stays read-only in its forks, which keep their state', async () => {
      const base = sample(FILES);
      const fork = await layer(base).fork();
      base.writeFileSync('/g', 'later');
      expect(await fork.readText('/g')).toBe('more');
      expect(await codeOf(() => fork.writeFile('/g', 'x'))).toBe('EROFS');
    });

    it('is closed with the lower filesystem, and does not close it', async () => {
      const base = sample(FILES);
      const [one, two] = [layer(base), layer(base)];
      await one.close();
      expect(await codeOf(() => one.stat('/g'))).toBe('EBADF');
      expect(await two.readText('/g')).toBe('more');
      await base.close();
      expect(await codeOf(() => two.stat('/g'))).toBe('EBADF');
    });
  });
}

describe('readonly', () => {
  it('refuses the …Sync methods too', async () => {
    const fs = readonly(sample(FILES));
    expect(await codeOf(() => fs.writeFileSync('/g', 'x'))).toBe('EROFS');
    expect(await codeOf(() => fs.rollbackSync('x'))).toBe('EROFS');
    expect(await codeOf(() => fs.transactionSync((inside) => inside.rmSync('/g')))).toBe('EROFS');
    expect(await codeOf(() => fs.runSync((view) => view.replaceAll(view.tree.root.meta, () => {}), []))).toBe('EROFS');
    expect(fs).toBeInstanceOf(MemoryFileSystem);
  });

  it('says in the error what to do instead', async () => {
    await expect(readonly(sample(FILES)).writeFile('/g', 'x')).rejects.toThrow(/read-only.*overlay/);
  });
});
