import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { DiskObjectStore } from './disk-object-store.js';
import { DiskStorage } from './disk-storage.js';
import { NumberedHeads } from './numbered-heads.js';
import type { DiskStorageOptions } from './options.js';
import { StoreDirectory, type TemporaryFile } from './store-directory.js';

const root = await mkdtemp(join(tmpdir(), 'scratchfs-disk-'));
afterAll(() => rm(root, { recursive: true, force: true }));

let made = 0;
const newDirectory = (): string => join(root, String(made++));

const open = (directory: string, options: DiskStorageOptions = {}): Promise<FileSystem> =>
  openFileSystem(new DiskStorage(directory, { durability: 'process', ...options }));

const heads = (directory: string, name = 'default'): string => join(directory, name, 'heads');

describe('DiskStorage', () => {
  it('keeps files, checkpoints and limits for the next process', async () => {
    const directory = newDirectory();
    const fs = await openFileSystem(new DiskStorage(directory), { limits: { maxNodeCount: 50 } });
    await fs.mkdir('/src/deep', { recursive: true });
    await fs.writeFile('/src/deep/a.txt', 'one');
    await fs.checkpoint('before');
    await fs.writeFile('/src/deep/a.txt', 'two');
    await fs.close();
    const again = await openFileSystem(new DiskStorage(directory), { limits: 'stored' });
    expect(await again.readText('/src/deep/a.txt')).toBe('two');
    expect(again.limits).toEqual({ maxNodeCount: 50 });
    await again.rollback('before');
    expect(await again.readText('/src/deep/a.txt')).toBe('one');
    await again.close();
  });

  it('creates directories and files that only their owner can read', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.writeFile('/secret', 'x');
    await fs.close();
    for (const path of [directory, join(directory, 'default'), heads(directory)])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
    const objects = join(directory, 'default', 'objects');
    for (const file of [...(await readdir(objects)).map((name) => join(objects, name)), join(heads(directory), '1')])
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(directory, 'default', 'temporary'))).toEqual([]);
  });

  it('changes nothing on the disk before the first write, and by reading', async () => {
    const directory = newDirectory();
    const storage = new DiskStorage(directory, { create: false });
    await expect(openFileSystem(storage)).rejects.toMatchObject({ kind: 'lost' });
    await storage.close();
    await expect(stat(directory)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await DiskStorage.list(directory)).toEqual([]);
  });

  it('holds several filesystems by name, which are listed and destroyed', async () => {
    const directory = newDirectory();
    const one = new DiskStorage(directory, { name: 'one', durability: 'process' });
    const fs = await openFileSystem(one);
    await fs.writeFile('/a', '1');
    const other = await open(directory, { name: 'other' });
    await other.writeFile('/a', '2');
    await mkdir(join(directory, 'not-a-filesystem'));
    await writeFile(join(directory, 'notes.txt'), 'x');
    expect(await DiskStorage.list(directory)).toEqual(['one', 'other']);
    await one.destroy();
    expect(await DiskStorage.list(directory)).toEqual(['other']);
    expect(await readdir(join(directory, 'one', 'objects'))).toEqual([]);
    expect(await other.readText('/a')).toBe('2');
    const fresh = await open(directory, { name: 'one' });
    expect(await fresh.readdir('/')).toEqual([]);
    await Promise.all([fs.close(), other.close(), fresh.close()]);
  });

  it('opens by URL', async () => {
    const directory = newDirectory();
    const fs = await openFileSystem(new DiskStorage(`file://${directory}?name=by-url&durability=process`));
    await fs.writeFile('/a', 'x');
    await fs.close();
    expect(await DiskStorage.list(new URL(`file://${directory}`))).toEqual(['by-url']);
  });

  it.each([
    ['', {}, /path or a file: URL/],
    ['file://%zz', {}, /must look like file:/],
    ['file:./data', {}, /must look like file:/],
    ['file:///data#part', {}, /must look like file:/],
    ['file:///x?nam=a', {}, /unknown parameter 'nam'. Known are name, durability/],
    ['/x', { name: '../escape' }, /cannot be the name of a filesystem. Allowed are/],
    ['/x', { name: 'a'.repeat(300) }, /cannot be the name/],
    ['/x', { name: '\ud800' }, /cannot be the name/],
    ['/x', { durability: 'maybe' }, /must be "fsync" or "process"/],
    ['/x', { nmae: 'a' }, /nmae/],
  ])('refuses the directory %j with options %j', (directory, options, message) => {
    expect(() => new DiskStorage(directory, options as DiskStorageOptions)).toThrow(message);
  });

  it('accepts __proto__ as a file, and 255-byte names', async () => {
    const fs = await open(newDirectory());
    await fs.writeFile('/__proto__', 'x');
    await fs.writeFile(`/${'n'.repeat(255)}`, 'y');
    expect(await fs.readText('/__proto__')).toBe('x');
    await expect(fs.writeFile(`/${'n'.repeat(300)}`, 'y')).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    await fs.close();
  });
});

