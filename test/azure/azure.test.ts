import { setTimeout as wait } from 'node:timers/promises';
import { ContainerClient } from '@azure/storage-blob';
import { AzureBlobStorage } from '@scratchfs/azure';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import {
  backendSuite,
  fileSystemSuite,
  objectStoreFaults,
  objectStoreSuite,
  storageSuite,
  workingCopySuite,
} from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { copyFileSystem } from 'scratchfs/checkpoints';
import { afterAll, describe, expect, it } from 'vitest';
import { AzureBlobObjectStore } from '../../packages/azure/src/azure-blob-object-store.js';
import { sendingOnce } from '../../packages/azure/src/container-client.js';
import { type Fault, HttpProxy } from '../s3/proxy/http-proxy.js';
import { quickSections } from '../s3/quick-sections.js';
import { killOnCounter, raceOnCounter } from '../sql/counting-clients.js';
import { AzuriteServer, connectionString } from './azurite-server.js';

const CONTAINER = `scratchfs-tests-${Date.now()}`;
const container = new ContainerClient(process.env['AZURE_STORAGE_CONNECTION_STRING'] ?? '', CONTAINER);
await container.create();
const proxy = await HttpProxy.start(new URL(container.url).origin);
/** A client as people make it, with the SDK's own retries, whose requests meet the faults of the proxy. */
const disturbed = new ContainerClient(connectionString(proxy.endpoint), CONTAINER);
afterAll(async () => {
  await proxy.stop();
  await container.delete();
});

// The code above the object store is tested on other stores.
const EVERYTHING = process.env['SCRATCHFS_TEST_EVERYTHING'] !== undefined;
const WRITERS = Number(process.env['AZURE_WRITERS'] ?? 4);
/** Time for the campaigns. */
const LONG = { timeout: 30 * 60_000 };
const KILLS = Number(process.env['AZURE_KILLS'] ?? 2);

let made = 0;
const newName = (): string => `f${made++}`;
const storageOf = (name: string): AzureBlobStorage => new AzureBlobStorage(container, { name });
const urlOf = (name: string): string => `azure://${CONTAINER}/${name}`;
const storeIn = (client: ContainerClient, name: string): AzureBlobObjectStore => {
  const once = sendingOnce(client);
  return new AzureBlobObjectStore({ client: async () => once, name: CONTAINER }, name);
};
const storeOf = (name: string): AzureBlobObjectStore => storeIn(container, name);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const isHead = (method: string, url: string): boolean => method === 'PUT' && url.includes('/head');

const test = {
  describe,
  it: (name: string, body: () => Promise<void>) => it.concurrent(name, EVERYTHING ? LONG : {}, body),
};

