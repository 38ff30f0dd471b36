import { asyncStorage, backendOf, fileSystemOn } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { describe, expect, it } from 'vitest';
import { emptyHead } from '../delta/delta-node.js';
import { Contents } from '../log/contents.js';
import { OperationLog } from '../log/operation-log.js';
import { Refresher } from '../refresh/refresher.js';
import { AttemptBackend } from './attempt-backend.js';
import { Lower } from './lower.js';

const test = {
  describe,
  it: (title: string, run: () => void | Promise<void>): void => {
    // A content is held in memory and limited to 1 GiB: this test makes a file of a terabyte.
    if (title.startsWith('sparse files')) it.skip(title, run);
    else it(title, run);
  },
};

/** Returns an attempt over a lower directory in memory, by default an empty one. */
async function emptyAttempt(
  clock: () => number = () => 0,
  storage = new MemoryStorage({ clock }),
): Promise<AttemptBackend> {
  const store = createFileSystem();
  const lower = new Lower(backendOf(storage));
  const [records] = await lower.paths(['/']);
  const root = records?.[0];
  if (!root) throw new Error('The lower directory has no root');
  const empty = emptyHead(root);
  await OperationLog.begin(store, '/attempts/a', empty);
  const log = await OperationLog.open(store, '/attempts/a', 'a', empty);
  const contents = new Contents(store);
  return new AttemptBackend({ lower, contents, log, name: 'a', clock, refresher: new Refresher(lower, contents) });
}

storageSuite({
  test,
  name: 'A storage over an attempt',
  create: async ({ clock }) => asyncStorage(await emptyAttempt(clock), { clock }),
});

fileSystemSuite({
  test,
  name: 'A filesystem over an attempt',
  create: async ({ clock, limits }) =>
    createFileSystem({ storage: asyncStorage(await emptyAttempt(clock), { clock }), clock, limits }),
});

it('a tree request lists changed and unchanged directories depth first', async () => {
  const storage = new MemoryStorage();
  const disk = createFileSystem({ storage });
  for (const path of ['/a/x', '/a/y', '/b/z']) await disk.mkdir(path, { recursive: true });
  const backend = await emptyAttempt(undefined, storage);
  await fileSystemOn(asyncStorage(backend)).writeFile('/a/x/new', '');
  const [root] = await backend.load([{ kind: 'path', path: '/', content: 0 }]);
  const id = (root?.kind === 'path' && root.nodes[0]?.id) || '';
  const [tree] = await backend.load([{ kind: 'tree', at: { path: '/', id }, budget: 100_000, contents: false }]);
  const paths = tree?.kind === 'tree' ? tree.listings.map(({ path }) => path) : [];
  expect(paths).toEqual(['', 'a', 'a/x', 'a/y', 'b', 'b/z']);
});
