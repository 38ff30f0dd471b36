import { asyncStorage, type Backend, type FileSystem, openFileSystem } from '@scratchfs/core';
import { glob, grep } from '@scratchfs/core/search';
import { createSnapshot } from '@scratchfs/core/snapshot';

/** The number of requests that an operation may cost over any remote storage. */
export interface RequestBudget {
  readonly work: (fs: FileSystem) => Promise<unknown>;
  /** Called before the measured operation, to fill the client's cache. */
  readonly warm?: (fs: FileSystem) => Promise<unknown>;
  readonly most: number;
}

const FILE = '/t/d1/f2';
const all = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
};

const read = (fs: FileSystem): Promise<unknown> => fs.readFile(FILE);
const listed = (fs: FileSystem): Promise<unknown> => fs.entries('/l');

/** Budgets over the tree that `createBudgetFiles` makes. */
export const REQUEST_BUDGETS: Readonly<Record<string, RequestBudget>> = {
  'a read, cold': { work: read, most: 1 },
  'a read, warm': { work: read, warm: read, most: 1 },
  'a stat, cold': { work: (fs) => fs.stat(FILE), most: 1 },
  'a stat, warm': { work: (fs) => fs.stat(FILE), warm: read, most: 1 },
  'exists, warm': { work: (fs) => fs.exists(FILE), warm: read, most: 1 },
  'a list of 1,000 entries with metadata, cold': { work: listed, most: 2 },
  'a list of 1,000 entries with metadata, warm': { work: listed, warm: listed, most: 1 },
  'a write, cold': { work: (fs) => fs.writeFile(FILE, 'y'), most: 2 },
  'a write, warm': { work: (fs) => fs.writeFile(FILE, 'y'), warm: read, most: 1 },
  'mkdir -p, cold': { work: (fs) => fs.mkdir('/t/x/y/z', { recursive: true }), most: 2 },
  'rename of a directory, cold': { work: (fs) => fs.rename('/t/d2', '/t/moved'), most: 3 },
  'rm -r, cold': { work: (fs) => fs.rm('/t/d3', { recursive: true }), most: 2 },
  'cp -r, cold': { work: (fs) => fs.cp('/t/d4', '/t/copy', { recursive: true }), most: 3 },
  'a walk of 5,000 files': { work: (fs) => all(fs.walk('/t')), most: 3 },
  'glob over 5,000 files': { work: (fs) => all(glob(fs, '/t/**/f2*')), most: 3 },
  'grep through 5,000 files': { work: (fs) => all(grep(fs, 'nowhere', { paths: '/t' })), most: 24 },
  'a snapshot of 6,000 files': { work: (fs) => createSnapshot(fs), most: 20 },
  'a transaction of 1,000 new files': {
    work: (fs) =>
      fs.transaction(async (tx) => {
        for (let i = 0; i < 1000; i++) await tx.writeFile(`/l/new${i}`, 'x');
      }),
    most: 10,
  },
  'a stream of 3 MB from a file': { work: (fs) => all(fs.createReadStream('/big')), most: 8 },
  'a stream of 3 MB into a file, in chunks of 1 MB': {
    work: async (fs) => {
      const writer = fs.createWriteStream('/new').getWriter();
      for (let i = 0; i < 3; i++) await writer.write(new Uint8Array(2 ** 20));
      await writer.close();
    },
    most: 5,
  },
};

export async function createBudgetFiles(fs: FileSystem): Promise<void> {
  await fs.transaction(async (tx) => {
    for (let d = 0; d < 50; d++) {
      await tx.mkdir(`/t/d${d}/e`, { recursive: true });
      for (let i = 0; i < 100; i++) await tx.writeFile(`/t/d${d}/${i % 2 === 0 ? '' : 'e/'}f${i}`, `content ${i}\n`);
    }
    await tx.mkdir('/l');
    for (let i = 0; i < 1000; i++) await tx.writeFile(`/l/f${i}`, 'x');
    await tx.writeFile('/big', new Uint8Array(3 * 2 ** 20));
  });
}

/** Returns the requests of an operation by a client whose cache contains only what `warm` has loaded. */
export async function requestsOf(backend: Backend, { work, warm }: RequestBudget): Promise<string[]> {
  const requests: string[] = [];
  const counted: Backend = {
    capabilities: backend.capabilities,
    load: (loadRequests, call) => {
      requests.push(`load ${loadRequests.map(({ kind }) => kind).slice(0, 3)}`);
      return backend.load(loadRequests, call);
    },
    commit: (batch, call) => {
      requests.push('commit');
      return backend.commit(batch, call);
    },
    outcome: (id, call) => {
      requests.push('outcome');
      return backend.outcome(id, call);
    },
    // The backend belongs to the caller.
    close: async () => {},
  };
  const fs = await openFileSystem(asyncStorage(counted), {});
  await warm?.(fs);
  requests.length = 0;
  await work(fs);
  return requests;
}
