import { openFileSystem } from '@scratchfs/core';
import { expect, it, vi } from 'vitest';
import { DynamoDbStorage } from './index.js';

it('a storage without the SDK says what to install, and closes', async () => {
  vi.doMock('@aws-sdk/client-dynamodb', () => {
    throw new Error('Cannot find package');
  });
  const storage = new DynamoDbStorage('dynamodb://table/x?region=eu');
  const refused = { kind: 'unsupported', message: /npm install @aws-sdk\/client-dynamodb/ };
  await expect(openFileSystem(storage)).rejects.toMatchObject(refused);
  vi.doUnmock('@aws-sdk/client-dynamodb');
  await storage.close();
});
