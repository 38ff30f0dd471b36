import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NodeFs } from './grounds.js';
import { onBoth, writeFiles } from './grounds.js';
import { loadWith } from './load-with.js';

const require = createRequire(import.meta.url);

/** Returns the error's code, or the result. */
async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

describe('fs-extra', () => {
  type FsExtra = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

  it.each(['promises', 'sync'])('copies, moves, removes, ensures, empties and reads JSON, with %s', async (form) => {
    const { answer, tree } = await onBoth(async (ground) => {
      const { fs, root } = ground;
      const extra = await loadWith<FsExtra>(fs, 'fs-extra');
      const call = (name: string, ...args: readonly unknown[]) =>
        extra[form === 'sync' ? `${name}Sync` : name]?.(...args);
      const at = (path: string) => join(root, path);
      await call('outputFile', at('src/a/b/file.txt'), 'deep\n');
      await call('outputJson', at('src/data.json'), { name: 'Ada' }, { spaces: 2 });
      await call('ensureSymlink', at('src/a'), at('src/links/a'));
      await call('ensureLink', at('src/data.json'), at('src/links/data.json'));
      await call('ensureFile', at('src/new/empty'));
      await call('ensureDir', at('src/mode'), { mode: 0o2755 });
      fs.utimesSync(at('src/data.json'), 1_600_000_000, 1_600_000_000);
      await call('copy', at('src'), at('copy'), { preserveTimestamps: true });
      await call('copy', at('src'), at('filtered'), { filter: (path: string) => !path.includes('links') });
      const codes = [
        await codeOf(() => call('copy', at('src'), at('src/inside'))),
        await codeOf(() =>
          call('copy', at('src/data.json'), at('copy/data.json'), { overwrite: false, errorOnExist: true }),
        ),
        await codeOf(() => call('move', at('src/a'), at('copy/a'))),
        await codeOf(() => call('move', at('src'), at('src/a/src'))),
        await codeOf(() => call('readJson', at('src/none.json'))),
        await codeOf(() => call('ensureDir', at('src/data.json/x'))),
        await codeOf(() => call('emptyDir', at('src/data.json'))),
      ];
      await call('move', at('src/a'), at('moved/a'));
      await call('move', at('src/data.json'), at('copy/data.json'), { overwrite: true });
      await call('emptyDir', at('filtered/a'));
      await call('remove', at('copy/links'));
      await call('remove', at('never/was'));
      return {
        codes,
        exists: [await call('pathExists', at('src/a')), await call('pathExists', at('moved/a/b/file.txt'))],
        json: await call('readJson', at('copy/data.json')),
        time: fs.statSync(at('copy/data.json')).mtimeMs,
      };
    });
    expect(answer.json).toEqual({ name: 'Ada' });
    expect(answer.exists).toEqual([false, true]);
    expect(answer.codes.slice(4)).toEqual(['ENOENT', 'ENOTDIR', 'ENOTDIR']);
    expect(tree['/moved/a/b/file.txt']).toContain('deep');
  });
});

describe('graceful-fs', () => {
  it('accepts the filesystem through gracefulify: streams, waiting for open files, retried renames', async () => {
    const { gracefulify } = require('graceful-fs') as { gracefulify(fs: NodeFs): NodeFs };
    const { answer } = await onBoth(async ({ fs: plain, root }) => {
      let refused = 0;
      const limited = {
        ...plain,
        // Fails like the system when a process has too many open files.
        open: ((...args: Parameters<NodeFs['open']>) => {
          const callback = args[args.length - 1] as unknown as (error: Error) => void;
          if (++refused > 3) plain.open(...args);
          else setTimeout(callback, 1, Object.assign(new Error('EMFILE'), { code: 'EMFILE' }));
        }) as unknown as NodeFs['open'],
      };
      const fs = gracefulify(limited);
      const at = (path: string) => join(root, path);
      await new Promise<void>((resolve, reject) =>
        fs.open(at('waited'), 'w', (error, fd) => (error ? reject(error) : fs.close(fd, () => resolve()))),
      );
      await Promise.all(
        Array.from({ length: 200 }, (_, i) => call<void>((done) => fs.writeFile(at(`f${i}`), `${i}\n`, done))),
      );
      const read = await Promise.all(
        Array.from({ length: 200 }, (_, i) => call<string>((done) => fs.readFile(at(`f${i}`), 'utf8', done))),
      );
      const copied = await new Promise<number>((resolve, reject) => {
        const from = fs.createReadStream(at('f7'), { start: 0 });
        const to = fs.createWriteStream(at('copied'));
        from
          .on('error', reject)
          .pipe(to)
          .on('error', reject)
          .on('finish', () => resolve(to.bytesWritten));
      });
      await call<void>((done) => fs.rename(at('f8'), at('renamed'), done));
      const names = await call<string[]>((done) => fs.readdir(root, done));
      const stats = await call<{ uid: number; gid: number }>((done) => fs.stat(at('f9'), done));
      return {
        refused: refused > 3,
        read: read.join(''),
        copied,
        isStream: await classesWork(fs, at('f1')),
        sorted: names.join() === [...names].sort().join(),
        owner: typeof stats.uid,
        code: await codeOf(() => call((done) => fs.lchown(at('none'), 0, 0, done as never))),
      };
    });
    expect(answer).toMatchObject({ refused: true, copied: 2, isStream: true, sorted: true, code: 'ENOENT' });
  });
});

