import type { FileFunction, FileSystem, InitialFiles } from '@scratchfs/core';
import { withRollback } from '@scratchfs/core/checkpoints';
import { diff, diffFileSystems, diffFileSystemsSync } from '@scratchfs/core/diff';
import { mount, observe, overlay, readonly } from '@scratchfs/core/layers';
import { glob, grep } from '@scratchfs/core/search';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it, vi } from 'vitest';
import { createFileSystem } from './create-file-system.js';
import { isContentLoading } from './function-files.js';

const TEXT = 'the content';
const later = () => vi.fn(async () => TEXT);
const open = (load: FileFunction, more: InitialFiles = {}) =>
  createFileSystem({ files: { '/dir/big': load, ...more }, clock: () => 1_000 });

function methodOf(fs: FileSystem, key: string | symbol): unknown {
  const value: unknown = Reflect.get(fs, key, fs);
  return typeof value === 'function' ? value.bind(fs) : value;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a file whose content a function returns', () => {
  it('is loaded at the first read, once, also by concurrent reads', async () => {
    const load = later();
    const fs = open(load);
    expect(fs.readdirSync('/dir')).toEqual(['big']);
    expect(fs.entriesSync('/dir')).toMatchObject([{ kind: 'file', size: 0 }]);
    expect([fs.existsSync('/dir/big'), fs.statsSync().totalSize]).toEqual([true, 0]);
    expect(load).not.toHaveBeenCalled();
    const reads = [fs.readText('/dir/big'), fs.readFile('/dir/big'), fs.readLines('/dir/big'), fs.stat('/dir/big')];
    expect(await Promise.all(reads)).toMatchObject([TEXT, new TextEncoder().encode(TEXT), [TEXT], { size: 11 }]);
    expect(fs.readTextSync('/dir/big')).toBe(TEXT);
    expect([fs.statSync('/dir/big').size, fs.statsSync().totalSize, load.mock.calls.length]).toEqual([11, 11, 1]);
    expect(fs.statSync('/dir/big').mtimeMs).toBe(1_000);
  });

  it('can be read synchronously if the function is synchronous', () => {
    const load = vi.fn(() => new TextEncoder().encode(TEXT));
    const fs = open(load);
    expect(fs.statSync('/dir/big').size).toBe(11);
    expect(fs.readTextSync('/dir/big')).toBe(TEXT);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('fails with EAGAIN in the synchronous form if the function is asynchronous, until it is loaded', async () => {
    const load = later();
    const fs = open(load);
    const reads: Record<string, () => unknown> = {
      readFileSync: () => fs.readFileSync('/dir/big'),
      statSync: () => fs.statSync('/dir/big'),
      openSync: () => fs.openSync('/dir/big'),
      appendFileSync: () => fs.appendFileSync('/dir/big', 'x'),
      copyFileSync: () => fs.copyFileSync('/dir/big', '/copy'),
      toJSON: () => fs.toJSON(),
    };
    for (const [name, read] of Object.entries(reads)) {
      let error: unknown;
      try {
        read();
      } catch (caught) {
        error = caught;
      }
      expect([name, error, isContentLoading(error)]).toMatchObject([name, { code: 'EAGAIN' }, true]);
      expect(String(error)).toMatch(/await fs\.readFile\(path\)/);
    }
    expect(await fs.readText('/dir/big')).toBe(TEXT);
    expect(fs.toJSON()).toEqual({ '/dir/big': TEXT });
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('fails with EIO if the function fails, and is tried again at the next read', async () => {
    const failure = new Error('no network');
    const results: unknown[] = [failure, 5, TEXT];
    for (const isAsync of [false, true]) {
      const left = results.slice();
      const next = () => {
        const result = left.shift();
        if (result instanceof Error) throw result;
        return result as string;
      };
      const fs = open(isAsync ? async () => next() : next);
      const eio = { code: 'EIO', path: '/dir/big' };
      await expect(fs.readFile('/dir/big')).rejects.toMatchObject({ ...eio, cause: failure });
      await expect(fs.readFile('/dir/big')).rejects.toThrow(/must return text or bytes, not/);
      expect(await fs.readText('/dir/big')).toBe(TEXT);
    }
  });

  it('has its given size from the start, and no other one', async () => {
    const load = later();
    const fs = createFileSystem({
      files: { '/a': { load, size: 11 }, '/wrong': { load, size: 12 } },
      limits: { maxTotalSize: 23 },
    });
    expect([fs.statSync('/a').size, fs.statsSync().totalSize]).toEqual([11, 23]);
    const { version } = fs.statSync('/a');
    expect(load).not.toHaveBeenCalled();
    expect(await fs.readText('/a')).toBe(TEXT);
    expect(fs.statSync('/a').version).toBe(version);
    await expect(fs.readFile('/wrong')).rejects.toMatchObject({ code: 'EIO', path: '/wrong' });
    await expect(fs.readFile('/wrong')).rejects.toThrow('returned 11 bytes; its size was given as 12');
    expect(() => createFileSystem({ files: { '/a': { load, size: 24 } }, limits: { maxTotalSize: 23 } })).toThrow(
      'ENOSPC',
    );
  });

  it('counts against the limits when it is loaded', async () => {
    const load = later();
    const fs = createFileSystem({ files: { '/a': load }, limits: { maxTotalSize: 10 } });
    for (let i = 0; i < 2; i++)
      await expect(fs.readFile('/a')).rejects.toMatchObject({ code: 'ENOSPC', requested: 11, allowed: 10 });
    expect(fs.statsSync().totalSize).toBe(0);
    fs.setLimitsSync({ maxFileSize: 10 });
    await expect(fs.readFile('/a')).rejects.toMatchObject({ code: 'EFBIG' });
    fs.setLimitsSync({});
    expect(await fs.readText('/a')).toBe(TEXT);
    // A content without room is not kept.
    expect(load).toHaveBeenCalledTimes(4);
  });

  it('is not loaded if it is written, removed, moved, linked or copied with its directory', async () => {
    const load = later();
    const fs = open(load);
    fs.writeFileSync('/dir/big', 'other');
    expect(fs.readTextSync('/dir/big')).toBe('other');
    const lazy = createFileSystem({ files: { '/dir/a': load, '/gone': load } });
    lazy.renameSync('/dir/a', '/dir/b');
    lazy.linkSync('/dir/b', '/link');
    lazy.chmodSync('/link', 0o600);
    lazy.cpSync('/dir', '/copies', { recursive: true });
    lazy.renameSync('/copies', '/moved');
    lazy.truncateSync('/gone');
    lazy.rmSync('/gone');
    expect(load).not.toHaveBeenCalled();
    expect(await lazy.readText('/moved/b')).toBe(TEXT);
    expect(await lazy.readText('/link')).toBe(TEXT);
    expect(lazy.readTextSync('/dir/b')).toBe(TEXT);
    expect([load.mock.calls.length, lazy.statsSync().totalSize]).toEqual([1, 22]);
  });

  it('is loaded before it is changed in part', async () => {
    for (const [change, expected] of [
      [(fs: FileSystem) => fs.appendFile('/dir/big', '!'), `${TEXT}!`],
      [(fs: FileSystem) => fs.truncate('/dir/big', 3), 'the'],
      [(fs: FileSystem) => fs.writeFile('/dir/big', 'THE', { flag: 'r+' }), 'THE content'],
      [(fs: FileSystem) => fs.editFile('/dir/big', 'the', 'a'), 'a content'],
      [(fs: FileSystem) => fs.open('/dir/big', 'r+').then((handle) => handle.write('THE', 0)), 'THE content'],
    ] as const) {
      const fs = open(later());
      await change(fs);
      expect(fs.readTextSync('/dir/big')).toBe(expected);
      expect(fs.statsSync().totalSize).toBe(expected.length);
    }
  });

  it('is changed by the arguments of the call, whatever the caller does with them while it is loaded', async () => {
    for (const [change, expected] of [
      [(fs: FileSystem, data: Uint8Array) => fs.appendFile('/dir/big', data), `${TEXT}THE`],
      [(fs: FileSystem, data: Uint8Array, options: object) => fs.writeFile('/dir/big', data, options), 'THE content'],
    ] as const) {
      const fs = open(later());
      const data = new TextEncoder().encode('THE');
      const options = { flag: 'r+' };
      const changed = change(fs, data, options);
      data.fill(0);
      options.flag = 'w';
      await changed;
      expect(await fs.readText('/dir/big')).toBe(expected);
    }
    const fs = open(later(), { '/copy': 'old' });
    const options = { force: true };
    const copied = fs.cp('/dir/big', '/copy', options);
    options.force = false;
    await copied;
    expect(fs.readTextSync('/copy')).toBe(TEXT);
  });

  it('is shared by forks, checkpoints and transactions, and loaded once for all', async () => {
    const load = later();
    const fs = open(load);
    const before = fs.checkpointSync();
    const fork = fs.forkSync();
    await fs.transaction(async (inside) => {
      expect(await inside.readText('/dir/big')).toBe(TEXT);
      await inside.writeFile('/new', 'x');
    });
    expect(await fork.readText('/dir/big')).toBe(TEXT);
    expect(await fs.at(before).then((then) => then.readText('/dir/big'))).toBe(TEXT);
    const changes = await diff(fs, before);
    expect([changes.added.map(({ path }) => path), changes.changed]).toEqual([['/new'], []]);
    fs.rollbackSync(before);
    expect(fs.statsSync().totalSize).toBe(0);
    expect([fs.readTextSync('/dir/big'), fs.statsSync().totalSize]).toEqual([TEXT, 11]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('is loaded by a search in contents and by a snapshot, not by a search for names', async () => {
    const load = later();
    const fs = open(load, { '/z': 'content too' });
    expect(await collect(glob(fs, '**'))).toEqual(['/dir', '/dir/big', '/z']);
    expect(load).not.toHaveBeenCalled();
    const found = await collect(grep(fs, 'content'));
    expect(found.map(({ path }) => path)).toEqual(['/dir/big', '/z']);
    const other = open(load);
    const restored = createFileSystem();
    await restoreSnapshot(restored, await createSnapshot(other));
    expect(restored.toJSON()).toEqual({ '/dir/big': TEXT });
  });

  it('can be read through layers', async () => {
    for (const layer of [
      (fs: FileSystem) => observe(fs, () => {}),
      (fs: FileSystem) => readonly(fs),
      (fs: FileSystem) => mount(fs, {}),
    ]) {
      const fs = layer(open(async () => TEXT)) as FileSystem;
      expect(await fs.readText('/dir/big')).toBe(TEXT);
    }
    for (const lower of [
      open(async () => TEXT),
      observe(
        open(async () => TEXT),
        () => {},
      ),
    ]) {
      const over = overlay(lower);
      expect(() => over.readTextSync('/dir/big')).toThrow('EAGAIN');
      expect(await over.readText('/dir/big')).toBe(TEXT);
    }
    // An overlay that lists a directory learns the sizes of its files.
    const listed = overlay(open(async () => TEXT));
    expect(await listed.entries('/dir')).toMatchObject([{ size: 11 }]);
    expect(await listed.readText('/dir/big')).toBe(TEXT);
    expect(overlay(open(() => TEXT)).readTextSync('/dir/big')).toBe(TEXT);
    expect(mount(createFileSystem(), { '/at': open(() => TEXT) }).readTextSync('/at/dir/big')).toBe(TEXT);
  });

  it('that fails does not keep withRollback from undoing the work', async () => {
    const fs = open(() => Promise.reject(new Error('down')), { '/a': 'old' });
    const error = new Error('the work failed');
    const attempt = await withRollback(fs, async () => {
      await fs.writeFile('/a', 'new');
      await fs.writeFile('/dir/big', 'new');
      throw error;
    });
    expect(attempt).toEqual({
      committed: false,
      reason: error.message,
      error,
      diffError: expect.objectContaining({ code: 'EIO' }),
    });
    expect([fs.readTextSync('/a'), fs.checkpointsSync()]).toEqual(['old', []]);
  });

  it('is loaded to compare it with a file of another filesystem', async () => {
    const compared = async (content: string, form: (fs: FileSystem) => FileSystem, contents: boolean) => {
      const fs = createFileSystem({ files: { '/dir/big': content, '/dir/other': later() } });
      const found = await diffFileSystems(form(fs), open(later(), { '/dir/other': later() }), { contents });
      return found.changed.map(({ path, after }) => [path, after.size, new TextDecoder().decode(after.data)]);
    };
    const forms: Readonly<Record<string, (fs: FileSystem) => FileSystem>> = {
      memory: (fs) => fs,
      observe: (fs) => observe(fs, () => {}),
      asynchronous: (fs) => new Proxy(fs, { get: (_, key) => (key === 'kind' ? 'async' : methodOf(fs, key)) }),
    };
    for (const [name, form] of Object.entries(forms)) {
      expect(await compared(TEXT, form, false), name).toEqual([]);
      for (const other of ['', 'x', 'THE CONTENT']) {
        expect(await compared(other, form, false), `${name}: ${other}`).toEqual([['/dir/big', 11, '']]);
        expect(await compared(other, form, true), `${name}: ${other}`).toEqual([['/dir/big', 11, TEXT]]);
      }
    }
    expect(() => diffFileSystemsSync(createFileSystem({ files: { '/dir/big': '' } }), open(later()))).toThrow('EAGAIN');
    const [works, fails] = [open(() => TEXT), open(() => Promise.reject(new Error('down')))];
    await expect(diffFileSystems(works, fails)).rejects.toMatchObject({ code: 'EIO' });
  });

  it('ends the wait for it when the call is aborted', async () => {
    const fs = open(() => new Promise<string>(() => {}));
    const abort = new AbortController();
    const read = fs.readFile('/dir/big', { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(read).rejects.toThrow('enough');
  });

  it('needs a filesystem without a storage, and a function', () => {
    const files = { '/a': later() };
    expect(() => createFileSystem({ files, storage: new MemoryStorage() })).toThrow(/'\/a'.*without a storage/);
    for (const content of [{ load: 'text' }, { load: later(), size: -1 }, { load: later(), size: 'x' }])
      expect(() => createFileSystem({ files: { '/a': content as never } })).toThrow(/'\/a'|size of \/a/);
    expect(() => createFileSystem({ files: { '/': later() } })).toThrow(TypeError);
  });
});
