import type { ContainerClient } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { AzureBlobObjectStore } from './azure-blob-object-store.js';

const storeOf = (client: object): AzureBlobObjectStore =>
  new AzureBlobObjectStore({ client: async () => client as ContainerClient, name: 'agents' }, 'one');

it('an upload whose response has no ETag may have happened', async () => {
  const store = storeOf({ getBlockBlobClient: () => ({ upload: async () => ({}) }) });
  const done = { kind: 'unsupported', mayHaveHappened: true, retryable: false };
  await expect(store.swapHead(new Uint8Array(3), undefined)).rejects.toMatchObject(done);
  await expect(store.put('a', new Uint8Array(3))).rejects.toMatchObject(done);
});

it('delete() fails after the deletions that are under way, and begins no others', async () => {
  const ended: string[] = [];
  const deleteBlob = async (name: string): Promise<void> => {
    if (name.endsWith('/19')) throw Object.assign(new Error('no'), { statusCode: 403 });
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(name);
  };
  const store = storeOf({ getBlobClient: (name: string) => ({ delete: () => deleteBlob(name) }) });
  const names = Array.from({ length: 20 }, (_, i) => String(i));
  await expect(store.delete(names)).rejects.toMatchObject({ kind: 'denied' });
  expect(ended).toHaveLength(7);
});
