import { BackendStorage, isStorageError, openFileSystem, StorageError } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { expect, it } from 'vitest';

/** A store that fails once in the middle of a deletion. */
class FailingStore extends MemoryObjectStore {
  deletions = 0;
  override async delete(names: readonly string[]): Promise<void> {
    this.deletions += 1;
    if (this.deletions === 2) throw new StorageError('unavailable', 'The store is away', { retryable: false });
    await super.delete(names);
  }
}

const open = (store: MemoryObjectStore): BackendStorage => new BackendStorage(new ObjectTreeBackend(store));

it('destroy() deletes every object, also when it is called again after a failure', async () => {
  const store = new FailingStore();
  const [storage, other] = [open(store), open(store)];
  const fs = await openFileSystem(storage);
  await fs.writeFile('/f', 'text');
  await fs.checkpoint('c');
  const fork = await fs.fork();
  await fork.writeFile('/f', 'forked');
  const otherFs = await openFileSystem(other);
  await otherFs.writeFile('/g', new Uint8Array(300_000));
  // Some objects are deleted.
  const failure = { name: 'OutcomeUnknownError', cause: { message: 'The store is away' } };
  await expect(storage.destroy()).rejects.toMatchObject(failure);
  await storage.destroy();
  expect([...store.objects.keys()]).toEqual([]);
  expect(await store.readHead(undefined)).toBe(undefined);
  for (const call of [() => fs.readText('/f'), () => otherFs.readdir('/'), () => otherFs.stats()])
    await expect(call(), String(call)).rejects.toMatchObject({ kind: 'lost' });
  // The head that would say whether the write happened is gone.
  await expect(otherFs.writeFile('/g', 'x')).rejects.toMatchObject({ cause: { kind: 'lost' } });
  const later = await openFileSystem(open(store));
  expect(await later.readdir('/')).toEqual([]);
  expect(await later.checkpoints()).toEqual([]);
  expect('destroy' in later).toBe(false);
});

it('destroy() by a client of a deleted filesystem spares the one that was created in its place', async () => {
  const store = new MemoryObjectStore();
  const [storage, other] = [open(store), open(store)];
  await (await openFileSystem(storage)).writeFile('/x', 'old');
  await openFileSystem(other);
  await other.destroy();
  // Nothing to delete is not an error.
  await storage.destroy();
  const later = open(store);
  const laterFs = await openFileSystem(later);
  await laterFs.writeFile('/new', 'n');
  for (const stale of [storage, other]) await expect(stale.destroy()).rejects.toMatchObject({ kind: 'lost' });
  expect(await (await openFileSystem(open(store))).readText('/new')).toBe('n');
  // A client that has read nothing deletes what it finds.
  await open(store).destroy();
  expect(await store.readHead(undefined)).toBe(undefined);
});

it('destroy() stops when the filesystem is replaced during the call', async () => {
  const store = new MemoryObjectStore();
  const [storage, other] = [open(store), open(store)];
  await (await openFileSystem(storage)).writeFile('/x', 'old');
  let fs: Awaited<ReturnType<typeof openFileSystem>> | undefined;
  const list = store.list.bind(store);
  store.list = async (...args) => {
    const page = await list(...args);
    store.list = list;
    await other.destroy();
    fs = await openFileSystem(open(store));
    await fs.writeFile('/new', new Uint8Array(300_000));
    return page;
  };
  await expect(storage.destroy()).rejects.toMatchObject({ kind: 'lost' });
  expect((await fs?.readFile('/new'))?.length).toBe(300_000);
});

it('destroy() of a storage that cannot delete its head is an error of kind unsupported', async () => {
  const store = new MemoryObjectStore();
  Object.assign(store, { deleteHead: undefined });
  const error = await open(store)
    .destroy()
    .catch((failure: unknown) => failure);
  expect(isStorageError(error, 'unsupported')).toBe(true);
});

it('destroy() that has deleted nothing yet says so', async () => {
  const store = new MemoryObjectStore();
  await (await openFileSystem(open(store))).writeFile('/f', 'text');
  const away = async (): Promise<never> => {
    throw new StorageError('unavailable', 'The store is away', { retryable: false });
  };
  const storage = new BackendStorage(new ObjectTreeBackend(alteredStore(store, { list: away })));
  await expect(storage.destroy()).rejects.toMatchObject({ name: 'StorageError', mayHaveHappened: false });
  expect(await (await openFileSystem(open(store))).readText('/f')).toBe('text');
});
