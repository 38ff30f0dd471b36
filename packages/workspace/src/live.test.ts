import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type FileSystem, FsError } from '@scratchfs/core';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt } from './attempt-types.js';
import { Directories, type Entry, fill } from './testing/directories.js';
import { changeSomething, dump, fillDirectory, seeded } from './testing/random-operations.js';
import { MemoryContents, statesOf } from './testing/two-states.js';
import { openWorkspace } from './workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const FILES: Readonly<Record<string, Entry>> = {
  'a.txt': 'one\ntwo\n',
  'b/c.txt': 'c\n',
  'b/deep/d.sh': { content: '#!/bin/sh\n', mode: 0o755 },
  link: '-> b/c.txt',
};

const read = (directory: string, path: string): string => readFileSync(join(directory, path), 'utf8');

/** Returns all that a directory holds, to compare it. */
const shown = async (directory: string): Promise<unknown> =>
  [...(await statesOf(directory, new MemoryContents()))].sort();

async function live<T>(disk: string, work: (attempt: Attempt) => Promise<T>, store?: FileSystem): Promise<T> {
  await using workspace = await openWorkspace(disk, { store: store ?? 'memory:', live: true });
  return await work(await workspace.attempt());
}

const toolsOf = async (attempt: Attempt): Promise<string[]> =>
  (await attempt.log()).operations.map(({ tool }) => tool).reverse();

