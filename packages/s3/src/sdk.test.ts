import { openFileSystem } from '@scratchfs/core';
import { expect, it, vi } from 'vitest';
import { S3Storage } from './index.js';

it('a storage without the SDK says what to install, and closes', async () => {
  vi.doMock('@aws-sdk/client-s3', () => {
    throw new Error('Cannot find package');
  });
  const storage = new S3Storage('s3://bucket/x?region=eu');
  const refused = { kind: 'unsupported', message: /npm install @aws-sdk\/client-s3/ };
  await expect(openFileSystem(storage)).rejects.toMatchObject(refused);
  vi.doUnmock('@aws-sdk/client-s3');
  await storage.close();
});
