import { expect, it } from 'vitest';
import { openFileSystem } from '../../create-file-system.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory-executor.js';

const createFileSystem = (options: Parameters<typeof openFileSystem>[1] = {}) =>
  openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0), options);

it('chmod through a handle needs a mode', async () => {
  const fs = createFileSystem({ files: { '/a': '' } });
  await using handle = await fs.open('/a', 'r+');
  await expect(handle.chmod(undefined as never)).rejects.toThrow(TypeError);
  expect((await handle.stat()).mode).toBe(0o100644);
});
