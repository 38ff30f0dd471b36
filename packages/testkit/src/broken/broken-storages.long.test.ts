import { asyncForm } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../memory-file-system.js';
import { collectTests } from '../suite/runner.js';
import { storageSuite } from '../suite/storage-suite.js';
import { BROKEN_STORAGES, GOOD_STORAGES } from './broken-storages.js';

async function failuresOf(create: Parameters<typeof storageSuite>[0]['create']): Promise<string[]> {
  const runner = collectTests();
  storageSuite({ test: runner, create });
  const results = await runner.run();
  expect(results.length).toBeGreaterThan(30);
  return results
    .filter(({ error }) => error !== undefined)
    .map(({ name, error }) => `${name}: ${(error as Error).message}`);
}

describe('storageSuite', () => {
  for (const [name, create] of Object.entries(GOOD_STORAGES)) {
    it(`passes ${name}`, async () => expect(await failuresOf(create)).toEqual([]));
  }
  it('passes the storage in memory and its async form', async () => {
    expect(await failuresOf(memoryStorage)).toEqual([]);
    expect(await failuresOf((options) => asyncForm(memoryStorage(options), { clock: options.clock }))).toEqual([]);
  });
  for (const [name, create] of Object.entries(BROKEN_STORAGES)) {
    it(`catches a storage that ${name}`, async () => expect(await failuresOf(create)).not.toEqual([]));
  }
});
