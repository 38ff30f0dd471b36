import { describe, expect, it } from 'vitest';
import { openFileSystem } from './create-file-system.js';
import { rootMeta } from './engine/defaults.js';
import { MemoryExecutor } from './engine/memory/memory-executor.js';
import { isFsError } from './errors.js';
import { ExecutorSyncStorage } from './executor-storage.js';
import type { SyncFileSystem } from './file-system.js';
import { mount } from './layers/mount.js';
import { overlay } from './layers/overlay.js';
import { restrict } from './layers/restrict.js';
import { promises } from './testing/sample-file-system.js';
import { SampleGuard } from './testing/sample-guard.js';

/** Returns a filesystem whose clock stands still, so that times distinguish no states. */
function still(files: Readonly<Record<string, string>> = {}): SyncFileSystem {
  const clock = (): number => 1000;
  return openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock), { files, clock });
}

describe('Stats.version', () => {
  it('differs in forks that write the same file, and is equal until they do', () => {
    const fs = still({ '/f': 'one', '/d/g': 'x' });
    const fork = fs.forkSync();
    for (const path of ['/f', '/d']) expect(fork.statSync(path).version).toBe(fs.statSync(path).version);
    fs.writeFileSync('/f', 'two');
    fork.writeFileSync('/f', 'six');
    fs.writeFileSync('/d/new', '');
    fork.writeFileSync('/d/other', '');
    for (const path of ['/f', '/d']) expect(fork.statSync(path).version).not.toBe(fs.statSync(path).version);
  });

  it('keeps the version that it had when the stats were read', () => {
    const fs = still({ '/d/f': 'x' });
    const [file, directory] = [fs.statSync('/d/f'), fs.statSync('/d')];
    fs.writeFileSync('/d/f', 'y');
    fs.writeFileSync('/d/g', 'y');
    expect(file.version).not.toBe(fs.statSync('/d/f').version);
    expect(directory.version).not.toBe(fs.statSync('/d').version);
  });

  it('makes a transaction run again if a name was added to a directory whose version it read', async () => {
    const fs = still({ '/d/f': 'x' });
    let runs = 0;
    await fs.transaction(async (inner) => {
      runs += 1;
      const { version } = await inner.stat('/d');
      if (runs === 1) await fs.writeFile('/d/new', '');
      await inner.writeFile('/version', version);
    });
    expect(runs).toBe(2);
    expect(fs.readTextSync('/version')).toBe(fs.statSync('/d').version);
  });

  it('is the version of the mounted filesystem, and holds no path', () => {
    const inner = still({ '/secret/f': 'x' });
    const upper = mount(still(), { '/m': overlay(inner) });
    const { version } = upper.statSync('/m/secret/f');
    expect(version).not.toMatch(/secret|\//);
    inner.writeFileSync('/secret/f', 'y');
    expect(upper.statSync('/m/secret/f').version).toBe(version);
    expect(mount(still(), { '/m': inner }).statSync('/m/secret/f').version).toBe(inner.statSync('/secret/f').version);
  });
});

describe('ifVersion', () => {
  it('fails through layers with the path of the caller and both versions', () => {
    const inner = still({ '/f': 'x' });
    const fs = mount(still(), { '/m': inner });
    const expected = fs.statSync('/m/f').version;
    inner.writeFileSync('/f', 'y');
    const { version: actual } = inner.statSync('/f');
    const errorOf = (call: () => unknown): unknown => {
      try {
        return call();
      } catch (error) {
        return error;
      }
    };
    const details = { code: 'ECHANGED', errno: -16, expected, actual };
    expect(errorOf(() => fs.writeFileSync('/m/f', 'z', { ifVersion: expected }))).toMatchObject({
      ...details,
      path: '/m/f',
      message:
        "ECHANGED: changed since the given version, open '/m/f'. Read it again, then change it with the version of that state",
    });
    expect(errorOf(() => fs.renameSync('/m/f', '/m/g', { ifVersion: expected }))).toMatchObject({
      ...details,
      path: '/m/f',
      dest: '/m/g',
    });
    const guarded = restrict(fs, new SampleGuard([{ root: '/m', read: true, write: true }]));
    expect(errorOf(() => guarded.rmSync('/m/f', { ifVersion: expected }))).toMatchObject({ ...details, path: '/m/f' });
    expect(fs.readTextSync('/m/f')).toBe('y');
  });

  it('needs access to the metadata, so it tells a guarded caller nothing that stat does not', async () => {
    const inner = still({ '/drop/f': 'x' });
    const guard = new SampleGuard([{ root: '/drop', read: false, write: true }]);
    for (const fs of [restrict(inner, guard), restrict(promises(inner), guard)]) {
      for (const ifVersion of [inner.statSync('/drop/f').version, 'stale']) {
        const calls = [
          fs.writeFile('/drop/f', 'y', { ifVersion }),
          fs.appendFile('/drop/f', 'y', { ifVersion }),
          fs.rename('/drop/f', '/drop/g', { ifVersion }),
          fs.rm('/drop/f', { ifVersion }),
        ];
        for (const outcome of await Promise.allSettled(calls))
          expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'EACCES' } });
      }
      await fs.writeFile('/drop/f', 'x');
    }
  });

  it('is checked again after an edit of a long text in slices', async () => {
    const fs = still({ '/f': `${'x'.repeat(2 ** 21)}end` });
    const ifVersion = fs.statSync('/f').version;
    const edit = fs.editFile('/f', 'end', 'END', { ifVersion });
    fs.chmodSync('/f', 0o600);
    const error: unknown = await edit.catch((reason: unknown) => reason);
    expect(isFsError(error, 'ECHANGED')).toBe(true);
    expect(fs.readTextSync('/f').endsWith('xend')).toBe(true);
  });
});
