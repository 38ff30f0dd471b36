import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import type { Backend } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import type { FileSystem } from '../file-system.js';
import { changedBackend, sampleBackend } from './sample-backend.js';

const open = (backend: Backend): Promise<FileSystem> => openFileSystem(asyncStorage(backend));

/** What is answered was so at a moment since it was asked for, whatever else this client has under way. */
describe('A read that is answered by one load of its own', () => {
  it('does not take what a directory holds from a listing that was loaded before', async () => {
    const backend = sampleBackend();
    const other = await open(backend);
    await other.mkdir('/d/sub', { recursive: true });
    let listing: Promise<unknown> | undefined;
    let isForgotten = false;
    const commit: Backend['commit'] = async (batch, call) => {
      const result = await backend.commit(batch, call);
      isForgotten ||= result.kind === 'conflict';
      return result;
    };
    const load: Backend['load'] = (wants, call) => {
      if (isForgotten) listing ??= fs.readdir('/d', { withFileTypes: true });
      return backend.load(wants, call);
    };
    const fs = await open(changedBackend(backend, { commit, load }));
    await fs.readdir('/d', { withFileTypes: true });
    await other.chmod('/d/sub', 0o700);
    await other.chmod('/d', 0o700);
    expect((await fs.stat('/d')).mode & 0o777).toBe(0o700);
    expect(await listing).toMatchObject([{ name: 'sub', mode: 0o700 }]);
  });

  it('is not told what a load brings that may be older, wherever its answer comes in between', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const backend = sampleBackend();
      const other = await open(backend);
      await other.writeFile('/f', 'before');
      const seen = await backend.fork();
      await other.writeFile('/f', 'after');
      const answers: { readonly isOld: boolean; readonly answer: () => void }[] = [];
      const load: Backend['load'] = async (wants, call) => {
        const isOld = call?.mayBeOld === true;
        const facts = await (isOld ? seen : backend).load(wants, call);
        await new Promise<void>((answer) => answers.push({ isOld, answer }));
        return facts;
      };
      const fs = await open(changedBackend(backend, { load, moment: async () => backend }));
      const reading = fs.readText('/f');
      const writing = fs.utimes('/f', 1, 1);
      while (answers.length < 2) await Promise.resolve();
      expect(answers.map(({ isOld }) => isOld)).toEqual([false, true]);
      answers[0]?.answer();
      for (let i = 0; i < turns; i++) await Promise.resolve();
      answers[1]?.answer();
      const rest = setInterval(() => {
        for (const { answer } of answers.splice(0)) answer();
      }, 0);
      expect(await reading, `${turns} turns between the answers`).toBe('after');
      await writing;
      clearInterval(rest);
    }
  });
});
