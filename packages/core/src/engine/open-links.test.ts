import { describe, expect, it } from 'vitest';
import { asyncForm } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { AsyncStorage } from '../storage.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory/memory-executor.js';

const farStorage = (): AsyncStorage => asyncForm(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0));

const text = async (handle: { readFile(): Promise<Uint8Array> }): Promise<string> =>
  new TextDecoder().decode(await handle.readFile());

describe('an open file on a remote storage', () => {
  it('stays usable under a name that is neither the one it was opened by nor older than the last rollback', async () => {
    const fs = await openFileSystem(farStorage(), { files: { '/g/e': 'other', '/g/g': 'mine' } });
    await fs.mkdir('/deep/er', { recursive: true });
    await fs.link('/g/g', '/deep/er/c');
    const checkpoint = await fs.checkpoint();
    await fs.unlink('/deep/er/c');
    await fs.rollback(checkpoint);
    const handle = await fs.open('/g/g', 'r+');
    await fs.rename('/g/e', '/g/g');
    expect(await text(handle)).toBe('mine');
    await handle.write('MINE', 0);
    expect(await fs.readText('/deep/er/c')).toBe('MINE');
    expect(await fs.readText('/g/g')).toBe('other');
    await fs.rm('/deep', { recursive: true });
    await handle.write('gone', 0);
    expect((await handle.stat()).nlink).toBe(0);
    await handle.close();
  });

  it('is not looked for under a name that a rollback has removed', async () => {
    const fs = await openFileSystem(farStorage(), { files: { '/a': 'mine' } });
    const checkpoint = await fs.checkpoint();
    await fs.link('/a', '/before');
    await fs.rollback(checkpoint);
    await fs.link('/a', '/b');
    const handle = await fs.open('/a', 'r');
    await fs.unlink('/a');
    expect(await text(handle)).toBe('mine');
    await handle.close();
  });

  it('stays usable if the directory with the name it was opened by is removed', async () => {
    const storage = farStorage();
    const maker = await openFileSystem(storage, { files: { '/a/x': 'mine' } });
    await maker.mkdir('/b');
    await maker.link('/a/x', '/b/y');
    const fs = await openFileSystem(storage);
    const handle = await fs.open('/a/x', 'r');
    await fs.rm('/a', { recursive: true });
    expect(await text(handle)).toBe('mine');
    expect((await handle.stat()).nlink).toBe(1);
    await handle.close();
  });
});
