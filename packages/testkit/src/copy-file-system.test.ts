import { asyncForm, type FileSystem, MemoryStorage, openFileSystem } from '@scratchfs/core';
import { copyFileSystem } from '@scratchfs/core/checkpoints';
import { objectTreeStorage } from '@scratchfs/core/object-tree';
import { describe, expect, it } from 'vitest';
import { type Dump, differences, dump } from './dump.js';
import { MemoryObjectStore } from './stores/memory-object-store.js';

const FORMS: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => openFileSystem(new MemoryStorage()),
  'memory with promises': () => openFileSystem(asyncForm(new MemoryStorage())),
  'an object tree': () => openFileSystem(objectTreeStorage(new MemoryObjectStore())),
};
const PAIRS = Object.keys(FORMS).flatMap((from) => Object.keys(FORMS).map((to) => [from, to] as const));

const open = (form: string): Promise<FileSystem> => (FORMS[form] as () => Promise<FileSystem>)();

/** Counts the bytes that are stored. */
class CountingStore extends MemoryObjectStore {
  bytes = 0;

  override async put(name: string, bytes: Uint8Array): Promise<void> {
    this.bytes += bytes.length;
    await super.put(name, bytes);
  }
}

/** A filesystem with every kind of thing, and three checkpoints between which it changes. */
async function varied(form: string): Promise<FileSystem> {
  const fs = await open(form);
  await fs.mkdir('/d/deep', { recursive: true });
  await fs.writeFile('/d/a', 'one');
  await fs.link('/d/a', '/d/deep/second');
  await fs.writeFile('/d/gone', 'gone');
  await fs.writeFile('/kind', 'a file');
  await fs.symlink('d/a', '/link');
  await fs.chmod('/d/a', 0o640);
  await fs.chown('/d', 12, 34);
  await fs.utimes('/d/a', 1, 2);
  await fs.utimes('/d', 3, 4);
  await fs.checkpoint('first');
  await fs.writeFile('/d/deep/second', 'two');
  await fs.link('/d/a', '/a third');
  await fs.rm('/d/gone');
  await fs.rm('/kind');
  await fs.mkdir('/kind');
  await fs.checkpoint();
  await fs.rename('/d/deep', '/moved');
  await fs.unlink('/link');
  await fs.link('/kind/../d/a', '/link');
  await fs.writeFile('/d/a', 'four');
  await fs.rm('/a third');
  await fs.writeFile('/a third', 'apart');
  await fs.checkpoint('third');
  await fs.chmod('/moved', 0o700);
  await fs.writeFile('/__proto__', new Uint8Array([0, 255]));
  await fs.utimes('/', 5, 6);
  return fs;
}

/** Returns the differences of all states of two filesystems. */
async function compare(from: FileSystem, to: FileSystem): Promise<string[]> {
  const found = differences(await dump(from), await dump(to));
  const [ours, theirs] = [await from.checkpoints(), await to.checkpoints()];
  expect(theirs.map(({ name }) => name)).toEqual(ours.map(({ name }) => name));
  for (const [i, checkpoint] of ours.entries()) {
    const copy = theirs[i] as (typeof theirs)[number];
    found.push(...differences(await dump(await from.at(checkpoint)), await dump(await to.at(copy))));
  }
  return found;
}

