import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend, Batch, Check, NodeRecord } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import type { FileSystem } from '../../file-system.js';
import { createSnapshot } from '../../snapshot.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';
import { runSteps } from '../scheduling/time-slice.js';
import { TreeBackend } from '../tree-backend/tree-backend.js';
import { coarsePreconditions } from './coarse-preconditions.js';
import { NodeCache } from './node-cache.js';

const MANY = 300;

/** A client of a backend, with what it commits. */
async function client(backend: Backend): Promise<{ readonly fs: FileSystem; readonly batches: Batch[] }> {
  const batches: Batch[] = [];
  const watched: Backend = {
    capabilities: backend.capabilities,
    load: (requests, call) => backend.load(requests, call),
    commit: (batch, call) => {
      batches.push(batch);
      return backend.commit(batch, call);
    },
    outcome: (id, call) => backend.outcome(id, call),
    close: async () => {},
  };
  return { fs: await openFileSystem(asyncStorage(watched)), batches };
}

async function planted(): Promise<Backend> {
  const backend = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  const { fs } = await client(backend);
  await fs.mkdir('/many');
  await fs.mkdir('/other');
  await fs.transaction(async (tx) => {
    for (let i = 0; i < MANY; i++) await tx.writeFile(`/many/${i}`, 'x');
  });
  return backend;
}

const sizes = async (fs: FileSystem): Promise<number> => {
  const entries = await fs.entries('/many');
  return entries.length;
};

describe('the preconditions of a reader', () => {
  it('is one condition if it is a directory loaded together with its entries', async () => {
    const { fs, batches } = await client(await planted());
    await sizes(fs);
    batches.length = 0;
    expect(await sizes(fs)).toBe(MANY);
    expect(batches.map(({ checks }) => checks.map(({ kind, path }) => `${kind} ${path}`))).toEqual([
      ['entry /', 'entry /many', 'tree /many'],
    ]);
  });

  it('is not used if another client changed something in it', async () => {
    const backend = await planted();
    const { fs } = await client(backend);
    const other = await client(backend);
    await sizes(fs);
    await other.fs.writeFile('/many/new', '');
    expect(await sizes(fs)).toBe(MANY + 1);
    await other.fs.chmod('/many/7', 0o600);
    const entries = await fs.entries('/many');
    expect((entries.find(({ name }) => name === '7')?.mode ?? 0) & 0o777).toBe(0o600);
  });

  it('counts one by one if something else under it has changed', async () => {
    const backend = await planted();
    const { fs, batches } = await client(backend);
    const other = await client(backend);
    await other.fs.mkdir('/many/below');
    await sizes(fs);
    await other.fs.writeFile('/many/below/deep', 'x');
    batches.length = 0;
    expect(await sizes(fs)).toBe(MANY + 1);
    expect(batches.length).toBeGreaterThan(1);
  });

  it("is unknown after this client's own write under it", async () => {
    const { fs, batches } = await client(await planted());
    await sizes(fs);
    await fs.writeFile('/many/3', 'longer');
    batches.length = 0;
    expect(await sizes(fs)).toBe(MANY);
    expect(batches.flatMap(({ checks }) => checks.filter(({ kind }) => kind === 'tree'))).toEqual([]);
  });

  it('of a snapshot is one condition too', async () => {
    const backend = await planted();
    const { fs, batches } = await client(backend);
    await createSnapshot(fs);
    expect(batches.map(({ checks }) => checks.length)).toEqual([2]);
  });
});

describe('many conditions', () => {
  const meta = rootMeta(0);
  const totals = { size: 0, files: 0, directories: 0, linked: 0 };
  const node = (id: string, kind: 'file' | 'directory', count = MANY): NodeRecord => ({
    id,
    kind,
    meta,
    version: 1,
    size: 0,
    links: 1,
    ...(kind === 'file' ? {} : { directory: { listing: 1, tree: 9, count, totals } }),
  });
  const names = Array.from({ length: MANY }, (_, i) => `${1000 + i}`);

  /** A cache that knows `/d` with all its names, which came with it, and the empty directory `/d/e`. */
  const known = (): NodeCache => {
    const cache = new NodeCache();
    const at = { path: '/d', id: 'd' };
    const nodes = [...names.map((name) => node(name, 'file')), node('e', 'directory', 0)];
    cache.add({ kind: 'path', path: '/', content: 0 }, { kind: 'path', nodes: [node('r', 'directory')] }, 1);
    cache.add(
      { kind: 'list', at, after: undefined, limit: 1_000 },
      { kind: 'list', directory: node('d', 'directory'), names: [...names, 'e'], nodes, complete: true },
      2,
    );
    return cache;
  };
  const way: Check[] = [
    { kind: 'entry', path: '/', id: 'r' },
    { kind: 'entry', path: '/d', id: 'd' },
  ];
  const files: Check[] = names.map((name) => ({ kind: 'entry', path: `/d/${name}`, id: name, version: 1 }));
  const one: Check[] = [...way, { kind: 'tree', path: '/d', id: 'd', version: 9 }];

  it('on the contents of one directory become one condition on that directory, absent names and empty directories included', () => {
    const also: Check[] = [
      { kind: 'entry', path: '/d/absent', id: null },
      { kind: 'empty', path: '/d/e', id: 'e' },
      { kind: 'listing', path: '/d', id: 'd', version: 1 },
    ];
    expect(runSteps(coarsePreconditions([...way, ...files, ...also], known()))).toEqual(one);
  });

  it.each<[string, readonly Check[]]>([
    ['are few', [...way, ...files.slice(0, 100)]],
    ['do not say which directory that is', files],
    ['ask for a version that is not the last that was heard', [...way, ...files, { ...files[0], version: 2 } as Check]],
    ['ask for an emptiness that is none', [...way, ...files, { kind: 'empty', path: '/d', id: 'd' }]],
    ['ask for what is not known', [...way, ...files, { kind: 'entry', path: '/d/x', id: 'x', version: 1 }]],
    ['are all on the way to others', names.map((name) => ({ kind: 'entry', path: `/d/${name}`, id: name }) as Check)],
  ])('that %s stay what they are', (_, checks) => {
    expect(runSteps(coarsePreconditions(checks, known()))).toBeUndefined();
  });
});
