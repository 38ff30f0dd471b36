import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { mount } from '@scratchfs/core/layers';
import { MemoryStorage, memoryBackend } from '@scratchfs/memory';
import { faultyBackend } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { bringBackAfter } from '../testing/bring-back-after.js';
import { OsSandboxIncompleteError } from './bring-back.js';

describe('bringBack() without transactions', () => {
  const script =
    'echo new >m/q; rm -r m/d; mkdir m/e; rm m/l; ln -s q m/l; rm k; ln -s q k; echo b >n/b; rm n/a.md; chmod +x n/c';
  const files = { '/q': 'A', '/l': 'l', '/d/x': 'x' };

  async function mounted(fault: 'before' | 'after', isFaulty: (commit: number) => boolean) {
    let commit = Number.NEGATIVE_INFINITY;
    const backend = faultyBackend(memoryBackend(), ({ method }) =>
      method === 'commit' && isFaulty(++commit) ? fault : 'none',
    );
    const far = await openFileSystem(asyncStorage(backend, { retries: 0 }), { files });
    const near = await openFileSystem(new MemoryStorage(), { files: { '/n/a.md': 'a', '/n/c': 'c', '/k': 'k' } });
    const fs = mount(near, { '/m': far });
    const before = await contents(fs);
    const arm = async (): Promise<void> => {
      commit = 0;
    };
    return { fs, backend, before, arm };
  }

  /** Times of directories are left out, because they change with their entries. */
  const contents = async (fs: FileSystem): Promise<unknown[]> => {
    const all: unknown[] = [];
    for await (const { path, kind, mode, target, modifiedAt } of fs.walk('/')) {
      const content = kind === 'file' ? await fs.readText(path) : target;
      all.push({ path, kind, mode, content, modifiedAt: kind === 'directory' ? 0 : modifiedAt });
    }
    return all;
  };

  it.each(['before', 'after'] as const)(
    'undoes everything if it fails midway, %s the storage has made the change',
    async (fault) => {
      let failures = 0;
      for (let at = 1; ; at++) {
        const { fs, before, arm } = await mounted(fault, (commit) => commit === at);
        const result = await bringBackAfter(script, fs, undefined, arm).catch((error: unknown) => error);
        if (!(result instanceof Error)) {
          expect(result).toMatchObject({ refused: [], checkpoint: { id: expect.any(String) } });
          break;
        }
        failures++;
        expect(result.message).toContain('got no reply');
        expect(await contents(fs)).toEqual(before);
        expect(await fs.checkpoints()).toEqual([]);
      }
      expect(failures).toBeGreaterThan(8);
    },
  );

  it('names the checkpoint of the state before if an undo fails', async () => {
    for (let from = 1; ; from++) {
      const { fs, backend, before, arm } = await mounted('before', (commit) => commit >= from);
      const failure = await bringBackAfter(script, fs, undefined, arm).catch((error: unknown) => error);
      backend.heal();
      if (!(failure instanceof OsSandboxIncompleteError)) {
        expect((failure as Error).message).toContain('got no reply');
        expect(await contents(fs)).toEqual(before);
        continue;
      }
      const { checkpoint, message, cause } = failure;
      expect(message).toContain(checkpoint?.id);
      expect((cause as Error).message).toContain('got no reply');
      const isAsBefore = JSON.stringify(await contents(fs)) === JSON.stringify(before);
      await fs.rollback(checkpoint as NonNullable<typeof checkpoint>);
      expect(await contents(fs)).toEqual(before);
      if (!isAsBefore) break;
    }
  });
});
