import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import {
  backendSuite,
  type CreateOptions,
  fileSystemSuite,
  objectStoreFaults,
  objectStoreSuite,
  SlowStore,
  storageSuite,
  workingCopySuite,
} from '@scratchfs/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { DiskObjectStore } from './disk-object-store.js';
import { DiskStorage } from './disk-storage.js';

const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-disk-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const newDirectory = (): string => join(root, String(made++));

describe('DiskStorage', () => {
  const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
  objectStoreSuite({
    test,
    methods: ['watch', 'deleteHead'],
    watchTimeoutMs: 60_000,
    open: (place) => new DiskObjectStore(root, place.toLowerCase().replaceAll('/', '-'), false),
    listedObjects: 200,
  });
  backendSuite({ test, create: () => new ObjectTreeBackend(new DiskObjectStore(newDirectory(), 'main', false)) });
  storageSuite({ test, create: ({ clock }) => new DiskStorage(newDirectory(), { clock, durability: 'process' }) });
  workingCopySuite({
    test,
    histories: 2,
    create: () => {
      const directory = newDirectory();
      const open = (): DiskStorage => new DiskStorage(directory, { durability: 'process' });
      return { ours: open(), theirs: open() };
    },
  });

  const fileSystem = ({ clock, limits }: CreateOptions): Promise<FileSystem> =>
    openFileSystem(new DiskStorage(newDirectory(), { clock, durability: 'process' }), { clock, limits });
  fileSystemSuite({ test, create: fileSystem });
});

describe('A disk whose calls fail', () => {
  const store = (): DiskObjectStore => new DiskObjectStore(newDirectory(), 'main', false);

  it.each([false, true])('leaves the state that was reported, with faults that stay: %s', async (forever) => {
    const { faults, problems } = await objectStoreFaults({ create: store, forever, every: 7 });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(40);
  });

  it('loses no write of two clients if every call takes long', async () => {
    const shared = store();
    const clients = await Promise.all(
      [1, 2].map(() => {
        const backend = new ObjectTreeBackend(new SlowStore(shared, () => 20));
        return openFileSystem(asyncStorage(backend));
      }),
    );
    const [one] = clients as [FileSystem];
    await one.writeFile('/log', '');
    await Promise.all(clients.flatMap((fs) => [1, 2].map(() => fs.appendFile('/log', 'x'))));
    expect(await one.readText('/log')).toBe('xxxx');
    await Promise.all(clients.map((fs) => fs.close()));
  });
});