describe('copyFileSystem', () => {
  it.each(PAIRS)('copies every state exactly from %s to %s', async (from, to) => {
    const [source, target] = [await varied(from), await open(to)];
    const reports: number[] = [];
    const { mapped, ...counts } = await copyFileSystem(source, target, {
      progress: ({ files }) => reports.push(files),
    });
    expect(await compare(source, target)).toEqual([]);
    expect(mapped.map(({ from, to }) => [from.name, to.name])).toEqual([
      ['first', 'first'],
      [undefined, undefined],
      ['third', 'third'],
    ]);
    expect(counts.checkpoints).toBe(3);
    expect(reports.at(-1)).toBe(counts.files);
  });

  it('stores what does not change between checkpoints once', async () => {
    const source = await open('memory');
    for (let i = 0; i < 50; i++) await source.writeFile(`/f${i}`, 'x');
    for (let i = 0; i < 5; i++) {
      await source.writeFile('/f0', `changed ${i}`);
      await source.checkpoint();
    }
    const { files } = await copyFileSystem(source, await open('an object tree'));
    expect(files).toBe(50 + 4);
  });

  it('copies large files in pieces, and keeps their holes', async () => {
    const source = await open('memory');
    await source.writeFile('/sparse', 'begin');
    await source.truncate('/sparse', 20_000_000);
    const handle = await source.open('/sparse', 'r+');
    await handle.write('end', 19_999_997);
    await handle.close();
    await source.chmod('/sparse', 0o600);
    await source.chown('/sparse', 12, 34);
    await source.utimes('/sparse', 1, 2);
    const store = new CountingStore();
    const target = await openFileSystem(objectTreeStorage(store));
    await copyFileSystem(source, target);
    const withoutChange = ({ entries }: Dump) => entries.map((entry) => ({ ...entry, changedAt: 0 }));
    expect(withoutChange(await dump(target))).toEqual(withoutChange(await dump(source)));
    expect(store.bytes).toBeLessThan(1_000_000);
  });

  it('refuses a target that is not empty, and changes nothing', async () => {
    const source = await varied('memory');
    const used = await open('memory');
    await used.writeFile('/a', 'x');
    await expect(copyFileSystem(source, used)).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    expect(await used.readdir('/')).toEqual(['a']);
    const kept = await open('memory');
    await kept.checkpoint('kept');
    await expect(copyFileSystem(source, kept)).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  });

  it('says how many checkpoints a target must allow, and writes nothing if it allows fewer', async () => {
    const source = await varied('memory');
    for (const form of Object.keys(FORMS)) {
      const target = await open(form);
      await target.setLimits({ maxCheckpoints: 3 });
      await expect(copyFileSystem(source, target)).rejects.toMatchObject({
        code: 'ENOSPC',
        limit: 'maxCheckpoints',
        requested: 4,
        allowed: 3,
        message: expect.stringMatching(/3 are copied, and the copy needs one more.*maxCheckpoints to 4/),
      });
      expect([await target.readdir('/'), await target.checkpoints()]).toEqual([[], []]);
      await target.setLimits({ maxCheckpoints: 4 });
      await copyFileSystem(source, target);
      await target.setLimits({ maxCheckpoints: 3 });
      expect(await compare(source, target)).toEqual([]);
    }
  });

  it.each([
    ['memory', 1],
    ['an object tree', 7],
  ])('starts again after an interruption: %s, each of %i steps', async (form, stride) => {
    const source = await varied('memory');
    for (let step = 1; ; step += stride) {
      const target = await open(form);
      const controller = new AbortController();
      let seen = 0;
      const progress = (): void => {
        seen++;
        if (seen === step) controller.abort(new Error('stopped'));
      };
      const { signal } = controller;
      const outcome = await copyFileSystem(source, target, { progress, signal }).then(
        () => 'copied',
        (error: Error) => error.message,
      );
      if (outcome !== 'copied') {
        expect(outcome).toBe('stopped');
        await expect(copyFileSystem(target, await open('memory'))).rejects.toMatchObject({ code: 'EBUSY' });
        await copyFileSystem(source, target);
      }
      expect(await compare(source, target)).toEqual([]);
      if (seen < step) break;
      expect(step).toBeLessThan(100);
    }
  });

  it('reports a source that changes during the call', async () => {
    const source = await open('memory');
    for (let i = 0; i < 300; i++) await source.writeFile(`/f${i}`, 'x');
    let written = false;
    let writing: Promise<void> | undefined;
    const progress = ({ files }: { readonly files: number }): void => {
      if (files === 0) return;
      if (!written) writing = source.appendFile('/f99', 'longer');
      written = true;
    };
    await expect(copyFileSystem(source, await open('memory'), { progress })).rejects.toMatchObject({ code: 'EIO' });
    await writing;
  });

  it('reports a large file that is overwritten with the same length during the call', async () => {
    const source = openFileSystem(new MemoryStorage());
    await source.writeFile('/large', new Uint8Array(5 * 2 ** 20).fill(1));
    let written = false;
    const progress = ({ files }: { readonly files: number }): void => {
      if (files === 0) return;
      if (!written) source.writeFileSync('/large', new Uint8Array(5 * 2 ** 20).fill(2));
      written = true;
    };
    await expect(copyFileSystem(source, await open('memory'), { progress })).rejects.toMatchObject({ code: 'EIO' });
  });

  it('keeps the order of checkpoints if the clock is set back', async () => {
    let time = 1_000;
    const source = openFileSystem(new MemoryStorage(), { clock: () => time-- });
    for (const name of ['one', 'two', 'three']) await source.checkpoint(name);
    const target = await open('memory');
    await copyFileSystem(source, target);
    expect((await target.checkpoints()).map(({ name }) => name)).toEqual(['one', 'two', 'three']);
  });

  it('is not interrupted once the target is complete', async () => {
    const source = await varied('memory');
    const target = await open('memory');
    const controller = new AbortController();
    const { signal } = controller;
    const drop = target.drop.bind(target);
    Object.defineProperty(target, 'drop', {
      value: (...args: Parameters<typeof drop>) => {
        controller.abort();
        return drop(...args);
      },
    });
    expect(await copyFileSystem(source, target, { signal })).toMatchObject({ checkpoints: 3 });
    expect(signal.aborted).toBe(true);
    expect(await compare(source, target)).toEqual([]);
  });

  it('refuses wrong arguments', async () => {
    const fs = await open('memory');
    await expect(copyFileSystem({} as FileSystem, fs)).rejects.toThrow(TypeError);
    await expect(copyFileSystem(fs, fs, { progress: 1 } as never)).rejects.toThrow(/progress must be a function/);
    await expect(copyFileSystem(fs, fs, { progres: 1 } as never)).rejects.toThrow(/progres/);
  });
});
