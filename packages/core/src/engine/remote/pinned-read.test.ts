import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import type { FileSystem } from '../../file-system.js';
import { changedBackend, sampleBackend } from '../../testing/sample-backend.js';

/** Waits for `count` microtask turns. */
const turns = async (count = 50): Promise<void> => {
  for (let i = 0; i < count; i++) await Promise.resolve();
};

const open = (backend: Backend): Promise<FileSystem> => openFileSystem(asyncStorage(backend));

/**
 * The rule: the result of a read was the state at some moment between its request and its reply, whatever else the same
 * client is doing.
 */
describe('A read served by one load of its own', () => {
  it('does not take the entries of a directory from a listing that was loaded before', async () => {
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
    const load: Backend['load'] = (requests, call) => {
      if (isForgotten) listing ??= fs.entries('/d');
      return backend.load(requests, call);
    };
    const fs = await open(changedBackend(backend, { commit, load }));
    await fs.entries('/d');
    await other.chmod('/d/sub', 0o700);
    await other.chmod('/d', 0o700);
    expect((await fs.stat('/d')).mode & 0o777).toBe(0o700);
    expect(await listing).toMatchObject([{ name: 'sub', mode: 0o700 }]);
  });

  it('is not affected by a load of an older state, whenever its reply arrives', async () => {
    for (let between = 0; between < 40; between++) {
      const backend = sampleBackend();
      const other = await open(backend);
      await other.writeFile('/f', 'before');
      const seen = await backend.fork();
      await other.writeFile('/f', 'after');
      const answers: { readonly isOld: boolean; readonly answer: () => void }[] = [];
      const load: Backend['load'] = async (requests, call) => {
        const isOld = call?.mayBeOld === true;
        const results = await (isOld ? seen : backend).load(requests, call);
        await new Promise<void>((answer) => answers.push({ isOld, answer }));
        return results;
      };
      // Only a backend with `pinRead` may be asked for old states; this test pins none.
      const fs = await open(changedBackend(backend, { load, pinRead: async () => backend }));
      const reading = fs.readText('/f');
      const writing = fs.utimes('/f', 1, 1);
      await turns();
      expect(answers.map(({ isOld }) => isOld)).toEqual([false, true]);
      answers[0]?.answer();
      await turns(between);
      answers[1]?.answer();
      const rest = setInterval(() => {
        for (const { answer } of answers.splice(0)) answer();
      }, 0);
      try {
        expect(await reading, `${between} turns between the answers`).toBe('after');
        await writing;
      } finally {
        clearInterval(rest);
      }
    }
  });

  it('begins with the root of the load that everything else is from', async () => {
    for (let between = 0; between < 12; between++) {
      const backend = sampleBackend();
      const other = await open(backend);
      await other.writeFile('/x', '1');
      const answers: (() => void)[] = [];
      let isSlow = false;
      const load: Backend['load'] = async (requests, call) => {
        const results = await backend.load(requests, call);
        if (isSlow) await new Promise<void>((answer) => answers.push(answer));
        return results;
      };
      const fs = await open(changedBackend(backend, { load }));
      isSlow = true;
      const looking = fs.stat('/l');
      await turns();
      await other.chmod('/', 0o700);
      await other.symlink('/', '/l');
      const reading = fs.readText('/l/x');
      await turns();
      isSlow = false;
      answers[0]?.();
      await turns(between);
      answers[1]?.();
      // The stat sees either no link, or the link and the new mode of the root.
      const [looked] = await Promise.allSettled([looking, reading]);
      if (looked.status === 'fulfilled') expect(looked.value.mode & 0o777, `${between} turns between`).toBe(0o700);
      else expect(looked.reason).toMatchObject({ code: 'ENOENT' });
    }
  });
});