describe('proper-lockfile', () => {
  interface LockFile {
    lock(file: string, options: object): Promise<() => Promise<void>>;
    unlock(file: string, options: object): Promise<void>;
    check(file: string, options: object): Promise<boolean>;
  }

  it('locks a file once, renews the lock, takes over a stale one, and releases it', async () => {
    const { check, lock, unlock } = require('proper-lockfile') as LockFile;
    const { answer } = await onBoth(async (ground) => {
      const fs = { ...ground.fs };
      const file = join(ground.root, 'data');
      writeFiles(ground, { data: 'x' });
      fs.symlinkSync('data', join(ground.root, 'link'));
      const options = { fs, stale: 20_000, update: 1000 };
      const release = await lock(file, options);
      const before = fs.statSync(`${file}.lock`).mtimeMs;
      const held = [await check(file, options), await codeOf(() => lock(join(ground.root, 'link'), options))];
      await expect.poll(() => fs.statSync(`${file}.lock`).mtimeMs).toBeGreaterThan(before);
      await release();
      held.push(await check(file, options));
      fs.mkdirSync(`${file}.lock`);
      fs.utimesSync(`${file}.lock`, 1, 1);
      await lock(file, options);
      held.push(await check(file, options));
      await unlock(file, options);
      return { held, missing: await codeOf(() => lock(join(ground.root, 'none'), options)) };
    });
    expect(answer).toEqual({ held: [true, 'ELOCKED', false, true], missing: 'ENOENT' });
  });
});

describe('write-file-atomic', () => {
  type Write = ((path: string, data: string | Buffer, options?: object) => Promise<void>) & {
    sync(path: string, data: string | Buffer, options?: object): void;
  };

  it('replaces files atomically, keeps their mode, follows links, and leaves nothing behind', async () => {
    const { answer, tree } = await onBoth(async (ground) => {
      const { fs, root } = ground;
      const write = await loadWith<Write>(fs, 'write-file-atomic');
      const at = (path: string) => join(root, path);
      writeFiles(ground, { kept: 'old', target: 'old' });
      fs.chmodSync(at('kept'), 0o600);
      fs.symlinkSync('target', at('link'));
      const open = fs.openSync(at('kept'), 'r');
      await Promise.all([1, 2, 3, 4].map((n) => write(at('kept'), `written ${n}\n`)));
      await write(at('link'), 'through the link\n');
      write.sync(at('sync'), Buffer.from('sync\n'), { mode: 0o640 });
      await write(at('own'), 'own\n', { tmpfileCreated: (name: string) => name.startsWith(at('own.')) });
      const before = fs.readFileSync(open, 'utf8');
      fs.closeSync(open);
      return {
        before,
        codes: [await codeOf(() => write(at('no/where'), 'x')), await codeOf(() => write.sync(at('no/where'), 'x'))],
      };
    });
    expect(answer).toEqual({ before: 'old', codes: ['ENOENT', 'ENOENT'] });
    expect(tree).toMatchObject({
      '/kept': 'file 600 ×1 "written 4\\n"',
      '/link': 'link to target',
      '/sync': 'file 640 ×1 "sync\\n"',
      '/target': 'file 644 ×1 "through the link\\n"',
    });
  });
});

/** Reports whether the classes exist under both names and create streams without `new`, as older packages call them. */
async function classesWork(fs: NodeFs, path: string): Promise<boolean> {
  const { ReadStream, FileReadStream } = fs as unknown as Record<string, (path: string) => NodeJS.ReadableStream>;
  const parts: string[] = [];
  for await (const part of ReadStream?.(path) ?? []) parts.push(String(part));
  for await (const part of FileReadStream?.(path) ?? []) parts.push(String(part));
  return parts.join('') === '1\n1\n' && fs.createReadStream(path).on('error', () => {}) instanceof fs.ReadStream;
}

/** Converts a callback into a promise. */
function call<T>(start: (done: (error: Error | null, value?: unknown) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value as T))));
}