describe('AzureBlobStorage', () => {
  objectStoreSuite({ test, methods: ['deleteHead'], name: 'Blobs', open: storeOf, listedObjects: 120 });
  backendSuite({ test, create: () => new ObjectTreeBackend(storeOf(newName())) });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) => {
      const storage = new AzureBlobStorage(container, { name: newName(), clock, maxCacheBytes: 0 });
      return openFileSystem(storage, { clock, limits });
    },
    sections: EVERYTHING ? quickSections : ['transactions', 'signals'],
  });
  if (EVERYTHING) {
    storageSuite({ test, create: ({ clock }) => new AzureBlobStorage(container, { name: newName(), clock }) });
    workingCopySuite({
      test,
      histories: 2,
      create: () => {
        const name = newName();
        return { ours: storageOf(name), theirs: storageOf(name) };
      },
    });
    it('leaves the state that was reported when replies are lost', LONG, async () => {
      const { faults, problems } = await objectStoreFaults({ create: () => storeOf(newName()), every: 17 });
      expect(problems).toEqual([]);
      expect(faults).toBeGreaterThan(20);
    });
  }

  describe('behind a bad network', () => {
    /** Lets the first request that replaces a head meet a fault. */
    const disturb = (fault: Fault): void => {
      let isFirst = true;
      proxy.forget();
      proxy.plan = ({ method, url }) => {
        if (!isFirst || !isHead(method, url)) return 'none';
        isFirst = false;
        return fault;
      };
    };

    it.each(['done and dropped', 'done and 500', 'dropped', 503] as const)(
      "reports a swap that is '%s' as unknown, never as lost: the SDK does not send it again",
      async (fault) => {
        const store = storeIn(disturbed, newName());
        disturb(fault);
        const swap = store.swapHead(bytes('one'), undefined);
        await expect(swap).rejects.toMatchObject({ kind: 'unavailable', retryable: true, mayHaveHappened: true });
        expect(proxy.seen.filter(({ method, url }) => isHead(method, url))).toHaveLength(1);
        const isDone = typeof fault === 'string' && fault.startsWith('done');
        expect((await store.readHead(undefined)) !== undefined).toBe(isDone);
      },
    );

    it.each(['done and dropped', 'done and 500', 'dropped', 503, 'late'] as const)(
      "applies an append once whose swap is '%s'",
      async (fault) => {
        const fs = await openFileSystem(new AzureBlobStorage(disturbed, { name: newName() }));
        await fs.writeFile('/log', '');
        disturb(fault);
        await fs.appendFile('/log', 'once;');
        await proxy.settled();
        expect(proxy.faults).toBe(1);
        expect(await fs.readText('/log')).toBe('once;');
        await fs.close();
      },
    );

    it('reads a body again that was cut', async () => {
      const name = newName();
      const writer = await openFileSystem(storageOf(name));
      await writer.writeFile('/f', 'text'.repeat(5_000));
      const fs = await openFileSystem(new AzureBlobStorage(disturbed, { name, maxCacheBytes: 0 }));
      proxy.forget();
      proxy.plan = ({ method, index }) => (method === 'GET' && index < 2 ? 'cut' : 'none');
      expect(await fs.readText('/f')).toBe('text'.repeat(5_000));
      expect(proxy.faults).toBe(2);
      await Promise.all([fs.close(), writer.close()]);
    });

    it('ends a call that is aborted or takes too long, and closes while requests are silent', async () => {
      const name = newName();
      const writer = await openFileSystem(storageOf(name));
      await writer.writeFile('/f', 'x');
      const open = (timeoutMs: number) =>
        openFileSystem(new AzureBlobStorage(disturbed, { name, timeoutMs, retries: 0 }));
      proxy.forget();
      const storage = new AzureBlobStorage(disturbed, { name });
      const [patient, hasty] = await Promise.all([openFileSystem(storage), open(2_000)]);
      proxy.plan = () => 'silence';
      const stop = new AbortController();
      const aborted = patient.writeFile('/f', 'y', { signal: stop.signal });
      setTimeout(() => stop.abort(new Error('enough')), 20);
      await expect(aborted).rejects.toThrow('enough');
      await expect(hasty.readFile('/f')).rejects.toMatchObject({ kind: 'timeout' });
      const waiting = patient.readFile('/f').catch((error: unknown) => error);
      await wait(20);
      await storage.close();
      expect(await waiting).toMatchObject({ kind: 'closed' });
      await hasty.close();
      proxy.forget();
      expect(await writer.readText('/f')).toBe('x');
      await writer.close();
    });
  });

  it('deletes many blobs without a warning of too many listeners', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const names = Array.from({ length: 30 }, (_, i) => `objects/${i}`);
    await storeOf(newName()).delete(names, { signal: new AbortController().signal });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('lists and destroys filesystems in one container, and is opened by its URL', async () => {
    const [name, other] = [newName(), newName()];
    const storage = storageOf(name);
    const fs = await openFileSystem(storage);
    const large = new Uint8Array(9_000_000).map((_, i) => i % 251);
    await fs.writeFile('/large', large);
    await container.getBlockBlobClient('scratchfs/no filesystem/x').upload('', 0);
    const second = await createFileSystem({ storage: urlOf(other) });
    await copyFileSystem(fs, second);
    expect(await AzureBlobStorage.list(container)).toEqual(expect.arrayContaining([name, other]));
    await storage.destroy();
    const names = await AzureBlobStorage.list(urlOf('default'));
    expect([names.includes(name), names.includes(other)]).toEqual([false, true]);
    expect(Buffer.compare(await second.readFile('/large'), large)).toBe(0);
    expect(await blobsOf(name)).toEqual([]);
    await Promise.all([fs.close(), second.close()]);
  });

  it('needs the requests that the README names', async () => {
    proxy.forget();
    const counted = async (work: () => Promise<unknown>): Promise<string> => {
      proxy.seen.length = 0;
      await work();
      const puts = proxy.seen.filter(({ method }) => method === 'PUT').length;
      return `${puts} + ${proxy.seen.length - puts}`;
    };
    const place = { name: newName() };
    const fs = await openFileSystem(new AzureBlobStorage(disturbed, place));
    for (let i = 0; i < 20; i++) await fs.writeFile(`/f${i}`, new Uint8Array(4_096));
    expect(await counted(() => fs.writeFile('/f3', new Uint8Array(4_096)))).toBe('2 + 0');
    expect(await counted(() => fs.checkpoint())).toBe('1 + 0');
    const opened: FileSystem[] = [];
    const open = async () => opened.push(await openFileSystem(new AzureBlobStorage(disturbed, place)));
    expect(await counted(open)).toBe('0 + 1');
    expect(await counted(() => (opened[0] as FileSystem).readFile('/f7'))).toBe('0 + 3');
    expect(await counted(() => (opened[0] as FileSystem).readFile('/f7'))).toBe('0 + 1');
    await Promise.all([fs.close(), ...opened.map((each) => each.close())]);
  });

  it('refuses a newer format, and leaves it as it is', async () => {
    const name = newName();
    const fs = await openFileSystem(storageOf(name));
    await fs.writeFile('/f', 'x');
    await fs.close();
    const blob = container.getBlockBlobClient(`scratchfs/${name}/head`);
    const head = (await blob.downloadToBuffer()).toString('latin1');
    const newer = head.replace(/^(scratchfs object tree) \d+ /, '$1 99 ');
    await blob.upload(Buffer.from(newer, 'latin1'), newer.length);
    const before = await blobsOf(name);
    await expect(openFileSystem(storageOf(name))).rejects.toMatchObject({ kind: 'version', message: /format 99/ });
    expect(await blobsOf(name)).toEqual(before);
  });

  it('says what is wrong with a container, a key, a lease and a server', async () => {
    const open = (storage: AzureBlobStorage) => openFileSystem(storage);
    const url = (key?: string) => connectionString(new URL(container.url).origin, key);
    await expect(open(new AzureBlobStorage(new ContainerClient(url(), 'missing')))).rejects.toMatchObject({
      kind: 'lost',
      message: /missing. does not exist.*az storage container create/,
    });
    const stranger = new AzureBlobStorage(new ContainerClient(url('d3Jvbmc='), CONTAINER));
    const refused = await open(stranger).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'denied', retryable: false, mayHaveHappened: false });
    const away = new ContainerClient(connectionString('http://127.0.0.1:1'), CONTAINER);
    const failure = await open(new AzureBlobStorage(away, { retries: 0 })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'unavailable', mayHaveHappened: false });
    const name = newName();
    const fs = await open(storageOf(name));
    await fs.writeFile('/f', 'x');
    const lease = container.getBlobClient(`scratchfs/${name}/head`).getBlobLeaseClient();
    await lease.acquireLease(-1);
    await expect(fs.writeFile('/f', 'y')).rejects.toMatchObject({ kind: 'denied', message: /lease/ });
    await lease.breakLease(0);
    await fs.writeFile('/f', 'z');
    await fs.close();
  });

  it('loses no increment of racing processes', LONG, () =>
    raceOnCounter(urlOf(newName()), WRITERS, WRITERS === 4 ? 25 : 100),
  );

  it('keeps every acknowledged increment through kills at random moments', LONG, () =>
    killOnCounter(urlOf(newName()), KILLS),
  );

  it('says that a server is full, and keeps what was written', async () => {
    const server = await AzuriteServer.start('--inMemoryPersistence', '--extentMemoryLimit', '1');
    try {
      const fs = await openFileSystem(new AzureBlobStorage(await server.createContainer('agents')));
      let written = 0;
      const write = async (): Promise<void> => {
        for (; written < 20; written++)
          await fs.writeFile(`/f${written}`, crypto.getRandomValues(new Uint8Array(60_000)));
      };
      await expect(write()).rejects.toMatchObject({ kind: 'full', retryable: false, mayHaveHappened: false });
      expect((await fs.readdir('/')).length).toBe(written);
      expect((await fs.readFile('/f0')).length).toBe(60_000);
      await fs.close();
    } finally {
      await server.stop();
    }
  });

  it('goes on with a server that was away, and says so while it is', async () => {
    const server = await AzuriteServer.start();
    try {
      const storage = new AzureBlobStorage(await server.createContainer('agents'), { retries: 0 });
      const fs = await openFileSystem(storage);
      await fs.writeFile('/f', 'before');
      await server.end();
      await expect(fs.writeFile('/f', 'lost')).rejects.toMatchObject({ kind: 'unavailable', mayHaveHappened: false });
      await expect(fs.readFile('/f')).rejects.toMatchObject({ kind: 'unavailable' });
      await server.restart();
      expect(await fs.readText('/f')).toBe('before');
      await fs.writeFile('/f', 'after');
      expect(await fs.readText('/f')).toBe('after');
      await fs.close();
    } finally {
      await server.stop();
    }
  });
});

/** Returns names and tags of the blobs of a filesystem. */
async function blobsOf(name: string): Promise<string[]> {
  const found: string[] = [];
  for await (const blob of container.listBlobsFlat({ prefix: `scratchfs/${name}/` }))
    found.push(`${blob.name} ${blob.properties.etag}`);
  return found;
}
