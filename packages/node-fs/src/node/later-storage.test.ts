import { promisify } from 'node:util';
import { asyncForm, type FileSystem, openFileSystem, StorageError } from '@scratchfs/core';
import { observe, overlay, readonly } from '@scratchfs/core/layers';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { createNodeFs } from './create-node-fs.js';

const open = async (): Promise<FileSystem> => openFileSystem(asyncForm(new MemoryStorage()));

describe('over an asynchronous storage', () => {
  it('descriptors, handles and streams work', async () => {
    const fs = createNodeFs(await open());
    await fs.promises.mkdir('/d/e', { recursive: true });
    const written = fs.createWriteStream('/d/f');
    await new Promise((resolve) => written.end('one\ntwo', () => resolve(undefined)));
    let text = '';
    for await (const chunk of fs.createReadStream('/d/f', 'utf8')) text += chunk;
    expect(text).toBe('one\ntwo');
    const handle = await fs.promises.open('/d/f', 'r+');
    const lines: string[] = [];
    for await (const line of handle.readLines()) lines.push(line);
    expect(lines).toEqual(['one', 'two']);
    const heard = await new Promise((resolve) => {
      fs.open('/d/g', fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600, (error, fd) => {
        if (error !== null) return resolve(error);
        fs.write(fd, 'abc', () =>
          fs.read(fd, Buffer.alloc(3), 0, 3, 0, (...given) => fs.close(fd, () => resolve(given))),
        );
      });
    });
    expect(heard).toEqual([null, 3, Buffer.from('abc')]);
    expect((await fs.promises.stat('/d/g')).mode & 0o777).toBe(0o600);
  });

  it('cp, rm, glob, watch and opendir work', async () => {
    const fs = createNodeFs(await open());
    await fs.promises.mkdir('/d/e', { recursive: true });
    await fs.promises.writeFile('/d/e/f.ts', 'x');
    await fs.promises.cp('/d', '/c', { recursive: true });
    const found: string[] = [];
    for await (const path of fs.promises.glob('**/*.ts')) found.push(path);
    expect(found).toEqual(['c/e/f.ts', 'd/e/f.ts']);
    const watcher = fs.watch('/c', { recursive: true });
    const change = new Promise((resolve) => watcher.once('change', (...given) => resolve(given)));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await fs.promises.rm('/c/e', { recursive: true });
    expect(await change).toEqual(['rename', 'e']);
    watcher.close();
    const names: string[] = [];
    for await (const { name } of await fs.promises.opendir('/d')) names.push(name);
    expect(names).toEqual(['e']);
  });

  it('a watcher of a missing path reports an error event', async () => {
    const fs = createNodeFs(await open());
    const error = await new Promise((resolve) => fs.watch('/missing').on('error', resolve));
    expect(error).toMatchObject({ code: 'ENOENT', syscall: 'watch', filename: '/missing' });
  });

  it('an aborted call ends with an AbortError', async () => {
    const fs = createNodeFs(await open());
    await fs.promises.writeFile('/f', 'x');
    const signal = AbortSignal.abort('why');
    const aborted = { name: 'AbortError', code: 'ABORT_ERR', cause: 'why' };
    await expect(fs.promises.readFile('/f', { signal })).rejects.toMatchObject(aborted);
    await expect(fs.promises.writeFile('/f', 'y', { signal })).rejects.toMatchObject(aborted);
    const heard = await new Promise((resolve) => fs.readFile('/f', { signal }, resolve));
    expect(heard).toMatchObject(aborted);
    expect(await fs.promises.readFile('/f', 'utf8')).toBe('x');
    const controller = new AbortController();
    const running = fs.promises.readFile('/f', { signal: controller.signal });
    controller.abort('later');
    await expect(running).rejects.toMatchObject({ name: 'AbortError', cause: 'later' });
  });

  it.each([
    ['unavailable', 'EIO', -5, 'EIO: i/o error'],
    ['full', 'ENOSPC', -28, 'ENOSPC: no space left on device'],
    ['denied', 'EACCES', -13, 'EACCES: permission denied'],
  ] as const)('a storage failure of kind %s is %s with its reason as the cause', async (kind, code, errno, start) => {
    const reason = new StorageError(kind, 'gone');
    const fileSystem = observe(await open(), () => {});
    const broken = new Proxy(fileSystem, {
      get: (target, name) => (name === 'stat' ? () => Promise.reject(reason) : Reflect.get(target, name, target)),
    });
    const fs = createNodeFs(broken);
    const expected = { code, errno, cause: reason, message: expect.stringContaining(start) };
    await expect(fs.promises.stat('/f')).rejects.toMatchObject(expected);
  });

  it('exists() calls its callback with false if the storage fails', async () => {
    const broken = new Proxy(await open(), {
      get: (target, name) =>
        name === 'exists'
          ? () => Promise.reject(new StorageError('unavailable', 'gone'))
          : Reflect.get(target, name, target),
    });
    const { exists } = createNodeFs(broken);
    expect(await new Promise((resolve) => exists('/', resolve))).toBe(false);
    expect(await promisify(exists)('/')).toBe(false);
  });
});

