import { openFileSystem } from '@scratchfs/core';
import { afterEach, expect, it, vi } from 'vitest';
import { AzureBlobStorage } from './index.js';

const CONNECTION = 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net';
afterEach(() => void vi.unstubAllEnvs());

it('a storage at a URL without the SDK says what to install, and closes', async () => {
  vi.stubEnv('AZURE_STORAGE_CONNECTION_STRING', CONNECTION);
  vi.doMock('@azure/storage-blob', () => {
    throw new Error('Cannot find package');
  });
  const storage = new AzureBlobStorage('azure://agents/x');
  const refused = { kind: 'unsupported', message: /npm install @azure\/storage-blob/ };
  await expect(openFileSystem(storage)).rejects.toMatchObject(refused);
  vi.doUnmock('@azure/storage-blob');
  await storage.close();
});

it.each([
  ['', /AZURE_STORAGE_CONNECTION_STRING, which is not set/],
  ['AccountKey=c2VjcmV0', /not a connection string/],
])('a storage at a URL with the connection string %j is refused without quoting it', async (connection, message) => {
  vi.stubEnv('AZURE_STORAGE_CONNECTION_STRING', connection);
  const storage = new AzureBlobStorage('azure://agents/x');
  const failure = await openFileSystem(storage).catch((error: unknown) => error as Error);
  expect(failure).toMatchObject({ kind: 'denied', message });
  expect(String((failure as Error).stack)).not.toContain('c2VjcmV0');
  await storage.close();
});
