import {
  asyncStorage,
  type Batch,
  type FileSystem,
  OutcomeUnknownError,
  openFileSystem,
  StorageError,
} from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';

/** Number of clients that a head remembers. */
const REMEMBERED = 256;

const meta = { mode: 0o644, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };

/** A new file, as a client sends it. */
const creation = (name: string): Batch => ({
  operationId: name,
  checks: [],
  writes: [{ kind: 'create', path: `/${name}`, id: name, type: 'file', meta }],
  limits: {},
});

const noAnswer = (): StorageError => new StorageError('timeout', 'There was no answer');

describe('A client whose reply is lost while others commit', () => {
  let store: ObjectStore;
  let fs: FileSystem;
  /** The fault of the next swap. */
  let mishap: ((swap: () => Promise<string | undefined>) => Promise<string | undefined>) | undefined;

  const open = (on: ObjectStore): Promise<FileSystem> =>
    openFileSystem(asyncStorage(new ObjectTreeBackend(on, { retries: 0 }), { retries: 0 }));

  async function othersCommit(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const other = new ObjectTreeBackend(store);
      await other.commit(creation(`other-${i}`));
      await other.close();
    }
  }

  beforeEach(async () => {
    store = new MemoryObjectStore();
    mishap = undefined;
    fs = await open(
      alteredStore(store, {
        swapHead: (...what) => {
          const happens = mishap ?? ((swap) => swap());
          mishap = undefined;
          return happens(() => store.swapHead(...what));
        },
      }),
    );
    await fs.writeFile('/log', '');
  });

  const text = async (): Promise<string> => (await open(store)).readText('/log');

  it('finds the outcome in the head while the head remembers it', async () => {
    mishap = async (swap) => {
      await swap();
      await othersCommit(REMEMBERED - 1);
      throw noAnswer();
    };
    await fs.appendFile('/log', 'once;');
    expect(await text()).toBe('once;');
  });

  it('reports an unknown outcome if more clients have committed than a head remembers, and never writes twice', async () => {
    mishap = async (swap) => {
      await swap();
      await othersCommit(REMEMBERED);
      throw noAnswer();
    };
    await expect(fs.appendFile('/log', 'once;')).rejects.toThrow(OutcomeUnknownError);
    expect(await text()).toBe('once;');
    await fs.appendFile('/log', 'next;');
    expect(await text()).toBe('once;next;');
  });

  it('reports an unknown outcome too if the SDK sent the request twice and the second was refused', async () => {
    mishap = async (swap) => {
      await swap();
      await othersCommit(REMEMBERED);
      if ((await swap()) === undefined) throw new StorageError('unavailable', 'The SDK sent the request twice');
      return undefined;
    };
    await expect(fs.appendFile('/log', 'once;')).rejects.toThrow(OutcomeUnknownError);
    expect(await text()).toBe('once;');
  });

  it('does not repeat a rollback over later writes of others', async () => {
    const { id } = await fs.checkpoint();
    mishap = async (swap) => {
      await swap();
      await othersCommit(REMEMBERED);
      throw noAnswer();
    };
    await expect(fs.rollback(id)).rejects.toThrow(OutcomeUnknownError);
    expect((await fs.readdir('/')).length).toBe(1 + REMEMBERED);
  });

  it.each([REMEMBERED - 1, REMEMBERED + 1])('repeats a commit that lost the race against %i others', async (count) => {
    mishap = async (swap) => {
      await othersCommit(count);
      return swap();
    };
    await fs.appendFile('/log', 'once;');
    expect(await text()).toBe('once;');
  });
});

it('The outcome of a commit stays the same after the client has committed again', async () => {
  const store = new MemoryObjectStore();
  let isLost = false;
  let reads = 0;
  const answers: (() => void)[] = [];
  const backend = new ObjectTreeBackend(
    alteredStore(store, {
      readHead: async (known) => {
        if (!isLost) return store.readHead(known);
        reads += 1;
        if (reads === 1) throw noAnswer();
        await new Promise<void>((resolve) => answers.push(resolve));
        return store.readHead(known);
      },
      swapHead: async (bytes, expected) => {
        const tag = await store.swapHead(bytes, expected);
        if (isLost || expected === undefined) return tag;
        isLost = true;
        throw noAnswer();
      },
    }),
    { retries: 0 },
  );
  await expect(backend.commit(creation('first'))).rejects.toThrow('no answer');
  const second = backend.commit(creation('second'));
  const asked = async (count: number): Promise<void> => {
    while (answers.length < count) await new Promise((resolve) => setTimeout(resolve, 0));
  };
  await asked(1);
  const outcome = backend.outcome('first');
  answers[0]?.();
  await asked(2);
  expect(await second).toMatchObject({ kind: 'ok' });
  answers[1]?.();
  expect(await outcome).toMatchObject({ kind: 'ok' });
  await backend.close();
});
