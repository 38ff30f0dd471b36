import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import type { Backend, Batch } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import type { FileSystem } from '../file-system.js';
import { createSnapshot } from '../snapshot.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory-executor.js';
import { TreeBackend } from './tree-backend.js';

const MANY = 300;

/** A client of a backend, with what it commits. */
async function client(backend: Backend): Promise<{ readonly fs: FileSystem; readonly batches: Batch[] }> {
  const batches: Batch[] = [];
  const watched: Backend = {
    capabilities: backend.capabilities,
    load: (wants, call) => backend.load(wants, call),
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
  const entries = await fs.readdir('/many', { withFileTypes: true });
  return entries.length;
};

describe('what a reader relied on, confirmed', () => {
  it('is one condition where it is a directory with all that was loaded with it', async () => {
    const { fs, batches } = await client(await planted());
    await sizes(fs);
    batches.length = 0;
    expect(await sizes(fs)).toBe(MANY);
    expect(batches.map(({ checks }) => checks.map(({ kind, path }) => `${kind} ${path}`))).toEqual([
      ['entry /', 'entry /many', 'tree /many'],
    ]);
  });

  it('is not believed where somebody else changed something in it', async () => {
    const backend = await planted();
    const { fs } = await client(backend);
    const other = await client(backend);
    await sizes(fs);
    await other.fs.writeFile('/many/new', '');
    expect(await sizes(fs)).toBe(MANY + 1);
    await other.fs.chmod('/many/7', 0o600);
    const entries = await fs.readdir('/many', { withFileTypes: true });
    expect((entries.find(({ name }) => name === '7')?.mode ?? 0) & 0o777).toBe(0o600);
  });

  it('counts one by one where something else beneath has changed', async () => {
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

  it('a write of our own beneath makes it unknown', async () => {
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