/** A store that calls a function once, before it writes a file whose path matches. */
function hooked(pattern: RegExp, work: () => unknown): FileSystem {
  const base = createFileSystem();
  let isDone = false;
  const writeFile: FileSystem['writeFile'] = async (path, ...rest) => {
    if (!isDone && pattern.test(String(path))) {
      isDone = true;
      await work();
    }
    return base.writeFile(path, ...rest);
  };
  return new Proxy(base, {
    get: (target, key) => {
      if (key === 'writeFile') return writeFile;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('a live attempt', () => {
  it('refuses an operation with more than 256 MiB of contents, and changes nothing', async () => {
    const disk = directories.directory({ 'd/a.txt': 'a' });
    writeFileSync(join(disk, 'd/large'), '');
    truncateSync(join(disk, 'd/large'), 2 ** 28);
    await live(disk, async (attempt) => {
      await expect(attempt.fileSystem.rm('/d', { recursive: true })).rejects.toMatchObject({
        code: 'EFBIG',
        hint: /256 MiB.*these files have 257 MiB.*one directory after the other/u,
      });
      truncateSync(join(disk, 'd/large'), 2 ** 28 + 1);
      await expect(attempt.fileSystem.rm('/d/large')).rejects.toMatchObject({
        code: 'EFBIG',
        path: '/d/large',
        hint: /this file alone has 257 MiB.*: use an attempt that is not live$/u,
      });
      expect([existsSync(join(disk, 'd/a.txt')), await attempt.head()]).toEqual([true, 0]);
    });
  });

  it('writes each operation to the disk in the same call, and undo and redo follow to the first byte', async () => {
    const disk = directories.directory(FILES);
    const states = [await shown(disk)];
    await live(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      const steps: (() => Promise<unknown>)[] = [
        () => fs.writeFile('/new/n.txt', 'n').catch(() => fs.mkdir('/new')),
        () => fs.writeFile('/new/n.txt', 'n'),
        () => fs.editFile('/a.txt', 'two', 'TWO'),
        () => fs.appendFile('/a.txt', 'three\n'),
        () => fs.rename('/a.txt', '/b/a.txt'),
        () => fs.rename('/b', '/moved'),
        () => fs.chmod('/moved/deep/d.sh', 0o600),
        () => fs.symlink('moved/c.txt', '/second'),
        () => fs.link('/moved/c.txt', '/linked'),
        () => fs.rm('/link'),
        () => fs.cp('/moved', '/copy', { recursive: true }),
        () => fs.rm('/moved', { recursive: true }),
        () =>
          attempt.operation({ tool: 'batch' }, async (tx) => {
            await tx.writeFile('/x', 'x');
            await tx.rename('/copy/c.txt', '/y');
            await tx.rm('/linked');
          }),
      ];
      for (const step of steps) {
        await step();
        const now = await shown(disk);
        expect(now).not.toEqual(states.at(-1));
        states.push(now);
      }
      expect(readlinkSync(join(disk, 'second'))).toBe('moved/c.txt');
      expect([read(disk, 'y'), lstatSync(join(disk, 'copy/deep/d.sh')).mode & 0o777]).toEqual(['c\n', 0o600]);
      expect((await attempt.diff()).paths).toEqual([]);
      for (const state of states.slice(0, -1).reverse()) {
        await attempt.undo();
        expect(await shown(disk)).toEqual(state);
      }
      await expect(attempt.undo()).rejects.toMatchObject({ code: 'nothing-to-undo' });
      for (const state of states.slice(1)) {
        await attempt.redo();
        expect(await shown(disk)).toEqual(state);
      }
      await attempt.restore(0);
      expect(await shown(disk)).toEqual(states[0]);
      await attempt.undo();
      expect(await shown(disk)).toEqual(states.at(-1));
      await attempt.restore(3, { path: '/a.txt' });
      expect(read(disk, 'a.txt')).toBe('one\nTWO\n');
      expect(read(disk, 'x')).toBe('x');
    });
  });

  it('is undone to the first byte and made again after random operations', async () => {
    const disk = directories.directory({});
    fillDirectory(disk);
    const before = await shown(disk);
    await live(disk, async (attempt) => {
      const random = seeded(20261126);
      for (let step = 0; step < 25; step++)
        await changeSomething(attempt.fileSystem, random, step, await dump(attempt.fileSystem));
      const after = await shown(disk);
      const head = await attempt.head();
      for (let count = 0; count < head; count++) await attempt.undo();
      expect(await shown(disk)).toEqual(before);
      for (let count = 0; count < head; count++) await attempt.redo();
      expect(await shown(disk)).toEqual(after);
    });
  });

  it('shows what each operation changed, and the files as they were, to diff(), at() and fork()', async () => {
    const disk = directories.directory(FILES);
    await live(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.writeFile('/a.txt', 'one\nTWO\n');
      await fs.rm('/b', { recursive: true });
      await fs.writeFile('/new', 'n');
      const named = async (from: number, to?: number): Promise<unknown> =>
        (await attempt.diff({ from, to, hunks: true })).paths.map(({ path, type, additions, deletions }) => [
          path,
          type,
          additions,
          deletions,
        ]);
      expect(await named(0, 1)).toEqual([['/a.txt', 'changed', 1, 1]]);
      expect(await named(2)).toEqual([['/new', 'added', 1, 0]]);
      expect(await named(0)).toEqual([
        ['/a.txt', 'changed', 1, 1],
        ['/b', 'removed', 0, 0],
        ['/b/c.txt', 'removed', 0, 1],
        ['/b/deep', 'removed', 0, 0],
        ['/b/deep/d.sh', 'removed', 0, 1],
        ['/new', 'added', 1, 0],
      ]);
      const past = attempt.at(1);
      expect([await past.readText('/a.txt'), await past.readText('/b/deep/d.sh'), await past.exists('/new')]).toEqual([
        'one\nTWO\n',
        '#!/bin/sh\n',
        false,
      ]);
      await attempt.fileSystem.writeFile('/link.txt', 'later');
      expect(await past.exists('/link.txt')).toBe(false);
      await attempt.undo();
      const fork = await attempt.fork('then', { at: 0 });
      expect((await dump(fork.fileSystem)).length).toBe(6);
      expect(await fork.fileSystem.readText('/a.txt')).toBe('one\ntwo\n');
      expect(existsSync(join(disk, 'b'))).toBe(false);
    });
  });

  it('lists in the log what each operation changed, with what it took back', async () => {
    const disk = directories.directory(FILES);
    await live(disk, async (attempt) => {
      await attempt.labelled({ tool: 'write_file', actor: 'ada' }, () => attempt.fileSystem.writeFile('/a.txt', 'new'));
      await attempt.fileSystem.rename('/b', '/c');
      await attempt.undo();
      const { operations } = await attempt.log();
      expect(
        operations.map(({ tool, actor, changes }) => [tool, actor, changes.map(({ path, from }) => [path, from])]),
      ).toEqual([
        [
          'undo',
          'user',
          [
            ['/b', '/c'],
            ['/c', undefined],
          ],
        ],
        [
          'edit',
          'user',
          [
            ['/b', undefined],
            ['/c', '/b'],
          ],
        ],
        ['write_file', 'ada', [['/a.txt', undefined]]],
      ]);
      expect(operations[2]?.changes[0]).toMatchObject({ before: { size: 8 }, after: { size: 3 } });
      expect(await attempt.next('undo')).toMatchObject({ tool: 'write_file' });
    });
  });

  it('refuses to take back what the person has edited since, as a whole, and names it', async () => {
    const disk = directories.directory(FILES);
    await live(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await attempt.operation({}, async (tx) => {
        await tx.writeFile('/a.txt', 'agent\n');
        await tx.writeFile('/b/c.txt', 'agent\n');
      });
      fill(disk, { 'a.txt': 'person\n' });
      const refusal = "these paths no longer hold what the operation left there: '/a.txt'";
      await expect(attempt.undo()).rejects.toThrow(refusal);
      await expect(attempt.restore(0)).rejects.toThrow("no longer hold what the later operations left there: '/a.txt'");
      expect([read(disk, 'a.txt'), read(disk, 'b/c.txt')]).toEqual(['person\n', 'agent\n']);
      expect(await toolsOf(attempt)).toEqual(['edit']);
      expect(await fs.readText('/a.txt')).toBe('person\n');
      await attempt.restore(0, { path: '/b' });
      expect(read(disk, 'b/c.txt')).toBe('c\n');
      fill(disk, { 'a.txt': 'agent\n' });
      await attempt.restore(0);
      expect(read(disk, 'a.txt')).toBe('one\ntwo\n');
    });
  });

  it('looks again when the person edits the file between its read and its write', async () => {
    const disk = directories.directory(FILES);
    const store = hooked(/accept$/, () => fill(disk, { 'a.txt': 'zero\none\ntwo\n' }));
    await live(
      disk,
      async (attempt) => {
        await attempt.fileSystem.editFile('/a.txt', 'two', 'TWO');
        expect(read(disk, 'a.txt')).toBe('zero\none\nTWO\n');
        await attempt.undo();
        expect(read(disk, 'a.txt')).toBe('zero\none\ntwo\n');
      },
      store,
    );
    const gone = directories.directory(FILES);
    const second = hooked(/accept$/, () => fill(gone, { 'a.txt': 'other\n' }));
    await live(
      gone,
      async (attempt) => {
        await expect(attempt.fileSystem.editFile('/a.txt', 'two', 'TWO')).rejects.toThrow('/a.txt');
        expect(read(gone, 'a.txt')).toBe('other\n');
        expect(await toolsOf(attempt)).toEqual([]);
      },
      second,
    );
  });

  it('leaves disk and log alone when the disk refuses a path', async () => {
    const disk = directories.directory({
      ...FILES,
      'b/.env': 'SECRET',
      '.gitignore': 'node_modules\n',
      'b/node_modules/m': 'm',
    });
    const before = await shown(disk);
    await live(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await expect(fs.rm('/b', { recursive: true })).rejects.toMatchObject({ code: 'ENOTEMPTY', path: '/b' });
      const outside = attempt.operation({}, async (tx) => {
        await tx.writeFile('/a.txt', 'changed');
        await tx.symlink('../outside', '/out');
      });
      await expect(outside).rejects.toMatchObject({ code: 'EACCES' });
      await expect(fs.writeFile('/.env', 'x')).rejects.toMatchObject({ code: 'EACCES' });
      await expect(fs.writeFile('/b/node_modules/x', 'x')).rejects.toMatchObject({ code: 'EROFS' });
      expect(await shown(disk)).toEqual(before);
      expect(await toolsOf(attempt)).toEqual([]);
    });
  });

  it('takes the disk back when the store is full, at each of its writes', async () => {
    for (const pattern of [/contents/, /accept$/, /operations/]) {
      const disk = directories.directory(FILES);
      const before = await shown(disk);
      const store = hooked(pattern, () => {
        throw new FsError('ENOSPC', { syscall: 'write', path: '/' });
      });
      await live(
        disk,
        async (attempt) => {
          await expect(attempt.fileSystem.writeFile('/a.txt', 'new\n')).rejects.toMatchObject({ code: 'ENOSPC' });
          expect(await shown(disk)).toEqual(before);
          expect(await toolsOf(attempt)).toEqual([]);
          await attempt.fileSystem.writeFile('/a.txt', 'second\n');
          await attempt.undo();
          expect(await shown(disk)).toEqual(before);
        },
        store,
      );
    }
  });

  it('is called live, is never the current one, and is changed only by who asked for it', async () => {
    const disk = directories.directory(FILES);
    const store = createFileSystem();
    {
      await using workspace = await openWorkspace(disk, { store, live: true });
      const attempt = await workspace.attempt();
      expect([attempt.name, attempt.isLive]).toEqual(['live', true]);
      await attempt.fileSystem.writeFile('/a.txt', 'live\n');
      expect(await workspace.attempts()).toMatchObject([{ name: 'live', live: true, current: false, changedPaths: 0 }]);
      const fork = await attempt.fork('apart');
      expect(fork.isLive).toBe(false);
      await fork.fileSystem.writeFile('/a.txt', 'fork\n');
      expect(read(disk, 'a.txt')).toBe('live\n');
    }
    await using workspace = await openWorkspace(disk, { store });
    const current = await workspace.attempt();
    expect(current.name).not.toBe('live');
    await expect(workspace.switchTo('live')).rejects.toMatchObject({ code: 'refused' });
    const attempt = await workspace.attempt('live');
    await expect(attempt.fileSystem.writeFile('/a.txt', 'x')).rejects.toMatchObject({ code: 'refused' });
    expect(read(disk, 'a.txt')).toBe('live\n');
    await attempt.undo();
    expect(read(disk, 'a.txt')).toBe('one\ntwo\n');
    expect(await attempt.accept()).toMatchObject({ success: true, accepted: [] });
    await attempt.discard();
    await using again = await openWorkspace(disk, { store, live: true });
    expect((await again.attempt()).name).toBe('live-2');
  });

  it('is not changed under a name that another workspace had chosen for an attempt of its own', async () => {
    const disk = directories.directory(FILES);
    const store = createFileSystem();
    await using workspace = await openWorkspace(disk, { store });
    const attempt = await workspace.attempt();
    await using other = await openWorkspace(disk, { store, live: true });
    await other.createAttempt(attempt.name);
    await expect(attempt.fileSystem.writeFile('/a.txt', 'x')).rejects.toMatchObject({ code: 'moved' });
    expect([await workspace.attempts(), read(disk, 'a.txt')]).toMatchObject([[{ current: false }], 'one\ntwo\n']);
  });

  it('does not mind a switch of the branch, because it has no changes that belong to one', async () => {
    const disk = directories.directory({ ...FILES, '.git/HEAD': 'ref: refs/heads/main\n' });
    await live(disk, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'x');
      writeFileSync(join(disk, '.git/HEAD'), 'ref: refs/heads/other\n');
      await attempt.fileSystem.writeFile('/a.txt', 'y');
      expect(read(disk, 'a.txt')).toBe('y');
    });
  });

  it('keeps the mode of a file that it writes, and shows what the person makes at once', async () => {
    const disk = directories.directory(FILES);
    await live(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.writeFile('/b/deep/d.sh', 'exit 1\n');
      expect(lstatSync(join(disk, 'b/deep/d.sh')).mode & 0o777).toBe(0o755);
      chmodSync(join(disk, 'b/deep/d.sh'), 0o700);
      fill(disk, { 'p.txt': 'person\n' });
      expect([await fs.readText('/p.txt'), (await fs.stat('/b/deep/d.sh')).mode & 0o777]).toEqual(['person\n', 0o700]);
      await expect(attempt.undo()).rejects.toThrow("'/b/deep/d.sh'");
      rmSync(join(disk, 'p.txt'));
      expect(await fs.exists('/p.txt')).toBe(false);
      expect(existsSync(join(disk, 'b/deep/d.sh'))).toBe(true);
    });
  });
});
