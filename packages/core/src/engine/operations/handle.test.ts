import { expect, it } from 'vitest';
import { openFileSystem } from '../../create-file-system.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';

const createFileSystem = (options: Parameters<typeof openFileSystem>[1] = {}) =>
  openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0), options);

it('chmod through a handle needs a mode', async () => {
  const fs = createFileSystem({ files: { '/a': '' } });
  await using handle = await fs.open('/a', 'r+');
  await expect(handle.chmod(undefined as never)).rejects.toThrow(TypeError);
  expect((await handle.stat()).mode).toBe(0o100644);
});

it('a handle follows its file from the call of open() on, before its promise is resolved', async () => {
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  const fs = createFileSystem({ files: { '/gone': 'gone', '/moved': 'moved', '/back': 'back' } });
  const [gone] = await Promise.all([fs.open('/gone', 'r'), fs.unlink('/gone')]);
  expect(text(await gone.readFile())).toBe('gone');
  const [moved] = await Promise.all([fs.open('/moved', 'r+'), fs.rename('/moved', '/there')]);
  await moved.write('M', 0);
  expect(await fs.readText('/there')).toBe('Moved');
  const checkpoint = await fs.checkpoint();
  const [lost] = await Promise.all([fs.open('/back', 'r'), fs.rollback(checkpoint)]);
  await expect(lost.readFile()).rejects.toMatchObject({ code: 'EBADF' });
  const inner = fs.transactionSync((t) => {
    t.unlinkSync('/back');
    return { opened: fs.open('/back', 'r') };
  });
  await expect(inner.opened).rejects.toMatchObject({ code: 'EBUSY' });
});

it('an open file counts against the limit from the call of open() on', async () => {
  const fs = createFileSystem({ files: { '/f': 'x'.repeat(100) }, limits: { maxTotalSize: 100 } });
  const [file] = await Promise.all([fs.open('/f', 'r'), fs.unlink('/f')]);
  await expect(fs.writeFile('/g', 'y')).rejects.toMatchObject({ code: 'ENOSPC' });
  await file.close();
  await fs.writeFile('/g', 'y');
});
