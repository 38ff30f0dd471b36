import { type FileSystem, isFsError, type SyncFileSystem } from '@scratchfs/core';
import { dump } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory } from './testing/memory.js';
import { ALL_PROBES, PROBES, type Probe, type PublicName, probe, probeSync } from './testing/probes.js';
import { outcomeOf, tell } from './testing/tell.js';
import { FILES } from './testing/worlds.js';

const CONFIG = { paths: { pub: { root: '/jail/pub' }, rw: { root: '/jail/pub/rw', mode: 'rw' as const } } };
const INSIDE = '/jail/pub/rw/mine.txt';

const STORAGES: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => memory(FILES),
  'async memory': () => asyncMemory(FILES),
};

/** Members that take no path, with the title of the test (below or in `whole.test.ts`) that covers each. */
const WHOLE: Partial<Record<PublicName, string>> = {
  kind: 'a constant',
  capabilities: 'a constant',
  promises: 'the promise methods have the same policy',
  limits: 'limits and statistics reveal nothing of what is outside',
  stats: 'limits and statistics reveal nothing of what is outside',
  setLimits: 'limits cannot be changed',
  checkpoint: 'checkpoints of others are invisible',
  checkpoints: 'checkpoints of others are invisible',
  rollback: 'rollback changes only writable entries, and nothing if it would need more',
  drop: 'checkpoints of others are invisible',
  at: 'the state of a checkpoint has the same policy',
  fork: 'a fork has the same policy',
  transaction: 'a transaction has the same policy',
  run: 'operations and cursors of untrusted code see only readable entries',
  iterate: 'operations and cursors of untrusted code see only readable entries',
  compare: 'operations and cursors of untrusted code see only readable entries',
  toJSON: 'toJSON holds only readable entries',
  close: 'close ends only the view',
};

/** Returns the names of all methods of an object and its prototypes. */
function methodsOf(object: object): string[] {
  const names = new Set<string>();
  for (let at: object = object; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return [...names];
}

describe.each(Object.keys(STORAGES))('every method of a sandbox’s filesystem over %s', (storage) => {
  const open = async () => {
    const beneath = await (STORAGES[storage] as () => Promise<FileSystem>)();
    return { beneath, fileSystem: new Sandbox(beneath, CONFIG).fileSystem };
  };

  it('is covered by a probe, in both forms', async () => {
    const { fileSystem } = await open();
    const known = Object.keys(PROBES);
    const unknown = methodsOf(fileSystem).filter(
      (name) => !known.includes(name) && !known.includes(name.replace(/Sync$/, '')),
    );
    expect(unknown).toEqual([]);
    for (const [name, probes] of Object.entries(PROBES)) {
      expect(probes.length > 0 || WHOLE[name as PublicName] !== undefined, name).toBe(true);
    }
  });

  /** Runs a check for every probe in every form, and returns the violations. */
  const all = async (
    check: (each: Probe, run: (path: string) => Promise<string>, form: string) => Promise<string | undefined>,
  ) => {
    const wrong: string[] = [];
    let { beneath, fileSystem } = await open();
    const before = tell(await dump(beneath));
    for (const each of ALL_PROBES) {
      const forms = fileSystem.kind === 'sync' && each.isPromise !== true ? ['promise', 'sync'] : ['promise'];
      for (const form of forms) {
        const run = (path: string): Promise<string> =>
          outcomeOf(() =>
            form === 'sync'
              ? probeSync(fileSystem as SyncFileSystem, each, path, INSIDE)
              : probe(fileSystem, each, path, INSIDE),
          );
        const problem = await check(each, run, form);
        if (problem !== undefined) wrong.push(`${form} ${each.name}: ${problem}`);
      }
      if (tell(await dump(beneath)) === before) continue;
      wrong.push(`${each.name} changed something`);
      ({ beneath, fileSystem } = await open());
    }
    return wrong;
  };

  const asks: readonly string[] = ['exists', 'isFile', 'isDirectory'];

  it('refuses NUL before anything else', async () => {
    const wrong = await all(async (each, run) => {
      for (const path of ['\0', '/jail/pub/a\0b', '/secret/\0', '../\0']) {
        const outcome = await run(path);
        const isRefused = asks.includes(each.name) ? outcome === 'answer false' : outcome.startsWith('error TypeError');
        if (!isRefused) return `${JSON.stringify(path)}: ${outcome}`;
      }
      return undefined;
    });
    expect(wrong).toEqual([]);
  });

  it('refuses writes in a read-only directory, and allows reads', async () => {
    const wrong = await all(async (each, run) => {
      for (const path of ['/jail/pub/ok.txt', '/jail/pub/dir', '/jail/pub/rw/to-ok']) {
        const takesLink = [
          'lchown',
          'lutimes',
          'rm',
          'unlink',
          'rmdir',
          'rename',
          'symlink',
          'link',
          'cp',
          'mkdir',
        ].includes(each.name);
        if (takesLink && path.endsWith('to-ok')) continue;
        const outcome = await run(path);
        if (each.effect !== 'write') {
          if (/PathNot|name=Sandbox/.test(outcome)) return `${path}: ${outcome}`;
        } else if (/^answer(?! undefined)/.test(outcome)) return `${path}: ${outcome}`;
      }
      return undefined;
    });
    expect(wrong.filter((text) => !/^(promise|sync) (cp|copyFile)|^(cp|copyFile) changed/.test(text))).toEqual([]);
  });

  it('does not start if its signal is aborted', async () => {
    const reason = new Error('stop');
    const wrong: string[] = [];
    const { beneath, fileSystem } = await open();
    const before = tell(await dump(beneath));
    for (const each of ALL_PROBES) {
      for (const path of [INSIDE, '/jail/pub/ok.txt', '/secret/key']) {
        const error = await probe(fileSystem, each, path, INSIDE, AbortSignal.abort(reason)).then(
          (answer) => answer,
          (thrown: unknown) => thrown,
        );
        // A watcher has nothing to start: it ends, or has been refused.
        const isEnded = error === reason || (each.name === 'watch' && /done=true|PathNotInSandbox/.test(tell(error)));
        if (!isEnded) wrong.push(`${each.name} ${path}: ${tell(error)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(tell(await dump(beneath))).toBe(before);
  });

  it('fails with errors that have a code', async () => {
    const { fileSystem } = await open();
    const error = await fileSystem.readFile('/secret/key').catch((thrown: unknown) => thrown);
    expect(isFsError(error, 'EACCES')).toBe(true);
  });
});
