import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileSystem, FsError } from '@scratchfs/core';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';
import { PendingAccepts } from './pending-accept.js';

const directories = new Directories();
afterAll(() => directories.remove());

const read = (directory: string, path: string): string => readFileSync(join(directory, path), 'utf8');

/** A store that calls a function once, before or after it writes a file whose path matches, alone or with others. */
class HookedStore {
  readonly #base = createFileSystem();
  #hook: { readonly pattern: RegExp; readonly isAfter: boolean; readonly work: () => unknown } | undefined;

  readonly fileSystem = new Proxy(this.#base, {
    get: (target, key) => {
      if (key === 'writeFile') return this.#writeFile;
      if (key === 'run') return this.#run;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

  before(pattern: RegExp, work: () => unknown): void {
    this.#hook = { pattern, isAfter: false, work };
  }

  after(pattern: RegExp, work: () => unknown): void {
    this.#hook = { pattern, isAfter: true, work };
  }

  readonly #writeFile: FileSystem['writeFile'] = (path, ...rest) =>
    this.#around([String(path)], () => this.#base.writeFile(path, ...rest));

  // The log stores records and contents with `setManyUnless`.
  readonly #run: FileSystem['run'] = (operation, args, ...rest) => {
    const [entries] = args as readonly unknown[] as readonly [readonly { readonly path: string }[]];
    const paths = entries.map(({ path }) => path);
    return this.#around(paths, () => this.#base.run(operation, args, ...rest));
  };

  async #around<T>(paths: readonly string[], write: () => Promise<T>): Promise<T> {
    const hook = paths.some((path) => this.#hook?.pattern.test(path)) ? this.#hook : undefined;
    if (hook !== undefined) this.#hook = undefined;
    if (hook?.isAfter === false) await hook.work();
    const result = await write();
    if (hook?.isAfter === true) await hook.work();
    return result;
  }
}

const toolsOf = async (attempt: Attempt): Promise<string[]> =>
  (await attempt.log()).operations.map(({ tool }) => tool).reverse();

describe('an accept whose operation could not be stored', () => {
  const full = (): never => {
    throw new FsError('ENOSPC', { syscall: 'write', path: '/' });
  };

  it('is completed before the next edit, which stays', async () => {
    const disk = directories.directory({ a: 'old\n', b: 'b\n' });
    const store = new HookedStore();
    await using workspace = await openWorkspace(disk, { store: store.fileSystem });
    const attempt = await workspace.createAttempt('x');
    const fs = attempt.fileSystem;
    await fs.writeFile('/a', 'ONE\n');
    store.before(/operations/, full);
    await expect(attempt.accept()).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(read(disk, 'a')).toBe('ONE\n');
    await fs.writeFile('/a', 'TWO\n');
    await fs.writeFile('/b', 'B\n');
    expect(await toolsOf(attempt)).toEqual(['edit', 'accept', 'edit', 'edit']);
    await attempt.undo();
    expect([await fs.readText('/a'), await fs.readText('/b')]).toEqual(['TWO\n', 'b\n']);
    expect((await attempt.accept()).accepted).toEqual(['/a']);
    expect(read(disk, 'a')).toBe('TWO\n');
    for (const _ of [1, 2, 3]) await attempt.undo();
    expect([read(disk, 'a'), await fs.readText('/a')]).toEqual(['old\n', 'ONE\n']);
  });
});

describe('an accept whose writes were taken back after a kill', () => {
  it('is made again, although the directories that it had moved and removed were created anew', async () => {
    const disk = directories.directory({ 'd/x': 'x', 'd/s/y': 'y', 'gone/z': 'z' });
    const store = new HookedStore();
    await using workspace = await openWorkspace(disk, { store: store.fileSystem });
    const attempt = await workspace.createAttempt('x');
    await attempt.fileSystem.rename('/d', '/e');
    await attempt.fileSystem.rm('/gone', { recursive: true });
    store.before(/operations/, () => {
      throw new FsError('ENOSPC', { syscall: 'write', path: '/' });
    });
    await expect(attempt.accept()).rejects.toMatchObject({ code: 'ENOSPC' });
    for (const name of ['d/s', 'gone']) mkdirSync(join(disk, name), { recursive: true });
    for (const name of ['x', 's/y']) renameSync(join(disk, 'e', name), join(disk, 'd', name));
    rmSync(join(disk, 'e'), { recursive: true });
    writeFileSync(join(disk, 'gone/z'), 'z');
    writeFileSync(join(disk, 'd/person'), 'PERSON');
    expect((await attempt.accept()).success).toBe(true);
    const found = readdirSync(disk, { recursive: true, encoding: 'utf8' }).sort();
    expect(found).toEqual(['d', 'd/person', 'e', 'e/s', 'e/s/y', 'e/x']);
  });
});

describe('an accept that wrote nothing', () => {
  it('does not count as done when a part of its paths got their new state otherwise', async () => {
    const disk = directories.directory({ a: 'old\n', b: 'b\n' });
    const store = new HookedStore();
    await using workspace = await openWorkspace(disk, { store: store.fileSystem });
    const attempt = await workspace.createAttempt('x');
    await attempt.fileSystem.writeFile('/a', 'ONE\n');
    await attempt.fileSystem.writeFile('/b', 'TWO\n');
    const fork = await attempt.fork('y');
    const controller = new AbortController();
    store.after(/accept$/, () => controller.abort());
    await expect(attempt.accept({ signal: controller.signal })).rejects.toThrow('abort');
    await fork.accept({ paths: ['/a'] });
    expect(await attempt.fileSystem.readText('/b')).toBe('TWO\n');
    await attempt.accept();
    expect([read(disk, 'a'), read(disk, 'b')]).toEqual(['ONE\n', 'TWO\n']);
  });
});

describe('an operation of a live attempt whose process was killed', () => {
  const killed = (): never => {
    throw new Error('killed');
  };

  /** @param arm sets when the process is killed */
  async function interrupted(
    arm: (store: HookedStore) => void,
    work: (fileSystem: FileSystem) => Promise<unknown>,
    person: (disk: string) => void,
  ) {
    const disk = directories.directory({ a: 'precious\n' });
    const store = new HookedStore();
    const workspace = await openWorkspace(disk, { store: store.fileSystem, live: true });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.writeFile('/first', '1');
    arm(store);
    await expect(attempt.operation({ tool: 'agent' }, work)).rejects.toThrow('killed');
    person(disk);
    await attempt.fileSystem.writeFile('/other', 'x');
    return { disk, attempt, tools: await toolsOf(attempt) };
  }

  it.each([
    ['after it had noted the writes', (store: HookedStore) => store.before(/operations/, killed)],
    [
      'before it had noted the writes',
      (store: HookedStore) =>
        store.after(/accept$/, () =>
          store.before(/accept$/, () => {
            store.before(/operations/, killed);
            killed();
          }),
        ),
    ],
  ])('%s is in the log, also if the person has edited the file since', async (_, arm) => {
    const { attempt, tools } = await interrupted(
      arm,
      (fs) => fs.writeFile('/a', 'agent\n'),
      (disk) => {
        expect(read(disk, 'a')).toBe('agent\n');
        writeFileSync(join(disk, 'a'), 'agent\nperson\n');
      },
    );
    expect(tools).toEqual(['edit', 'agent', 'edit']);
    expect(await attempt.at(1).readText('/a')).toBe('precious\n');
  });

  it('before it wrote anything is not in the log, also if the person has made one of its changes', async () => {
    const { disk, tools } = await interrupted(
      (store) => store.after(/accept$/, killed),
      async (fs) => {
        await fs.rm('/a');
        await fs.writeFile('/b', 'b\n');
      },
      (disk) => rmSync(join(disk, 'a')),
    );
    expect(tools).toEqual(['edit', 'edit']);
    expect(readdirSync(disk).sort()).toEqual(['first', 'other']);
  });
});

describe('a note that could not be removed', () => {
  it('does not make an accept or its undo fail', async () => {
    const disk = directories.directory({ a: 'old\n' });
    const base = createFileSystem();
    let isFailing = false;
    const store = new Proxy(base, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (key === 'rm' && isFailing) return () => Promise.reject(new FsError('EIO', { syscall: 'rm', path: '/' }));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await using workspace = await openWorkspace(disk, { store });
    const attempt = await workspace.createAttempt('x');
    await attempt.fileSystem.writeFile('/a', 'ONE\n');
    isFailing = true;
    expect((await attempt.accept()).accepted).toEqual(['/a']);
    isFailing = false;
    await attempt.fileSystem.writeFile('/b', 'B\n');
    await attempt.undo();
    isFailing = true;
    expect((await attempt.undo()).target).toBe(2);
    isFailing = false;
    await attempt.fileSystem.writeFile('/b', 'B\n');
    expect(read(disk, 'a')).toBe('old\n');
    expect(await toolsOf(attempt)).toEqual(['edit', 'accept', 'edit', 'undo', 'undo', 'edit']);
  });
});

describe('two clients that complete the same interrupted writes', () => {
  /** Lets the second client complete them while the first one does, after it has looked whether the log has them. */
  async function bothComplete(isLive: boolean, interrupt: (attempt: Attempt, kill: () => void) => Promise<unknown>) {
    const disk = directories.directory({ a: 'old\n' });
    const store = new HookedStore();
    const open = () => openWorkspace(disk, { store: store.fileSystem, live: isLive });
    const [one, two, three] = [await open(), await open(), await open()];
    const killed = (): never => {
      throw new Error('killed');
    };
    const kill = (): void => store.before(/operations/, killed);
    await expect(interrupt(await one.createAttempt('x'), kill)).rejects.toThrow('killed');
    const [first, second] = [await two.attempt('x'), await three.attempt('x')];
    const { isWritten } = PendingAccepts.prototype;
    using _ = vi.spyOn(PendingAccepts.prototype, 'isWritten').mockImplementationOnce(async function (
      this: PendingAccepts,
      ...args
    ) {
      await second.fileSystem.writeFile('/b', 'B\n');
      return isWritten.apply(this, args);
    });
    await first.fileSystem.writeFile('/c', 'C\n');
    return { disk, first, tools: await toolsOf(first) };
  }

  it('append the accept once', async () => {
    const { tools } = await bothComplete(false, async (attempt, kill) => {
      await attempt.fileSystem.writeFile('/a', 'ONE\n');
      kill();
      await attempt.accept();
    });
    expect(tools).toEqual(['edit', 'accept', 'edit', 'edit']);
  });

  it('append the undo of an accept once', async () => {
    const { tools } = await bothComplete(false, async (attempt, kill) => {
      await attempt.fileSystem.writeFile('/a', 'ONE\n');
      await attempt.accept();
      kill();
      await attempt.undo();
    });
    expect(tools).toEqual(['edit', 'accept', 'undo', 'edit', 'edit']);
  });

  it('append the operation of a live attempt once, so that everything can be undone', async () => {
    const { disk, first, tools } = await bothComplete(true, async (attempt, kill) => {
      kill();
      await attempt.fileSystem.writeFile('/a', 'ONE\n');
    });
    expect(tools).toEqual(['edit', 'edit', 'edit']);
    for (const _ of tools) await first.undo();
    expect(readdirSync(disk)).toEqual(['a']);
    expect(read(disk, 'a')).toBe('old\n');
  });
});

describe('another client that changes the attempt while it is accepted', () => {
  /** @param when file of the store before which the other client works */
  async function during(when: RegExp, edit: (other: Attempt) => Promise<unknown>) {
    const disk = directories.directory({ a: 'old\n' });
    const store = new HookedStore();
    const workspace = await openWorkspace(disk, { store: store.fileSystem });
    const attempt = await workspace.createAttempt('x');
    await attempt.fileSystem.writeFile('/a', 'ONE\n');
    await attempt.fileSystem.writeFile('/new', 'N\n');
    await attempt.operation({}, async (fs) => {
      await fs.mkdir('/e');
      for (const name of ['f', 'g']) await fs.writeFile(`/e/${name}`, name);
    });
    const second = await openWorkspace(disk, { store: store.fileSystem });
    const other = await second.attempt('x');
    store.before(when, () => edit(other));
    const result = await attempt.accept();
    return { disk, attempt, result, fs: attempt.fileSystem };
  }

  it('keeps its edits, whose base is what was accepted', async () => {
    const { disk, attempt, fs } = await during(/operations\/000000004/, async ({ fileSystem }) => {
      await fileSystem.writeFile('/a', 'TWO\n');
      await fileSystem.rm('/new');
      await fileSystem.writeFile('/e/f', 'F');
      await fileSystem.writeFile('/e/h', 'H');
      await fileSystem.writeFile('/other', 'O');
    });
    expect([read(disk, 'a'), read(disk, 'new'), read(disk, 'e/f')]).toEqual(['ONE\n', 'N\n', 'f']);
    const seen = async () => [
      await fs.readText('/a'),
      await fs.exists('/new'),
      await Promise.all(['f', 'g', 'h'].map((name) => fs.readText(`/e/${name}`))),
      await fs.readText('/other'),
    ];
    const expected = ['TWO\n', false, ['F', 'g', 'H'], 'O'];
    expect(await seen()).toEqual(expected);
    expect(await attempt.refresh()).toEqual({ merged: [], conflicts: [] });
    expect((await attempt.accept()).accepted).toEqual(['/a', '/e/f', '/e/h', '/new', '/other']);
    expect(await seen()).toEqual(expected);
    expect([read(disk, 'a'), read(disk, 'e/f'), read(disk, 'other')]).toEqual(['TWO\n', 'F', 'O']);
  });

  it('is looked at again if it was faster', async () => {
    const { disk, fs } = await during(/accept$/, ({ fileSystem }) => fileSystem.writeFile('/a', 'TWO\n'));
    expect([read(disk, 'a'), await fs.readText('/a')]).toEqual(['TWO\n', 'TWO\n']);
  });

  it('can undo and accept nothing until it is done', async () => {
    const refused = { code: 'refused' };
    const { disk, attempt } = await during(/operations\/000000004/, async (other) => {
      await expect(other.undo()).rejects.toMatchObject(refused);
      await expect(other.accept()).rejects.toMatchObject(refused);
    });
    expect(read(disk, 'new')).toBe('N\n');
    expect(await attempt.accept()).toMatchObject({ success: true, accepted: [] });
  });
});
