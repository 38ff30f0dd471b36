import { expect, it, vi } from 'vitest';
import { openFileSystem } from './create-file-system.js';
import { rootMeta } from './engine/defaults.js';
import { MemoryExecutor } from './engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from './executor-storage.js';
import { Tree } from './tree/tree.js';

it('changes a file in place, through promises too: without a checkpoint no older state is kept', async () => {
  const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
  const fs = openFileSystem(storage, { files: { '/f': 'a'.repeat(100_000) } });
  const handle = await fs.open('/f', 'r+');
  const freeze = vi.spyOn(Tree.prototype, 'freeze');
  await handle.write('b', 50_000);
  await handle.truncate(60_000);
  await handle.chmod(0o600);
  expect(freeze).not.toHaveBeenCalled();
  freeze.mockRestore();
  expect((await handle.stat()).mode & 0o777).toBe(0o600);
  expect((await fs.readText('/f')).indexOf('b')).toBe(50_000);
  await handle.close();
});