describe('DiskStorage in a directory of somebody else', () => {
  it('refuses one that others can write to', async () => {
    const directory = newDirectory();
    await mkdir(directory);
    await chmod(directory, 0o777);
    await expect(open(directory)).rejects.toMatchObject({ kind: 'denied', message: /mode 777.*chmod 700/ });
    expect(await readdir(directory)).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'refuses one that belongs to another user (needs root to create it)',
    async () => {
      const { chown } = await import('node:fs/promises');
      const directory = newDirectory();
      await mkdir(directory, { mode: 0o700 });
      await chown(directory, 4321, 4321);
      await expect(open(directory)).rejects.toMatchObject({ kind: 'denied', message: /belongs to user 4321/ });
    },
  );

  it('refuses a file in its place', async () => {
    const directory = newDirectory();
    await writeFile(directory, 'x');
    await expect(open(directory)).rejects.toMatchObject({ kind: 'denied', message: /is not a directory/ });
    expect(await readFile(directory, 'utf8')).toBe('x');
  });
});

describe('DiskStorage whose directory changes in use', () => {
  it('removes temporary files that killed processes left an hour ago', async () => {
    const directory = newDirectory();
    await (await open(directory)).close();
    const [old, young] = ['old', 'young'].map((name) => join(directory, 'default', 'temporary', name)) as [
      string,
      string,
    ];
    for (const path of [old, young]) await writeFile(path, 'x');
    await utimes(old, 0, Date.now() / 1_000 - 4_000);
    const fs = await open(directory);
    await fs.writeFile('/a', 'x');
    await expect.poll(() => readdir(join(directory, 'default', 'temporary'))).toEqual(['young']);
    await fs.close();
  });

  it('completes a directory of which only a part was created', async () => {
    const directory = newDirectory();
    await mkdir(heads(directory), { recursive: true, mode: 0o700 });
    const fs = await open(directory);
    await fs.writeFile('/a', 'x');
    expect(await fs.readText('/a')).toBe('x');
    await fs.close();
  });

  it('fails as lost if the directory vanishes, and does not create it again', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.writeFile('/a', 'x');
    await rename(directory, `${directory}-moved`);
    await expect(fs.readText('/a')).rejects.toMatchObject({ kind: 'lost' });
    await expect(fs.writeFile('/b', 'x')).rejects.toMatchObject({ kind: 'lost' });
    await expect(stat(directory)).rejects.toMatchObject({ code: 'ENOENT' });
    await fs.close();
  });

  it('fails as lost if another filesystem takes its place', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.writeFile('/a', 'x');
    await rename(directory, `${directory}-moved`);
    const other = await open(directory);
    await other.writeFile('/a', 'other');
    await expect(fs.writeFile('/a', 'x')).rejects.toMatchObject({ kind: 'lost', message: /replaced/ });
    expect(await other.readText('/a')).toBe('other');
    await Promise.all([fs.close(), other.close()]);
  });

  it('refuses a newer format unchanged', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.writeFile('/a', 'x');
    await fs.close();
    const [last] = (await readdir(heads(directory))).map(Number).sort((a, b) => b - a);
    const path = join(heads(directory), String(last));
    const newer = (await readFile(path, 'latin1')).replace('scratchfs-disk 1', 'scratchfs-disk 2');
    await writeFile(path, newer, 'latin1');
    await expect(open(directory)).rejects.toMatchObject({ kind: 'version', message: /format 2.*Update/ });
    expect(await readFile(path, 'latin1')).toBe(newer);
  });

  it('reports a damaged head as corrupt', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.close();
    await writeFile(join(heads(directory), '7'), 'garbage');
    await expect(open(directory)).rejects.toMatchObject({ kind: 'corrupt' });
  });
});

