import { describe, expect, it } from 'vitest';
import { openFileSystem } from './create-file-system.js';
import { rootMeta } from './engine/defaults.js';
import { MemoryExecutor } from './engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from './executor-storage.js';

const createFileSystem = (options: Parameters<typeof openFileSystem>[1] = {}) =>
  openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0), options);

describe('createReadStream', () => {
  it('accepts any chunk size, and allocates at most 16 MiB', async () => {
    const fs = createFileSystem({ files: { '/small': 'text', '/large': '' } });
    fs.truncateSync('/large', 2 ** 24 + 1);
    const sizes: Record<string, number[]> = { '/small': [], '/large': [] };
    for (const path of Object.keys(sizes)) {
      for await (const chunk of fs.createReadStream(path, { highWaterMark: Number.MAX_SAFE_INTEGER })) {
        sizes[path]?.push(chunk.byteLength);
      }
    }
    expect(sizes).toEqual({ '/small': [4], '/large': [2 ** 24, 1] });
  });
});
