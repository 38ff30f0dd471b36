import { fileSystemOn, OutcomeUnknownError, openFileSystem } from '@scratchfs/core';
import { RedisBackend, RedisStorage } from '@scratchfs/redis';
import { describe, expect, it } from 'vitest';
import { freshNamespace } from './clients.js';
import { useServer } from './faults/test-fixtures.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { hasOwnServer } from './servers/test-server.js';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );
const UNSENT = { retryable: true, mayHaveHappened: false };

describe.skipIf(!hasOwnServer)('An error of a call that changed nothing', () => {
  const on = useServer();

  it('says so if the server cannot be reached', async () => {
    const storage = new RedisStorage('redis://127.0.0.1:1', { timeoutMs: 300, retries: 0 });
    const fs = fileSystemOn(storage);
    const calls = [
      () => openFileSystem(storage),
      () => fs.setLimits({}),
      () => storage.set({ path: '/f' }),
      () => fs.writeFile('/f', 'x'),
      () => fs.readText('/f'),
      () => fs.checkpoint(),
      () => fs.rollback('c'),
      () => fs.fork(),
      () => fs.checkpoints(),
      () => storage.destroy(),
      () => storage.durability(),
    ];
    const errors = await Promise.all(calls.map((call) => failure(call())));
    errors.forEach((error, i) => {
      expect(error, String(calls[i])).toMatchObject(UNSENT);
      expect(error, String(calls[i])).not.toBeInstanceOf(OutcomeUnknownError);
    });
    await storage.close();
  });

  it('says whether a write was sent before its storage was closed', async () => {
    const proxy = await TcpProxy.open(on.server.port);
    const options = { namespace: freshNamespace(), timeoutMs: 5_000 };
    const open = () => new RedisBackend(`redis://127.0.0.1:${proxy.port}`, options);
    const write = { kind: 'touch', path: '/', time: 1 } as const;
    const commit = (backend: RedisBackend) =>
      failure(backend.commit({ operationId: 'a', checks: [], writes: [write], limits: {} }));
    const load = (backend: RedisBackend) => failure(backend.load([{ kind: 'path', path: '/', content: -1 }]));
    const checkpoint = (backend: RedisBackend) => failure(backend.checkpointStore.create('c', undefined, 1, undefined));
    try {
      const [sent, unsent] = [open(), open()];
      const storage = new RedisStorage(`redis://127.0.0.1:${proxy.port}`, options);
      const fs = await openFileSystem(storage);
      await Promise.all([load(sent), load(unsent), fs.writeFile('/f', 'x')]);
      const arrived = new Promise<void>((resolve) => {
        let count = 0;
        proxy.plan = ({ name }) => {
          if (!name.startsWith('EVAL')) return 'none';
          count += 1;
          if (count === 4) resolve();
          return 'lost';
        };
      });
      const calls = [commit(sent), checkpoint(sent), load(sent), failure(fs.writeFile('/f', 'y'))];
      await arrived;
      await Promise.all([sent.close(), storage.close()]);
      const [written, created, read, unknown] = await Promise.all(calls);
      expect(written).toMatchObject({ kind: 'closed', mayHaveHappened: true });
      expect(created).toMatchObject({ kind: 'closed', mayHaveHappened: true });
      expect(read).toMatchObject({ kind: 'closed', mayHaveHappened: false });
      expect(unknown).toBeInstanceOf(OutcomeUnknownError);
      proxy.isRefusing = true;
      proxy.cut();
      // The client notices the end of its connection in a later turn of the event loop, which is late on a busy machine.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
      const waiting = [commit(unsent), checkpoint(unsent)];
      await unsent.close();
      for (const error of await Promise.all(waiting))
        expect(error).toMatchObject({ kind: 'closed', mayHaveHappened: false });
    } finally {
      await proxy.close();
    }
  });

  it('says so of reads whose replies are lost, and of what fails before a write was sent', async () => {
    const proxy = await TcpProxy.open(on.server.port);
    const options = { namespace: freshNamespace(), timeoutMs: 5_000, retries: 0 };
    const storage = new RedisStorage(`redis://127.0.0.1:${proxy.port}`, options);
    const backend = new RedisBackend(`redis://127.0.0.1:${proxy.port}`, options);
    try {
      const fs = await openFileSystem(storage);
      await fs.writeFile('/f', 'x');
      await backend.load([{ kind: 'path', path: '/', content: -1 }]);
      proxy.plan = ({ name }) => (name.startsWith('EVAL') ? 'after' : 'none');
      for (const call of [
        () => fs.readText('/f'),
        () => fs.readdir('/'),
        // Its parent must be loaded first.
        () => fs.writeFile('/new/f', 'x'),
        () => backend.load([{ kind: 'path', path: '/f', content: -1 }]),
        () =>
          backend.commit({ operationId: 'a', checks: [{ kind: 'entry', path: '/', id: '1' }], writes: [], limits: {} }),
        () => backend.pinRead(),
        () => backend.checkpointStore.list(),
      ])
        expect(await failure(call()), String(call)).toMatchObject(UNSENT);
      // A commit whose reply is lost may have happened.
      const write = { kind: 'touch', path: '/', time: 1 } as const;
      const sent = await failure(backend.commit({ operationId: 'b', checks: [], writes: [write], limits: {} }));
      expect(sent).toMatchObject({ retryable: true, mayHaveHappened: true });
    } finally {
      await Promise.all([storage.close(), backend.close()]);
      await proxy.close();
    }
  });
});