describe('watch() on a disk', () => {
  it('reports the changes of another client, also if nothing has been written before', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    const events = fs.watch('/')[Symbol.asyncIterator]();
    const first = events.next();
    const other = await open(directory);
    await other.writeFile('/a', 'x');
    expect((await first).value).toEqual({ type: 'overflow', path: '/' });
    expect(await fs.readText('/a')).toBe('x');
    const second = events.next();
    await fs.writeFile('/b', 'x');
    expect((await second).value).toMatchObject({ type: 'create', path: '/b' });
    await events.return?.(undefined);
    await Promise.all([fs.close(), other.close()]);
  });

  it('reports that a directory which did not exist at first cannot be watched', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const directory = newDirectory();
      const failures: unknown[] = [];
      new DiskObjectStore(directory, 'default', false).watch(
        () => {},
        (error) => failures.push(error),
      );
      await mkdir(join(directory, 'default'), { recursive: true });
      await symlink('heads', heads(directory));
      vi.advanceTimersByTime(3_000);
      expect(failures).toEqual([
        expect.objectContaining({ kind: 'unavailable', message: expect.stringContaining('ELOOP') }),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends as lost if the directory vanishes', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.writeFile('/a', 'x');
    const next = fs.watch('/')[Symbol.asyncIterator]().next();
    const failure = expect(next).rejects.toMatchObject({ kind: 'lost' });
    await rename(directory, `${directory}-moved`);
    await failure;
    await fs.close();
  });
});

describe('The objects of DiskStorage', () => {
  it('may be larger than one object together', async () => {
    const directory = newDirectory();
    const fs = await open(directory);
    await fs.transaction(async (tx) => {
      for (let i = 0; i < 1_000; i++) await tx.writeFile(`/f${i}`, new Uint8Array(10_000).fill(i));
    });
    const other = await open(directory, { maxCacheBytes: 0 });
    for (const i of [0, 500, 999]) expect(await other.readFile(`/f${i}`)).toEqual(new Uint8Array(10_000).fill(i));
    await Promise.all([fs.close(), other.close()]);
  });
});