describe('over layers', () => {
  it('a refused write is EROFS', () => {
    const base = openFileSystem(new MemoryStorage(), { files: { '/f': 'x' } });
    const fs = createNodeFs(readonly(base));
    expect(fs.readFileSync('/f', 'utf8')).toBe('x');
    expect(() => fs.writeFileSync('/f', 'y')).toThrow("EROFS: read-only file system, open '/f'");
    expect(() => fs.openSync('/f', 'r+')).toThrow("EROFS: read-only file system, open '/f'");
    expect(() => fs.unlinkSync('/f')).toThrow("EROFS: read-only file system, unlink '/f'");
  });

  it('an overlay keeps the lower filesystem unchanged', () => {
    const base = openFileSystem(new MemoryStorage(), { files: { '/f': 'x' } });
    const fs = createNodeFs(overlay(base));
    fs.appendFileSync('/f', 'y');
    expect(fs.readFileSync('/f', 'utf8')).toBe('xy');
    expect(base.readTextSync('/f')).toBe('x');
  });

  it("an observer receives the functions' operations", () => {
    const heard: string[] = [];
    const base = observe(openFileSystem(new MemoryStorage()), ({ operation }) => heard.push(operation));
    const fs = createNodeFs(base);
    fs.mkdirSync('/d');
    fs.writeFileSync('/d/f', 'x');
    fs.readFileSync('/d/f');
    expect(heard).toEqual(['mkdir', 'writeFile', 'readFile']);
  });
});

describe('limits', () => {
  it("are ENOSPC and EFBIG with the filesystem's error as the cause", () => {
    const fs = createNodeFs(openFileSystem(new MemoryStorage(), { limits: { maxTotalSize: 10, maxFileSize: 8 } }));
    fs.writeFileSync('/f', '12345');
    expect(attempt(() => fs.writeFileSync('/g', '123456'))).toMatchObject({
      code: 'ENOSPC',
      message: expect.stringMatching(/^ENOSPC: no space left on device, (open '\/g'|write)$/),
      cause: { limit: 'maxTotalSize', used: 5, allowed: 10 },
    });
    expect(attempt(() => fs.appendFileSync('/f', '6789'))).toMatchObject({ code: 'EFBIG', syscall: 'write' });
    const { bsize, blocks, bfree } = fs.statfsSync('/');
    expect([bsize, blocks, bfree]).toEqual([4096, 1, 0]);
    expect(fs.statfsSync('/', { bigint: true }).blocks).toBe(1n);
  });

  it("a file too large for one array gives Node's error", () => {
    const fs = createNodeFs();
    const fd = fs.openSync('/f', 'w+');
    fs.ftruncateSync(fd, 2 ** 32);
    const expected = { name: 'RangeError', code: 'ERR_FS_FILE_TOO_LARGE' };
    expect(attempt(() => fs.readFileSync('/f'))).toMatchObject(expected);
    expect(attempt(() => fs.readFileSync(fd))).toMatchObject({
      ...expected,
      message: 'File size (4294967296) is greater than 2 GiB',
    });
    fs.closeSync(fd);
  });
});

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    const { name, message, cause } = error as Error;
    return { ...(error as object), name, message, cause };
  }
}
