import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory-executor.js';
import { TreeBackend } from './tree-backend.js';

describe('a walk over a far storage', () => {
  it('sees what another client has changed since the last one', async () => {
    const backend = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
    const [mine, other] = await Promise.all([1, 2].map(() => openFileSystem(asyncStorage(backend))));
    const names = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const { path } of mine?.walk('/') ?? []) found.push(path);
      return found;
    };
    await mine?.writeFile('/a', '1');
    expect(await names()).toEqual(['/a']);
    await other?.writeFile('/b', '2');
    await other?.rm('/a');
    expect(await names()).toEqual(['/b']);
  });
});
