import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { leaveHalfDone, prepare } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { recoverStage } from './stage.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

describe('an interrupted merge of an older version', () => {
  async function left(...without: readonly string[]) {
    const { sample, repository, from, to } = await prepare(folders);
    const before = stateOf(sample.path);
    leaveHalfDone(sample, repository, from, to, { added: ['new.txt'], restored: ['a.txt'], directories: [] });
    const stage = join(repository.gitDirectory, 'scratchfs-merge');
    for (const name of without) rmSync(join(stage, name), { recursive: true });
    return { sample, before, from, stage, recover: () => recoverStage(repository, repository.git) };
  }

  it('is undone if it did not record the modes of directories', async () => {
    const { sample, before, recover } = await left('modes');
    expect(await recover()).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it.each(['added', 'restored', 'directories', 'lock', 'kept'])(
    'is left as it is, with instructions for the user, if it has no %s',
    async (missing) => {
      const { sample, stage, from, recover } = await left(missing);
      const before = stateOf(sample.path);
      for (let round = 0; round < 2; round++) {
        const error = await recover().catch((reason: unknown) => reason);
        expect(error).toMatchObject({
          message: expect.stringMatching(
            new RegExp(`by hand: its stage has no ${missing}\\. Look at .*the commit ${from}`),
          ),
        });
        expect((error as Error).message).not.toContain(sample.path);
      }
      expect(stateOf(sample.path)).toEqual(before);
      expect(existsSync(stage)).toBe(true);
      // Follow the instructions.
      rmSync(stage, { recursive: true });
      rmSync(join(sample.path, '.git/index.lock'));
      sample.git('checkout', from, '--', 'a.txt');
      rmSync(join(sample.path, 'new.txt'));
      expect(await recover()).toBe('nothing');
      expect(sample.git('status', '--porcelain')).toBe('');
    },
  );

  it.each(['added', 'restored', 'kept'])('is also left if its lock was removed and it has no %s', async (missing) => {
    const { sample, recover } = await left(missing);
    rmSync(join(sample.path, '.git/index.lock'));
    await expect(recover()).rejects.toThrow(`its stage has no ${missing}. Look at `);
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('two\n');
    expect(readdirSync(join(sample.path, '.git'))).toContain('scratchfs-merge');
  });
});
