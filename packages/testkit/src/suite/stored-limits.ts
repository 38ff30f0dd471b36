import {
  asyncStorage,
  type Backend,
  type Batch,
  type FileSystem,
  isFsError,
  type Limits,
  openFileSystem,
} from '@scratchfs/core';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { equal, fail, ok } from './assert.js';

type AddCase = (title: string, run: (backend: Backend) => Promise<void>) => void;

/** A batch that touches the root. */
function batchOf(operationId: string, limits: Limits): Batch {
  return { operationId, checks: [], writes: [{ kind: 'touch', path: '/', time: 5 }], limits };
}

/** Opens a client with its own cache. Closing the filesystem leaves the backend open. */
function open(backend: Backend, limits?: Limits | 'stored'): Promise<FileSystem> {
  return openFileSystem(asyncStorage(backend), { limits });
}

async function refusal(work: Promise<unknown>): Promise<unknown[]> {
  const error = await work.then(
    () => fail('the call succeeded'),
    (error: unknown) => error,
  );
  if (!isFsError(error)) throw error;
  return [error.code, error.limit, error.used, error.requested, error.allowed];
}

/** Returns the limits that are set. */
const shown = (limits: Limits): unknown =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));

/** Cases for a backend that stores limits. */
export function storedLimitCases(addBackend: AddCase): void {
  const add: AddCase = (title, run) =>
    addBackend(title, async (backend) => {
      if (backend.limitStore !== undefined) await run(backend);
    });

  add('stored limits are the first ones given, until they are replaced', async ({ limitStore }) => {
    if (limitStore === undefined) return;
    const all = { maxTotalSize: 2 ** 53 - 1, maxFileSize: 0, maxNodeCount: 3, maxCheckpoints: 4 };
    equal(shown(await limitStore.open({})), {});
    equal(shown(await limitStore.open(all)), all);
    equal(shown(await limitStore.open({ maxTotalSize: 6 })), all);
    await limitStore.set({ maxNodeCount: 7 });
    equal(shown(await limitStore.open({})), { maxNodeCount: 7 });
    await limitStore.set({});
    equal(shown(await limitStore.open({})), {});
    equal(shown(await limitStore.open({ maxFileSize: 8 })), { maxFileSize: 8 });
  });

  add('opening with files that are refused leaves the stored limits as they were', async (backend) => {
    const openWith = (limits: Limits): Promise<FileSystem> =>
      openFileSystem(asyncStorage(backend), { limits, files: { '/a': '1234' } });
    equal(await refusal(openWith({ maxTotalSize: 1 })), ['ENOSPC', 'maxTotalSize', 0, 4, 1]);
    equal(shown((await open(backend)).limits), {});
    equal(shown((await openWith({ maxTotalSize: 4 })).limits), { maxTotalSize: 4 });
    await backend.limitStore?.set({ maxFileSize: 1 });
    await (await open(backend)).unlink('/a');
    equal((await refusal(openWith({ maxFileSize: 1 })))[0], 'EFBIG');
    equal(shown((await open(backend)).limits), { maxFileSize: 1 });
  });

  add('a batch of writes under other limits than the stored ones is refused with these', async (backend) => {
    const stored = { maxTotalSize: 10, maxCheckpoints: 2 };
    equal((await backend.commit(batchOf('a', { maxTotalSize: 9 }))).kind, 'ok');
    await backend.limitStore?.set(stored);
    for (const [i, limits] of [{}, { maxTotalSize: 9 }, { ...stored, maxFileSize: 1 }].entries()) {
      const result = await backend.commit(batchOf(`other ${i}`, limits));
      equal(result.kind === 'other-limits' && shown(result.limits), stored);
    }
    equal((await backend.commit(batchOf('same', stored))).kind, 'ok');
    equal((await backend.commit({ ...batchOf('reads', {}), writes: [] })).kind, 'ok');
    await backend.limitStore?.set({});
    equal((await backend.commit(batchOf('b', { maxTotalSize: 9 }))).kind, 'ok');
  });

  add('limits of one client hold for every client, and all show them', async (backend) => {
    const a = await open(backend, { maxTotalSize: 1000 });
    const [b, c] = [await open(backend), await open(backend, 'stored')];
    equal(
      [a, b, c].map(({ limits }) => shown(limits)),
      [a, b, c].map(() => ({ maxTotalSize: 1000 })),
    );
    await a.writeFile('/a', 'x'.repeat(900));
    for (const fs of [a, b, c]) {
      const expected = ['ENOSPC', 'maxTotalSize', 900, 1800, 1000];
      equal(await refusal(fs.writeFile('/b', 'x'.repeat(900))), expected);
    }
    equal((await b.stats()).totalSize, 900);
  });

  add('a storage that was never opened as a filesystem obeys the stored limits', async (backend) => {
    await open(backend, { maxTotalSize: 10, maxFileSize: 8 });
    const storage = asyncStorage(backend);
    await storage.set({ path: '/a', kind: 'file', content: '12345678' });
    equal((await refusal(storage.set({ path: '/b', kind: 'file', content: '123' }))).slice(0, 2), [
      'ENOSPC',
      'maxTotalSize',
    ]);
    equal((await refusal(storage.set({ path: '/a', kind: 'file', content: '123456789' })))[0], 'EFBIG');
  });

  add('opening with other limits is EINVAL, and changes nothing', async (backend) => {
    await open(backend, { maxTotalSize: 1000 });
    await open(backend, { maxTotalSize: 1000 });
    for (const limits of [{ maxTotalSize: 2000 }, { maxTotalSize: 1000, maxFileSize: 5 }, { maxNodeCount: 0 }]) {
      const error = await open(backend, limits).then(
        () => fail('the filesystem was opened'),
        (error: unknown) => error,
      );
      ok(isFsError(error, 'EINVAL'), String(error));
      for (const part of ['{"maxTotalSize":1000}', JSON.stringify(limits), "'stored'", 'setLimits'])
        ok(error.message.includes(part), `${part} is in: ${error.message}`);
    }
    equal(shown((await open(backend)).limits), { maxTotalSize: 1000 });
  });

  add('clients that open at the same time with different limits agree on those of one', async (backend) => {
    const opened = await Promise.allSettled([1, 2, 3, 4].map((maxNodeCount) => open(backend, { maxNodeCount })));
    const winners = opened.flatMap((one) => (one.status === 'fulfilled' ? [shown(one.value.limits)] : []));
    equal(winners.length, 1);
    equal(shown((await open(backend)).limits), winners[0]);
  });

  add('setLimits holds for every client from then on, and refuses growth only', async (backend) => {
    const [a, b] = [await open(backend, { maxTotalSize: 10, maxNodeCount: 2 }), await open(backend)];
    await b.writeFile('/b', '12345678');
    await a.setLimits({ maxTotalSize: 4 });
    equal(shown(a.limits), { maxTotalSize: 4 });
    equal(await refusal(b.appendFile('/b', 'x')), ['ENOSPC', 'maxTotalSize', 8, 9, 4]);
    equal(shown(b.limits), { maxTotalSize: 4 });
    await b.truncate('/b', 6);
    await b.writeFile('/empty', '');
    equal(await refusal(a.copyFile('/b', '/c')), ['ENOSPC', 'maxTotalSize', 6, 12, 4]);
    await b.setLimits({ maxTotalSize: 20 });
    // A refusal would be based on a limit that no longer holds.
    await a.appendFile('/b', '123456789');
    equal(shown(a.limits), { maxTotalSize: 20 });
    await a.setLimits({ maxFileSize: 15 });
    equal(await refusal(b.appendFile('/b', 'x')), ['EFBIG', 'maxFileSize', 15, 16, 15]);
    await b.setLimits({ maxFileSize: 16 });
    await a.appendFile('/b', 'x');
    await b.setLimits({});
    await a.writeFile('/large', 'x'.repeat(100));
    equal(shown(a.limits), {});
  });

  add('clients that grow at the same time never exceed the limits', async (backend) => {
    await open(backend, { maxTotalSize: 50, maxNodeCount: 8 });
    const clients = await Promise.all([open(backend), open(backend), open(backend)]);
    const results = await Promise.allSettled(
      clients.flatMap((fs, client) => [0, 1, 2, 3, 4].map((i) => fs.writeFile(`/f${client}${i}`, '1234567890'))),
    );
    for (const result of results)
      if (result.status === 'rejected') ok(isFsError(result.reason, 'ENOSPC'), String(result.reason));
    equal((await clients[0].stats()).totalSize, 50);
    await Promise.allSettled(clients.flatMap((fs, client) => [0, 1].map((i) => fs.mkdir(`/d${client}${i}`))));
    equal((await clients[1].stats()).nodeCount, 8);
  });

  add('after setLimits nothing grows beyond the new limit, whatever was being written', async (backend) => {
    const [admin, ...writers] = await Promise.all([open(backend), open(backend), open(backend)]);
    for (let round = 0; round < 3; round++) {
      await admin.setLimits({});
      let isOver = false;
      const writing = writers.map(async (fs, writer) => {
        for (let i = 0; !isOver && i < 50; i++) {
          await fs.appendFile(`/f${writer}`, '12345').catch((error: unknown) => {
            if (!isFsError(error, 'ENOSPC')) throw error;
            isOver = true;
          });
        }
      });
      await admin.setLimits({ maxTotalSize: 1 });
      const { totalSize } = await admin.stats();
      await Promise.all(writing);
      equal((await admin.stats()).totalSize, totalSize, 'the size after the limit was set');
    }
  });

  add('a transaction ends under the limits at its end', async (backend) => {
    const [a, b] = [await open(backend), await open(backend)];
    let runs = 0;
    const grow = a.transaction(async (inside) => {
      runs += 1;
      await inside.writeFile('/a', '12345');
      if (runs === 1) await b.setLimits({ maxTotalSize: 4 });
    });
    equal(await refusal(grow), ['ENOSPC', 'maxTotalSize', 0, 5, 4]);
    equal([runs, await a.exists('/a')], [2, false]);
    await a.transaction(async (inside) => {
      runs += 1;
      if (runs === 3) await b.setLimits({ maxTotalSize: 6 });
      await inside.writeFile('/a', '12345');
    });
    equal(await b.readText('/a'), '12345');
  });

  add('checkpoints obey the stored limits, and restoring one does not change limits', async (backend) => {
    if (!backend.capabilities.checkpoints) return;
    const [a, b] = [await open(backend, { maxCheckpoints: 1 }), await open(backend)];
    await a.writeFile('/a', '12345');
    const checkpoint = await b.checkpoint();
    equal(await refusal(a.checkpoint('more')), ['ENOSPC', 'maxCheckpoints', 1, 2, 1]);
    await b.setLimits({ maxCheckpoints: 2, maxTotalSize: 4 });
    await a.checkpoint('more');
    equal(await refusal(b.checkpoint('third')), ['ENOSPC', 'maxCheckpoints', 2, 3, 2]);
    await a.unlink('/a');
    equal(await refusal(a.rollback(checkpoint)), ['ENOSPC', 'maxTotalSize', 0, 5, 4]);
    await a.setLimits({ maxTotalSize: 5 });
    await b.rollback(checkpoint);
    equal(await b.readText('/a'), '12345');
    equal(shown((await open(backend)).limits), { maxTotalSize: 5 });
  });

  add('a snapshot is restored under the limits that are stored then, also into a fork', async (backend) => {
    const [a, b] = [await open(backend, { maxTotalSize: 5 }), await open(backend)];
    await a.writeFile('/a', '12345');
    const five = await createSnapshot(a);
    await a.unlink('/a');
    await b.setLimits({ maxTotalSize: 4 });
    equal((await refusal(restoreSnapshot(a, five)))[4], 4);
    // Both clients know the limit of 4 now.
    await b.setLimits({ maxTotalSize: 5 });
    if (backend.capabilities.forks) {
      const fork = await a.fork();
      equal(shown(fork.limits), { maxTotalSize: 5 });
      await restoreSnapshot(fork, five);
      equal(await fork.readText('/a'), '12345');
      await fork.close();
    }
    await restoreSnapshot(a, five);
    equal(await b.readText('/a'), '12345');
  });

  add('a fork keeps the limits, and changes its own only', async (backend) => {
    if (!backend.capabilities.forks) return;
    const fs = await open(backend, { maxTotalSize: 5 });
    const fork = await fs.fork();
    equal(shown(fork.limits), { maxTotalSize: 5 });
    equal((await refusal(fork.writeFile('/a', '123456')))[0], 'ENOSPC');
    await fork.setLimits({ maxTotalSize: 6 });
    await fork.writeFile('/a', '123456');
    equal((await refusal(fs.writeFile('/a', '123456')))[0], 'ENOSPC');
    await fs.setLimits({ maxTotalSize: 7 });
    await fs.writeFile('/a', '1234567');
    equal((await refusal(fork.appendFile('/a', '7')))[0], 'ENOSPC');
    equal(shown((await open(backend)).limits), { maxTotalSize: 7 });
    await fork.close();
  });
}
