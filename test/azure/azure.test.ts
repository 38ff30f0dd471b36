import { ContainerClient } from '@azure/storage-blob';
import { AzureBlobStorage } from '@scratchfs/azure';
import { openFileSystem } from '@scratchfs/core';
import { objectStoreSuite } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it } from 'vitest';
import { AzureBlobObjectStore } from '../../packages/azure/src/azure-blob-object-store.js';
import { sendingOnce } from '../../packages/azure/src/container-client.js';
import { AzuriteServer } from './azurite-server.js';

const CONTAINER = 'scratchfs-tests';
const server = await AzuriteServer.start('--inMemoryPersistence');
process.env['AZURE_STORAGE_CONNECTION_STRING'] = server.connection;
const container = new ContainerClient(server.connection, CONTAINER);
await container.create();
afterAll(() => server.stop());

let made = 0;
const newName = (): string => `f${made++}`;
const storageOf = (name: string): AzureBlobStorage => new AzureBlobStorage(container, { name });
const urlOf = (name: string): string => `azure://${CONTAINER}/${name}`;
const once = sendingOnce(container);
const storeOf = (name: string): AzureBlobObjectStore =>
  new AzureBlobObjectStore({ client: async () => once, name: CONTAINER }, name);

const test = { describe, it: (name: string, body: () => Promise<void>) => it.concurrent(name, body) };

describe('AzureBlobStorage', () => {
  objectStoreSuite({ test, name: 'Blobs', open: storeOf, listedObjects: 120 });

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
    await fs.writeFile('/f', 'x');
    const second = await createFileSystem({ storage: urlOf(other) });
    await second.writeFile('/kept', 'x');
    expect(await AzureBlobStorage.list(container)).toEqual(expect.arrayContaining([name, other]));
    await storage.destroy();
    const names = await AzureBlobStorage.list(urlOf('default'));
    expect([names.includes(name), names.includes(other)]).toEqual([false, true]);
    expect(await second.readText('/kept')).toBe('x');
    const { value } = await container
      .listBlobsFlat({ prefix: `scratchfs/${name}/` })
      .byPage()
      .next();
    expect(value.segment.blobItems).toEqual([]);
    await Promise.all([fs.close(), second.close()]);
  });
});
