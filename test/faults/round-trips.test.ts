import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { memoryBackend } from '@scratchfs/memory';
import { describe, expect, test } from 'vitest';
import { createBudgetFiles, REQUEST_BUDGETS, requestsOf } from './round-trips.js';

describe('the number of requests of an operation over a remote storage', async () => {
  const backend = memoryBackend();
  await createBudgetFiles(await openFileSystem(asyncStorage(backend), {}));
  for (const [name, price] of Object.entries(REQUEST_BUDGETS)) {
    test(`${name} costs no more than ${price.most}`, async () => {
      const requests = await requestsOf(backend, price);
      expect(requests.length, requests.slice(0, 12).join(', ')).toBeLessThanOrEqual(price.most);
    });
  }
});
