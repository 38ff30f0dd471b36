import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { DiskStorage } from '@scratchfs/disk';
import { createStorage } from 'unstorage';
import fsDriver from 'unstorage/drivers/fs';
import { median } from './median.js';
import { compare, inLanes, type Measured, type Setting, type Times, timed } from './remote-harness.js';

interface Contender {
  write(key: number, bytes: Buffer): Promise<unknown>;
  read(key: number): Promise<unknown>;
  close(): Promise<unknown> | unknown;
}

const KEYS = 256;
const BYTES = Buffer.alloc(1_000, 0x61);
const WARM_UP_OPERATIONS = 500;
const SMALL_FILES = 1_000;

/** Files written under a temporary name and renamed, so that a reader never sees half of one. */
const raw =
  (isFlushed: boolean) =>
  async (directory: string): Promise<Contender> => {
    await mkdir(directory);
    const path = (key: number): string => join(directory, String(key));
    let writes = 0;
    return {
      async write(key, bytes) {
        const temporary = join(directory, `temporary-${writes++}`);
        if (isFlushed) {
          const file = await open(temporary, 'w');
          await file.writeFile(bytes);
          await file.sync();
          await file.close();
        } else await writeFile(temporary, bytes);
        await rename(temporary, path(key));
      },
      read: (key) => readFile(path(key)),
      close: () => {},
    };
  };

const scratchfs =
  (durability: 'fsync' | 'process') =>
  async (directory: string): Promise<Contender> => {
    const fs = await openFileSystem(new DiskStorage(directory, { durability }));
    return {
      write: (key, bytes) => fs.writeFile(`/${key}`, bytes),
      read: (key) => fs.readFile(`/${key}`),
      close: () => fs.close(),
    };
  };

const CONTENDERS: Readonly<Record<string, (directory: string) => Promise<Contender>>> = {
  'files, renamed': raw(false),
  'files, fsync': raw(true),
  unstorage: async (directory) => {
    const storage = createStorage({ driver: fsDriver({ base: directory }) });
    return {
      write: (key, bytes) => storage.setItemRaw(String(key), bytes),
      read: (key) => storage.getItemRaw(String(key)),
      close: () => storage.dispose(),
    };
  },
  'scratchfs, process': scratchfs('process'),
  'scratchfs, fsync': scratchfs('fsync'),
};

async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'scratchfs-bench-'));
  try {
    return await work(join(root, 'data'));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function measure(name: string, setting: Setting): Promise<Measured<Times>> {
  return inDirectory(async (directory) => {
    const contender = await (CONTENDERS[name] as (typeof CONTENDERS)[string])(directory);
    const write = (key: number): Promise<unknown> => contender.write(key, BYTES);
    const read = (key: number): Promise<unknown> => contender.read(key);
    await inLanes({ ...setting, operations: Math.max(KEYS, WARM_UP_OPERATIONS) }, KEYS, write);
    await inLanes({ ...setting, operations: WARM_UP_OPERATIONS }, KEYS, read);
    const measured = {
      write: await timed(setting.operations, () => inLanes(setting, KEYS, write)),
      read: await timed(setting.operations, () => inLanes(setting, KEYS, read)),
    };
    await contender.close();
    return measured;
  });
}

/** Returns the milliseconds that a transaction with 1,000 new files takes. */
function timeTransaction(durability: 'fsync' | 'process'): Promise<number> {
  return inDirectory(async (directory) => {
    const fs = await openFileSystem(new DiskStorage(directory, { durability }));
    const started = performance.now();
    await fs.transaction(async (tx) => {
      for (let i = 0; i < SMALL_FILES; i++) await tx.writeFile(`/file-${i}`, BYTES);
    });
    const milliseconds = performance.now() - started;
    await fs.close();
    return milliseconds;
  });
}

/** Runs the disk part of `npm run bench -- remote`, in the directory for temporary files. */
export async function benchDisk(rounds: number): Promise<void> {
  await compare(
    {
      title: `Disk (${tmpdir()}): contents of 1,000 bytes in ${KEYS} places`,
      contenders: Object.keys(CONTENDERS),
      settings: [
        { title: 'one by one', atOnce: 1, operations: 2_000 },
        { title: '64 at once', atOnce: 64, operations: 5_000 },
      ],
      measure,
      columns: [
        ['wall', 'wall', 1],
        ['cpu', 'cpu', 1],
      ],
      baselines: [
        ['files', ['files, renamed']],
        ['files, fsync', ['files, fsync']],
      ],
    },
    rounds,
  );
  for (const durability of ['process', 'fsync'] as const) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await timeTransaction(durability));
    console.log(`\n${SMALL_FILES} new files in one transaction (${durability}): ${median(times).toFixed(0)} ms`);
  }
}
