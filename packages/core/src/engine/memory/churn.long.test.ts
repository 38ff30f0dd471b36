import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import type { Checkpoint, FileSystem } from '../../file-system.js';
import { rootMeta } from '../defaults.js';
import { TreeBackend } from '../tree-backend/tree-backend.js';
import { MemoryExecutor } from './memory-executor.js';

const SIZE = 4000;
const FILES = 100;
/** Writes per round. Each round leaves about 4 MB of garbage behind. */
const ROUND = 1000;
/** Maximum number of bytes that may be held for the small live content. */
const MOST = 16 * 2 ** 20;

const FORMS: Readonly<Record<string, (executor: MemoryExecutor) => Promise<FileSystem>>> = {
  'in memory': async (executor) => openFileSystem(new ExecutorSyncStorage(executor, () => 0)),
  'over the async form of memory': (executor) => openFileSystem(asyncStorage(new TreeBackend(executor))),
};

const bytes = (value: number): Uint8Array => new Uint8Array(SIZE).fill(value);

describe.each(Object.entries(FORMS))('a churn of small contents %s holds 16 MiB at most', (_, open) => {
  const churn = async (round: (fs: FileSystem, i: number) => Promise<void>): Promise<number> => {
    const executor = MemoryExecutor.create(rootMeta(0));
    const fs = await open(executor);
    let most = 0;
    for (let i = 0; i < 6; i++) {
      await round(fs, i);
      most = Math.max(most, executor.tree.shared.contents.slabBytes);
    }
    for (let i = 0; i < FILES; i++) expect((await fs.readFile(`/kept/${i}`)).length).toBe(SIZE);
    await fs.close();
    return most;
  };

  /** Calls `write` {@link ROUND} times, and writes {@link FILES} files that stay in between. */
  const scatter = async (fs: FileSystem, i: number, write: (at: number) => Promise<void>): Promise<void> => {
    await fs.mkdir('/kept', { recursive: true });
    for (let at = 0; at < ROUND; at++) {
      await write(at);
      if (at % (ROUND / FILES) === 0) await fs.writeFile(`/kept/${(at * FILES) / ROUND}`, bytes(i));
    }
  };

  it('while files are rewritten under checkpoints', async () => {
    const held: Checkpoint[] = [];
    const most = await churn(async (fs, i) => {
      await scatter(fs, i, (at) => fs.writeFile(`/again${at % 10}`, bytes(at)));
      held.push(await fs.checkpoint());
      if (held.length > 3) await fs.drop(held.shift() as Checkpoint);
    });
    expect(most).toBeLessThanOrEqual(MOST + 2 ** 15);
  });

  it('while parts of files are rewritten', async () => {
    const most = await churn(async (fs, i) => {
      await fs.writeFile('/file', bytes(0));
      const handle = await fs.open('/file', 'r+');
      await scatter(fs, i, async (at) => void (await handle.write(bytes(at).subarray(0, 2000), 100)));
      await handle.close();
    });
    expect(most).toBeLessThanOrEqual(MOST + 2 ** 15);
  });

  it('while directories are removed whole', async () => {
    const most = await churn(async (fs, i) => {
      await fs.mkdir('/gone');
      await scatter(fs, i, (at) => fs.writeFile(`/gone/${at}`, bytes(at)));
      await fs.rm('/gone', { recursive: true });
    });
    expect(most).toBeLessThanOrEqual(MOST + 2 ** 15);
  });

  it('while work is rolled back', async () => {
    const most = await churn(async (fs, i) => {
      await scatter(fs, i, async () => {});
      const before = await fs.checkpoint();
      for (let at = 0; at < ROUND; at++) await fs.writeFile(`/tried${at}`, bytes(at));
      await fs.rollback(before);
      await fs.drop(before);
    });
    expect(most).toBeLessThanOrEqual(MOST + 2 ** 15);
  });
});
