import * as host from 'node:fs';
import { asyncForm, openFileSystem, StorageError } from '@scratchfs/core';
import { observe } from '@scratchfs/core/layers';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { isNode20 } from '../testing/node-version.js';
import { outcomeOf } from '../testing/same.js';
import { ACCIDENTS, KNOWN_DIFFERENCES } from '../testing/sweep/known-differences.js';
import { onBoth, onBothLater } from '../testing/twin.js';
import { createNodeFs } from './create-node-fs.js';

/** The differences from Node that the README lists, each with a demonstration. */
const DIFFERENCES: Readonly<Record<string, () => unknown>> = {
  'Functions and messages are those of Node 20; `glob` and `mkdtempDisposable` are added from later versions. `Utf8Stream` does not exist.':
    () => {
      const fs = createNodeFs();
      expect(fs).not.toHaveProperty('Utf8Stream');
      for (const name of ['glob', 'globSync', 'mkdtempDisposableSync']) expect(fs).toHaveProperty(name);
    },

  '`glob` supports the patterns of `scratchfs/search`: `!(a)` is refused, and there are no POSIX classes.': () => {
    const fs = createNodeFs();
    fs.writeFileSync('/a', '');
    fs.writeFileSync('/b', '');
    expect(fs.globSync('{a,b}').sort()).toEqual(['a', 'b']);
    expect(fs.globSync('[ab]').sort()).toEqual(['a', 'b']);
    expect(fs.globSync('[[:alpha:]]')).toEqual([]);
    expect(() => fs.globSync('!(a)')).toThrow(RangeError);
  },

  'A recursive `readdir` lists links and never enters them; Node 20 enters them when it returns plain names.': () => {
    const { host: theirs, own } = onBoth((fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.writeFileSync(at('/d/f'), '');
      fs.symlinkSync('d', at('/l'));
      return (fs.readdirSync(at('/'), { recursive: true }) as string[]).sort();
    });
    expect(own).toEqual({ value: ['d', 'd/f', 'l'] });
    if (isNode20) expect(theirs).toEqual({ value: ['d', 'd/f', 'l', 'l/f'] });
  },

  '`cp` copies name by name, as Node does: if it fails, the copied part stays. `fileSystem.cp` is atomic.':
    async () => {
      const fileSystem = openFileSystem(new MemoryStorage(), { limits: { maxTotalSize: 12 } });
      const fs = createNodeFs(fileSystem);
      fs.mkdirSync('/d');
      fs.writeFileSync('/d/a', '1234');
      fs.writeFileSync('/d/b', '1234');
      await expect(fileSystem.cp('/d', '/whole', { recursive: true })).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(fs.readdirSync('/')).toEqual(['d']);
      await expect(fs.promises.cp('/d', '/c', { recursive: true })).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(fs.readdirSync('/c')).toContain('a');
    },

  "The umask is an option (0o022 by default), not the process's.": () => {
    const before = process.umask(0o077);
    try {
      const [plain, own] = [createNodeFs(), createNodeFs(undefined, { umask: 0 })];
      for (const fs of [plain, own]) fs.writeFileSync('/f', '');
      expect([plain, own].map((fs) => fs.statSync('/f').mode & 0o777)).toEqual([0o644, 0o666]);
    } finally {
      process.umask(before);
    }
  },

  'Control characters in an error message are escaped, and paths are cut at 200 characters; `path` and `dest` contain the complete paths.':
    async () => {
      const fs = createNodeFs();
      expect(await outcomeOf(() => fs.statSync('/a\nb'))).toMatchObject({
        message: "ENOENT: no such file or directory, stat '/a\\u000ab'",
        path: '/a\nb',
      });
      const long = `/${'n'.repeat(250)}`;
      const { message, path } = (await outcomeOf(() => fs.statSync(long))) as { message: string; path: string };
      expect(message).toContain(`${long.slice(0, 200)}…`);
      expect(path).toBe(long);
    },

  "A failure of the storage is EIO, ENOSPC if it is full, EACCES if it refuses the right; a limit is ENOSPC or EFBIG. The filesystem's own error is the `cause`.":
    async () => {
      const limited = createNodeFs(openFileSystem(new MemoryStorage(), { limits: { maxFileSize: 1 } }));
      expect(await causeOf(() => limited.writeFileSync('/f', 'xx'))).toMatchObject({
        code: 'EFBIG',
        limit: 'maxFileSize',
      });
      let reason = new StorageError('unavailable', 'gone');
      const fileSystem = observe(await openFileSystem(asyncForm(new MemoryStorage())), () => {});
      const broken = new Proxy(fileSystem, {
        get: (target, name) => (name === 'stat' ? () => Promise.reject(reason) : Reflect.get(target, name, target)),
      });
      expect(await outcomeOf(() => createNodeFs(broken).promises.stat('/f'))).toMatchObject({ code: 'EIO' });
      expect(await causeOf(() => createNodeFs(broken).promises.stat('/f'))).toBe(reason);
      for (const [kind, code] of [
        ['full', 'ENOSPC'],
        ['denied', 'EACCES'],
      ] as const) {
        reason = new StorageError(kind, 'no');
        expect(await outcomeOf(() => createNodeFs(broken).promises.stat('/f'))).toMatchObject({ code });
      }
    },

  'In memory, calls have taken effect when they return, promises and callbacks too: a later abort changes nothing.':
    async () => {
      const fs = createNodeFs();
      const controller = new AbortController();
      const running = fs.promises.writeFile('/f', 'x', { signal: controller.signal });
      expect(fs.readFileSync('/f', 'utf8')).toBe('x');
      controller.abort();
      await expect(running).resolves.toBeUndefined();
      const called = new Promise((resolve) => fs.appendFile('/f', 'y', (error) => resolve(error)));
      expect(fs.readFileSync('/f', 'utf8')).toBe('xy');
      expect(await called).toBeNull();
    },

  '`readableWebStream` yields bytes, as in Node 24; dates of Stats are created when they are read, as in Node 22.':
    async () => {
      const fs = createNodeFs();
      fs.writeFileSync('/f', 'x');
      const handle = await fs.promises.open('/f');
      const { value } = await handle.readableWebStream().getReader().read();
      await handle.close();
      expect(value).toBeInstanceOf(Uint8Array);
      expect(Object.keys(fs.statSync('/f'))).not.toContain('mtime');
      expect(fs.statSync('/f').mtime).toBeInstanceOf(Date);
    },

  'Descriptors belong to the object and start at 3: 0, 1 and 2 are EBADF, and so is a descriptor of the process.':
    async () => {
      const fs = createNodeFs();
      const ofProcess = host.openSync('/dev/null', 'r');
      try {
        for (const fd of [0, 1, 2, ofProcess]) {
          expect(await outcomeOf(() => fs.fstatSync(fd))).toMatchObject({ code: 'EBADF', syscall: 'fstat' });
          expect(await outcomeOf(() => fs.writeSync(fd, 'x'))).toMatchObject({ code: 'EBADF', syscall: 'write' });
          expect(await outcomeOf(() => fs.closeSync(fd))).toMatchObject({ code: 'EBADF', syscall: 'close' });
        }
      } finally {
        host.closeSync(ofProcess);
      }
      fs.writeFileSync('/f', '');
      expect(fs.openSync('/f', 'r')).toBe(3);
    },

  'Times outside the range of Date are EINVAL; Node sets whatever the disk accepts.': async () => {
    const { host: theirs, own } = onBoth((fs, at) => {
      fs.writeFileSync(at('/f'), '');
      fs.utimesSync(at('/f'), 1e13, 1e13);
    });
    expect(theirs).toEqual({ value: undefined });
    expect(own).toMatchObject({ error: { code: 'EINVAL', syscall: 'utime', path: '/f' } });
  },

  'A Date passed to `utimes` keeps its millisecond; Node 20 may lose a microsecond.': () => {
    const { host: theirs, own } = onBoth((fs, at) => {
      fs.writeFileSync(at('/f'), '');
      fs.utimesSync(at('/f'), new Date(1001), new Date(1001));
      return fs.statSync(at('/f'), { bigint: true }).mtimeNs;
    });
    expect(own).toEqual({ value: 1_001_000_000n });
    if (isNode20) expect(theirs).toEqual({ value: 1_000_999_000n });
  },

  'A Dir is busy while any of its reads is; Node 20 allows `readSync` and `closeSync` if the entries are already loaded.':
    async () => {
      const outcomes = await onBothLater(async (fs, at) => {
        for (const name of ['/a', '/b', '/c']) fs.writeFileSync(at(name), '');
        const dir = fs.opendirSync(at('/'));
        await dir.read();
        const second = dir.read();
        const outcome = outcomeOf(() => dir.readSync());
        await second;
        await dir.close();
        return outcome;
      });
      expect(outcomes.own).toMatchObject({ value: { code: 'ERR_DIR_CONCURRENT_OPERATION' } });
      if (isNode20) expect(outcomes.host).not.toHaveProperty('value.code');
    },

  'A recursive `readdir` also accepts a path as bytes.': () => {
    const { host: theirs, own } = onBoth((fs, at) => {
      fs.writeFileSync(at('/f'), '');
      return fs.readdirSync(Buffer.from(at('/')), { recursive: true });
    });
    expect(own).toEqual({ value: ['f'] });
    if (isNode20) expect(theirs).toHaveProperty('error');
  },

  'A closed FileHandle passed to `promises.readFile` is EBADF, as in its own method; Node 20 reports its descriptor, -1.':
    async () => {
      const { host: theirs, own } = await onBothLater(async (fs, at) => {
        const handle = await fs.promises.open(at('/f'), 'w');
        await handle.close();
        return fs.promises.readFile(handle);
      });
      expect(own).toMatchObject({ error: { code: 'EBADF' } });
      if (isNode20) expect(theirs).toMatchObject({ error: { code: 'ERR_OUT_OF_RANGE' } });
    },

  '`length` of functions differs, `cp` calls back with null only, and `opendir` names a missing callback `cb`.':
    async () => {
      const fs = createNodeFs();
      expect([fs.readFileSync.length, host.readFileSync.length]).toEqual([0, 2]);
      fs.writeFileSync('/f', '');
      expect(await new Promise((resolve) => fs.cp('/f', '/g', (...heard) => resolve(heard)))).toEqual([null]);
      const opendir = fs.opendir as unknown as (path: string) => void;
      expect(await outcomeOf(() => opendir('/'))).toMatchObject({ message: expect.stringContaining('"cb" argument') });
    },
};

async function causeOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return (error as Error).cause;
  }
}

describe('differences from Node', () => {
  it.each(Object.entries(DIFFERENCES))('%s', async (_, show) => {
    await show();
  });

  it('are listed in the README, all of them and nothing else', () => {
    const readme = host.readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const section = readme.split('## Where it differs from Node\n')[1]?.split('\n## ')[0] ?? '';
    const sentences = section
      .split('\n- ')
      .slice(1)
      .map((item) => item.trim().replace(/\s+/g, ' '));
    const known = [...Object.keys(DIFFERENCES), ...KNOWN_DIFFERENCES.map(({ sentence }) => sentence), ...ACCIDENTS];
    expect([...sentences].sort()).toEqual([...known].sort());
  });
});
