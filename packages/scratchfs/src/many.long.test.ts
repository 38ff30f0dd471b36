import { type Checkpoint, type FileHandle, type FileSystem, isFsError, openFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { createFileSystem } from './create-file-system.js';

const MANY = 10_000;

const forms: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => createFileSystem(),
  'memory with promises only': async () => openFileSystem(asyncMemoryStorage()),
};

for (const [form, open] of Object.entries(forms)) {
  describe(form, () => {
    it('can hold ten thousand files open, which follow their files, and releases them', async () => {
      const fs = await open();
      const handles: FileHandle[] = [];
      await fs.mkdir('/d');
      await fs.writeFile('/d/one', 'one');
      await fs.writeFile('/d/two', 'two');
      for (let i = 0; i < MANY; i++) handles.push(await fs.open(i % 2 === 0 ? '/d/one' : '/d/two', 'r+'));
      await fs.rename('/d', '/e');
      await fs.unlink('/e/one');
      await handles[MANY - 2]?.write('ONE', 0);
      const into = new Uint8Array(3);
      for (const i of [0, 1, 2, MANY - 2, MANY - 1]) {
        await handles[i]?.read(into, 0);
        expect(new TextDecoder().decode(into)).toBe(i % 2 === 0 ? 'ONE' : 'two');
      }
      for (const handle of handles) await handle.close();
      await fs.unlink('/e/two');
      expect((await fs.stats()).fileCount).toBe(0);
    });

    it('keeps ten thousand checkpoints of any name, each name once', async () => {
      const fs = await open();
      for (const name of ['__proto__', 'constructor', 'a/b', '..', '\u{1f600}', 'x'.repeat(255)]) {
        await fs.writeFile('/f', name);
        const { id } = await fs.checkpoint(name);
        await fs.writeFile('/f', 'later');
        await fs.rollback(name);
        expect(await fs.readText('/f')).toBe(name);
        expect(await fs.checkpoint(name).catch((error: unknown) => isFsError(error, 'EEXIST'))).toBe(true);
        expect((await fs.checkpoints()).filter((one) => one.id === id && one.name === name)).toHaveLength(1);
      }
      const held = (await fs.checkpoints()).length;
      for (const name of ['', 'x'.repeat(256), '\ud800'])
        expect(await fs.checkpoint(name).catch((error: unknown) => isFsError(error, 'EINVAL'))).toBe(true);
      await expect(fs.checkpoint('a\0b')).rejects.toBeInstanceOf(TypeError);
      await expect(fs.checkpoint(null as never)).rejects.toBeInstanceOf(TypeError);
      expect(await fs.checkpoints()).toHaveLength(held);
      const made: Checkpoint[] = [];
      for (let i = 0; i < MANY; i++) made.push(await fs.checkpoint());
      expect(new Set(made.map(({ id }) => id)).size).toBe(MANY);
      expect(await fs.checkpoints()).toHaveLength(held + MANY);
      for (const checkpoint of made) await fs.drop(checkpoint);
      expect(await fs.checkpoints()).toHaveLength(held);
    });

    it('ends handles, walks and streams of a transaction with it', async () => {
      const fs = await open();
      for (const name of ['a', 'b', 'c']) await fs.writeFile(`/${name}`, name);
      const left = await fs.transaction(async (inside) => {
        const walk = inside.walk();
        expect((await walk.next()).value?.path).toBe('/a');
        const handle = await inside.open('/a');
        const stream = inside.createReadStream('/b').getReader();
        return [() => walk.next(), () => handle.readFile(), () => stream.read(), () => inside.readText('/c')];
      });
      for (const use of left) expect(await use().catch((error: unknown) => isFsError(error, 'EBADF'))).toBe(true);
    });
  });
}

it('a synchronous walk ends with its transaction too', () => {
  const fs = createFileSystem({ files: { '/a': '', '/b': '' } });
  const walk = fs.transactionSync((inside) => {
    const begun = inside.walkSync();
    expect(begun.next().value?.path).toBe('/a');
    return begun;
  });
  expect(() => walk.next()).toThrow(/The transaction has ended/);
});