/** A client knows its own writes without a load, but only together with their preconditions. */
describe('A write whose reply arrives after that of a load', () => {
  type Writing = readonly [what: string, path: string, write: (fs: FileSystem) => Promise<unknown>];

  /**
   * A client whose next held commit lets a held load return before it returns itself. `isLate`: the first load is held.
   */
  async function crossing(isLate: boolean) {
    const backend = sampleBackend();
    const other = await open(backend);
    await other.writeFile('/f', 'old');
    let answerLoad = (): void => {};
    let answerCommit = (): void => {};
    let [holdsLoad, holdsCommit] = [false, false];
    const load: Backend['load'] = async (requests, call) => {
      const results = await backend.load(requests, call);
      if (holdsLoad) {
        holdsLoad = false;
        await new Promise<void>((answer) => (answerLoad = answer));
      }
      return results;
    };
    const commit: Backend['commit'] = async (batch, call) => {
      const result = await backend.commit(batch, call);
      if (holdsCommit && batch.writes.length > 0) {
        holdsCommit = false;
        answerLoad();
        await new Promise<void>((answer) => (answerCommit = answer));
      }
      return result;
    };
    const fs = await open(changedBackend(backend, { load, commit }));
    holdsLoad = isLate;
    return {
      other,
      fs,
      hold: () => {
        holdsCommit = true;
      },
      answer: () => answerCommit(),
    };
  }

  it.each<Writing>([
    ['utimes', '/f', (fs) => fs.utimes('/f', 1, 1)],
    ['rename', '/h', (fs) => fs.rename('/f', '/h')],
    ['append', '/f', (fs) => fs.appendFile('/f', '!')],
  ])('with the state before other writes: %s does not take that for its own result', async (_, path, write) => {
    const { fs, other, hold, answer } = await crossing(true);
    const reading = fs.readText('/f');
    await turns();
    await other.writeFile('/f', 'NEWER');
    await other.link('/f', '/g');
    expect(await fs.readText('/f')).toBe('NEWER');
    hold();
    const writing = write(fs);
    expect(await reading).toBe('old');
    await turns();
    answer();
    await writing;
    const seen = async (by: FileSystem): Promise<unknown> => {
      const { size, nlink } = await by.stat(path);
      return [await by.readText(path), size, nlink];
    };
    expect(await seen(fs)).toEqual(await seen(other));
    await expect(fs.editFile(path, 'old', 'mine')).rejects.toMatchObject({ name: 'FsError' });
  });

  it('with the state after other writes: that is not restored by a rollback', async () => {
    const { fs, other, hold, answer } = await crossing(false);
    await fs.readText('/f');
    hold();
    const writing = fs.utimes('/f', 1, 1);
    await turns();
    const kept = await other.checkpoint();
    await other.writeFile('/f', 'three');
    expect(await fs.readText('/f')).toBe('three');
    answer();
    await writing;
    await other.rollback(kept);
    expect(await fs.readText('/f')).toBe('old');
  });
});

describe('A transaction', () => {
  it.each([
    ['looked at', async (tx: FileSystem) => (await tx.stat('/b/x')).size],
    ['listed', async (tx: FileSystem) => (await tx.entries('/b'))[0]?.size],
  ])('sees a file with several names as one, even if one name was listed and another is %s', async (_, look) => {
    const backend = sampleBackend();
    const other = await open(backend);
    await other.mkdir('/a');
    await other.mkdir('/b');
    await other.writeFile('/a/x', 'old');
    await other.link('/a/x', '/b/x');
    const fs = await open(backend);
    await fs.readdir('/a');
    await other.writeFile('/a/x', 'much longer');
    const size = await fs.transaction(async (tx) => {
      await tx.readdir('/a');
      return look(tx);
    });
    expect(size).toBe(11);
  });
});

describe('A listing', () => {
  it('that is long is prepared again if a node changes before its content is loaded', async () => {
    const backend = sampleBackend();
    const files = Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [`/d/${i}`, `${i}`]));
    await openFileSystem(asyncStorage(backend), { files });
    const other = await open(backend);
    let loads = 0;
    const load: Backend['load'] = async (requests, call) => {
      loads += 1;
      if (loads === 3) await other.writeFile('/d/7', 'other');
      if (loads > 20) throw new Error('It does not end');
      return backend.load(requests, call);
    };
    const fs = await open(changedBackend(backend, { load }));
    const listed = await fs.entries('/d', { content: true });
    expect(listed).toHaveLength(2_001);
    expect(loads).toBeLessThan(8);
  });

  it('in pages ends, even if two operations request it concurrently', async () => {
    const backend = sampleBackend();
    await openFileSystem(asyncStorage(backend), { files: { '/d/a': '', '/d/b': '', '/d/c': '', '/d/e': '' } });
    let loads = 0;
    const load: Backend['load'] = async (requests, call) => {
      loads += 1;
      if (loads > 50) throw new Error('It does not end');
      return backend.load(
        requests.map((request) => (request.kind === 'list' ? { ...request, limit: 1 } : request)),
        call,
      );
    };
    const fs = await open(changedBackend(backend, { load }));
    expect(await Promise.all([fs.readdir('/d'), fs.readdir('/d')])).toEqual([
      ['a', 'b', 'c', 'e'],
      ['a', 'b', 'c', 'e'],
    ]);
  });
});
