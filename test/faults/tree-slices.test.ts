import { setImmediate as nextTurn } from 'node:timers/promises';
import { asyncStorage, type Batch, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { beforeAll, expect, test } from 'vitest';
import { expectTurns } from './event-loop.js';

const DIRECTORIES = 100;
const FILES = 50_000;
const OBJECTS = 100_000;
const WRITES = 100_000;
/** Number of the commit that compacts what the commits before it have scattered. */
const COMPACTION_COMMIT = 65;
const MEBI = 2 ** 20;

const meta = { mode: 0o644, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };
let drawn = 0;

function batchOf(writes: Batch['writes']): Batch {
  drawn += 1;
  return { operationId: `${drawn}`, checks: [], writes, limits: {} };
}

function creationOf(path: string, type: 'file' | 'directory', content?: Uint8Array): Batch['writes'][number] {
  return { kind: 'create', path, id: path, type, meta, ...(content === undefined ? {} : { content }) };
}

const template = new MemoryObjectStore();

/** Fills the template up to the last commit before a compaction. */
async function plant(): Promise<void> {
  const backend = new ObjectTreeBackend(template);
  const directories = Array.from({ length: DIRECTORIES }, (_, i) => creationOf(`/${i}`, 'directory'));
  await backend.commit(batchOf(directories));
  const content = new TextEncoder().encode('x');
  let commits = 2;
  for (let from = 0; from < FILES; from += 2_500, commits++)
    await backend.commit(
      batchOf(
        Array.from({ length: 2_500 }, (_, i) =>
          creationOf(`/${(from + i) % DIRECTORIES}/f${from + i}`, 'file', content),
        ),
      ),
    );
  for (; commits < COMPACTION_COMMIT - 1; commits++)
    await backend.commit(batchOf([creationOf(`/log${commits}`, 'file')]));
}

/** Returns a backend on an unchanged copy of the template, whose store yields to the event loop in every call. */
async function planted(others: Partial<ObjectStore> = {}): Promise<ObjectTreeBackend> {
  const store: ObjectStore & MemoryObjectStore = new MemoryObjectStore();
  for (const [name, bytes] of template.objects) store.objects.set(name, bytes);
  const head = await template.readHead(undefined);
  if (typeof head === 'object') await store.swapHead(head.bytes, undefined);
  const far = alteredStore(store, others);
  const turn = async <T>(ask: () => Promise<T>): Promise<T> => {
    await nextTurn();
    return ask();
  };
  return new ObjectTreeBackend({
    get: (...what) => turn(() => far.get(...what)),
    put: (...what) => turn(() => far.put(...what)),
    delete: (...what) => turn(() => far.delete(...what)),
    list: (...what) => turn(() => far.list(...what)),
    readHead: (...what) => turn(() => far.readHead(...what)),
    swapHead: (...what) => turn(() => far.swapHead(...what)),
  });
}

/** Names of garbage objects, listed in pages. */
const names = Array.from({ length: OBJECTS }, (_, i) => `objects/1-${i}-0-${String(i).padStart(20, '0')}`);
const list: ObjectStore['list'] = async (prefix, cursor) => {
  const from = Number(cursor ?? 0);
  if (prefix !== 'objects/') return { names: [], cursor: undefined };
  const to = from + 1_000;
  return { names: names.slice(from, to), cursor: to < OBJECTS ? String(to) : undefined };
};

const large = Array.from({ length: 64 }, (_, i) => new Uint8Array(4 * MEBI).fill(i + 1));

const writes = Array.from({ length: WRITES }, (_, i) => creationOf(`/${i % DIRECTORIES}/w${i}`, 'file'));

async function walk(of: ObjectTreeBackend): Promise<void> {
  const fs = await openFileSystem(asyncStorage(of));
  let count = 0;
  for await (const { kind } of fs.walk('/')) if (kind === 'file') count += 1;
  expect(count).toBeGreaterThan(FILES);
}

const OPERATIONS: Readonly<
  Record<string, readonly [Partial<ObjectStore>, (of: ObjectTreeBackend) => Promise<unknown>]>
> = {
  'a commit that brings together 50,000 files': [{}, (of) => of.commit(batchOf([creationOf('/last', 'file')]))],
  'a collection beside 50,000 files': [{}, (of) => of.collectGarbage()],
  'a collection of 100,000 objects': [{ list }, (of) => of.collectGarbage({ olderThanMs: 1_000_000 })],
  'a batch of 100,000 writes': [{}, (of) => of.commit(batchOf(writes))],
  'a walk of 50,000 files': [{}, walk],
  '64 writes of 4 MB at once': [
    { put: async () => {} },
    (of) => Promise.all(large.map((bytes, i) => of.commit(batchOf([creationOf(`/large${i}`, 'file', bytes)])))),
  ],
};

beforeAll(plant);

for (const [name, [others, work]] of Object.entries(OPERATIONS)) {
  test(`of an object tree ${name} never holds the event loop for 50 ms of CPU`, async () => {
    let backend = await planted(others);
    await expectTurns(
      () => work(backend),
      async () => {
        backend = await planted(others);
      },
    );
  }, 600_000);
}