describe('The heads of DiskStorage', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const newStore = (directory = newDirectory()): DiskObjectStore => new DiskObjectStore(directory, 'main', false);

  it('let one of 20 racing writers win', async () => {
    const directory = newDirectory();
    const stores = Array.from({ length: 20 }, () => newStore(directory));
    const first = await stores[0]?.swapHead(bytes('first'), undefined);
    const won = await Promise.all(stores.map((store, i) => store.swapHead(bytes(`writer ${i}`), first)));
    const winners = won.flatMap((tag, i) => (tag === undefined ? [] : [i]));
    expect(winners.length).toBe(1);
    expect(await newStore(directory).readHead(undefined)).toEqual({
      tag: won[winners[0] as number],
      bytes: bytes(`writer ${winners[0]}`),
    });
  });

  it('do not let a writer that slept through a hundred commits succeed, whichever head it knew', async () => {
    const directory = newDirectory();
    const store = newStore(directory);
    const tags: string[] = [];
    for (let i = 1; i <= 100; i++) tags.push((await store.swapHead(bytes(String(i)), tags.at(-1))) as string);
    expect((await readdir(heads(directory, 'main'))).length).toBeLessThan(60);
    for (const asleep of [1, 2, 5, 40, 50]) {
      // The first attempt creates a number again, and its outcome is unknown; the second one finds that file.
      for (let attempt = 0; attempt < 2; attempt++) {
        const late = newStore(directory).swapHead(bytes('late'), tags[asleep - 1]);
        const outcome = await late.catch(({ mayHaveHappened }: { mayHaveHappened: boolean }) => ({ mayHaveHappened }));
        expect([undefined, { mayHaveHappened: true }]).toContainEqual(outcome);
      }
    }
    expect(await store.readHead(undefined)).toEqual({ tag: tags.at(-1), bytes: bytes('100') });
    expect(await store.swapHead(bytes('next'), tags.at(-1))).toBeDefined();
  });

  it('are reported as possibly replaced if something fails after the new one was created', async () => {
    const directory = newDirectory();
    const store = newStore(directory);
    const first = await store.swapHead(bytes('first'), undefined);
    class Failing extends StoreDirectory {
      override async write<T>(
        folder: string,
        content: Uint8Array,
        place: (file: TemporaryFile) => Promise<T>,
      ): Promise<T> {
        await super.write(folder, content, place);
        throw Object.assign(new Error('no more files'), { code: 'EMFILE', syscall: 'open' });
      }
    }
    const failing = new NumberedHeads(new Failing(directory, 'main', false));
    await expect(failing.swap(bytes('second'), first)).rejects.toMatchObject({
      kind: 'unavailable',
      mayHaveHappened: true,
    });
    expect(await store.readHead(undefined)).toMatchObject({ bytes: bytes('second') });
  });

  it('are unchanged until another client replaces them, once or many times, or deletes the filesystem', async () => {
    const directory = newDirectory();
    const [one, other] = [newStore(directory), newStore(directory)];
    const swapped = async (store: DiskObjectStore, tag: string | undefined): Promise<string> =>
      (await store.swapHead(bytes(String(tag)), tag)) as string;
    const known = [await swapped(one, undefined)];
    for (const commits of [1, 2, 100]) {
      const tag = known.at(-1) as string;
      expect(await one.readHead(tag)).toBe('unchanged');
      let newest = tag;
      for (let i = 0; i < commits; i++) newest = await swapped(other, newest);
      expect(await one.readHead(tag)).toMatchObject({ tag: newest });
      known.push(newest);
    }
    for (const tag of known.slice(0, -1)) expect(await one.readHead(tag)).toMatchObject({ tag: known.at(-1) });
    // The file of the head is another one, as after a backup was restored: it is read again.
    const file = join(heads(directory, 'main'), (known.at(-1) as string).split('-')[0] as string);
    const text = await readFile(file, 'latin1');
    await rm(file);
    await writeFile(file, text.replace(/[0-9a-f]{32}/, '0'.repeat(32)), 'latin1');
    expect(await one.readHead(known.at(-1))).toMatchObject({ tag: expect.stringMatching(/-0{32}$/) });
    await other.deleteHead();
    expect(await one.readHead(known.at(-1))).toBeUndefined();
  });

  it('never use a number again after the filesystem was deleted', async () => {
    const directory = newDirectory();
    const store = newStore(directory);
    const first = await store.swapHead(bytes('first'), undefined);
    await store.deleteHead();
    expect(await store.readHead(undefined)).toBeUndefined();
    expect(await store.swapHead(bytes('late'), first)).toBeUndefined();
    await store.deleteHead();
    const next = await store.swapHead(bytes('next'), undefined);
    expect(next).not.toBe(first);
    expect(await store.swapHead(bytes('late'), first)).toBeUndefined();
    expect(await store.readHead(next)).toBe('unchanged');
  });
});
