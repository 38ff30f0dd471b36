import {
  type FileHandle,
  type FileSystem,
  isFsError,
  openFileSystem,
  type SyncFileSystem,
  type View,
} from '@scratchfs/core';
import { diff, formatDiff } from '@scratchfs/core/diff';
import { overlay } from '@scratchfs/core/layers';
import { glob, grep } from '@scratchfs/core/search';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { dump } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory, refusal } from './testing/memory.js';
import { tell } from './testing/tell.js';
import { CANARY, FILES } from './testing/worlds.js';

const BENEATH: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => memory(FILES),
  'async memory': () => asyncMemory(FILES),
  overlay: async () => overlay(memory(FILES)),
};
const paths = { pub: { root: '/jail/pub' }, rw: { root: '/jail/pub/rw', mode: 'rw' as const } };

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe.each(Object.keys(BENEATH))('operations on the whole filesystem, over %s', (name) => {
  const open = async () => {
    const beneath = await (BENEATH[name] as () => Promise<FileSystem>)();
    const sandbox = new Sandbox(beneath, { paths });
    return { beneath, sandbox, fileSystem: sandbox.fileSystem as FileSystem };
  };
  /** Returns everything that the sandbox may not write. */
  const outside = async (beneath: FileSystem): Promise<string> => {
    const { entries } = await dump(beneath);
    return tell(entries.filter(({ path }) => !path.startsWith('/jail/pub/rw')));
  };

  it('the promise methods have the same policy', async () => {
    const { fileSystem } = await open();
    const { readFile, readdir } = fileSystem.promises;
    expect(await readdir('/jail')).toEqual(['pub']);
    await expect(readFile('/jail/secret')).rejects.toThrow(/sandbox/);
    await expect(readFile('/jail/secret')).rejects.toMatchObject(
      await fileSystem.readFile('/jail/secret').catch((error: object) => ({ ...error })),
    );
  });

  it('limits and statistics reveal nothing of what is outside', async () => {
    const { beneath, fileSystem } = await open();
    const before = await fileSystem.stats();
    expect(before).toMatchObject({ fileCount: 13, directoryCount: 4 });
    await beneath.writeFile('/secret/more', 'x'.repeat(1000));
    await beneath.mkdir('/jail/pub-evil/d');
    expect(await fileSystem.stats()).toEqual(before);
    await beneath.writeFile('/jail/pub/rw/more', '12345');
    expect((await fileSystem.stats()).totalSize).toBe(before.totalSize + 5);
  });

  it('limits cannot be changed', async () => {
    const { beneath, fileSystem } = await open();
    await expect(fileSystem.setLimits({ maxTotalSize: 1 })).rejects.toMatchObject({ code: 'EPERM' });
    expect([beneath.limits, fileSystem.limits]).toEqual([{}, {}]);
  });

  it('walks, searches and listings show only readable entries', async () => {
    const { fileSystem } = await open();
    const seen = (await all(fileSystem.walk('/'))).map(({ path }) => path);
    expect(seen.every((path) => path === '/jail' || path.startsWith('/jail/pub'))).toBe(true);
    expect(seen.some((path) => path.startsWith('/jail/pub-evil'))).toBe(false);
    expect(await all(glob(fileSystem, ['/**/key', '/secret/**', '/jail/other*', '/*'], { dot: true }))).toEqual([
      '/jail',
    ]);
    expect(await all(grep(fileSystem, CANARY))).toEqual([]);
    expect((await all(grep(fileSystem, 'mine'))).map(({ path }) => path)).toEqual(['/jail/pub/rw/mine.txt']);
    expect(await fileSystem.readdir('/jail')).toEqual(['pub']);
    expect((await fileSystem.entries('/')).map(({ path }) => path)).toEqual(['/jail']);
  });

  it('a snapshot holds only readable entries', async () => {
    const { fileSystem } = await open();
    const bytes = await createSnapshot(fileSystem);
    const text = new TextDecoder('latin1').decode(bytes);
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain('pub-evil');
    const copy = memory();
    await restoreSnapshot(copy, bytes);
    expect(copy.readTextSync('/jail/pub/rw/mine.txt')).toBe('mine');
    expect(copy.existsSync('/secret')).toBe(false);
  });

  it('a restore changes only writable entries, or nothing', async () => {
    const { beneath, fileSystem } = await open();
    const bytes = await createSnapshot(fileSystem);
    await fileSystem.writeFile('/jail/pub/rw/mine.txt', 'changed');
    await fileSystem.writeFile('/jail/pub/rw/new', 'new');
    const before = await outside(beneath);
    await restoreSnapshot(fileSystem, bytes);
    expect(await fileSystem.readText('/jail/pub/rw/mine.txt')).toBe('mine');
    expect(await fileSystem.exists('/jail/pub/rw/new')).toBe(false);
    expect(await outside(beneath)).toBe(before);
    expect(await beneath.readText('/secret/key')).toBe(CANARY);

    const forged = memory({ ...FILES, '/jail/pub/ok.txt': 'forged', '/secret/key': 'forged' });
    const all = tell(await dump(beneath));
    expect(await refusal(async () => restoreSnapshot(fileSystem, await createSnapshot(forged)))).toMatch(/PathNot/);
    expect(tell(await dump(beneath))).toBe(all);
  });

  it('checkpoints of others are invisible', async () => {
    const { beneath, fileSystem } = await open();
    const theirs = await beneath.checkpoint('theirs');
    const ours = await fileSystem.checkpoint('ours');
    expect((await fileSystem.checkpoints()).map((each) => each.name)).toEqual(['ours']);
    for (const which of ['theirs', theirs.id]) {
      expect(await refusal(() => fileSystem.rollback(which))).toBe('ENOENT');
      expect(await refusal(() => fileSystem.drop(which))).toBe('ENOENT');
    }
    await fileSystem.drop(ours);
    expect((await beneath.checkpoints()).map((each) => each.name)).toEqual(['theirs']);
  });

  it('rollback changes only writable entries, and nothing if it would need more', async () => {
    const { beneath, fileSystem } = await open();
    const point = await fileSystem.checkpoint();
    await fileSystem.writeFile('/jail/pub/rw/mine.txt', 'changed');
    await fileSystem.rm('/jail/pub/rw/to-ok');
    await fileSystem.rollback(point);
    expect(await fileSystem.readText('/jail/pub/rw/mine.txt')).toBe('mine');
    expect(await fileSystem.readlink('/jail/pub/rw/to-ok')).toBe('../ok.txt');
    const again = await fileSystem.checkpoint();
    await fileSystem.writeFile('/jail/pub/rw/mine.txt', 'changed');
    await beneath.writeFile('/secret/new', 'theirs');
    await beneath.rm('/jail/other.txt');
    await fileSystem.rollback(again);
    expect(await fileSystem.readText('/jail/pub/rw/mine.txt')).toBe('mine');
    expect(await beneath.readText('/secret/new')).toBe('theirs');
    expect(await beneath.exists('/jail/other.txt')).toBe(false);

    await fileSystem.writeFile('/jail/pub/rw/mine.txt', 'changed');
    await beneath.writeFile('/jail/pub/ok.txt', 'theirs');
    const before = tell(await dump(beneath));
    expect(await refusal(() => fileSystem.rollback(again))).toBe('PathNotWritableError');
    expect(tell(await dump(beneath))).toBe(before);
  });

  it('rollback restores a write-only directory, and names nothing in it if it may not', async () => {
    const beneath = memory({ '/in/a.txt': 'a', '/out/old.txt': 'old' });
    const program = new Sandbox(beneath, {
      root: { root: '/', suffixes: ['.txt'], writeApproval: false },
      deny: ['key'],
    });
    const { fileSystem } = await program.derive({ allowRead: '/in', allowWrite: '/out' });
    const point = await fileSystem.checkpoint();
    await fileSystem.writeFile('/out/old.txt', 'changed');
    await fileSystem.writeFile('/out/new.txt', 'new');
    await beneath.writeFile('/out/other.bin', 'theirs');
    await fileSystem.rollback(point);
    expect(beneath.toJSON()).toEqual({ '/in/a.txt': 'a', '/out/old.txt': 'old', '/out/other.bin': 'theirs' });
    for (const [name, type] of [
      ['key', 'PathDeniedError'],
      ['x.bin', 'SuffixNotAllowedError'],
    ] as const) {
      await beneath.mkdir('/out/unseen/deep', { recursive: true });
      await beneath.writeFile(`/out/unseen/deep/${name}`, 'theirs');
      const error: unknown = await fileSystem.rollback(point).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: type, path: '/out', message: expect.not.stringMatching(/unseen|deep|key/) });
      await beneath.rm('/out/unseen', { recursive: true });
    }
  });

  it('a diff shows only readable entries', async () => {
    const { beneath, fileSystem } = await open();
    const point = await fileSystem.checkpoint();
    await beneath.writeFile('/secret/key', `${CANARY} changed`);
    await beneath.writeFile('/secret/new', CANARY);
    await fileSystem.writeFile('/jail/pub/rw/mine.txt', 'changed');
    const found = await diff(fileSystem, point);
    expect([found.added, found.removed, found.changed.map(({ path }) => path)]).toEqual([
      [],
      [],
      ['/jail/pub/rw/mine.txt'],
    ]);
    const text = await formatDiff(fileSystem, point);
    expect(text).toContain('+changed');
    expect(text).not.toContain(CANARY);
  });

  it('a fork has the same policy', async () => {
    const { fileSystem } = await open();
    const fork = await fileSystem.fork();
    expect(await fork.readText('/jail/pub/ok.txt')).toBe('ok');
    await fork.writeFile('/jail/pub/rw/x', 'x');
    expect(await refusal(() => fork.readText('/secret/key'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => fork.writeFile('/jail/pub/ok.txt', ''))).toBe('PathNotWritableError');
    expect(await fileSystem.exists('/jail/pub/rw/x')).toBe(false);
    const again = await fork.fork();
    expect(await refusal(() => again.readText('/secret/key'))).toBe('PathNotInSandboxError');
  });

  it('the state of a checkpoint has the same policy', async () => {
    const { beneath, fileSystem } = await open();
    await fileSystem.checkpoint('mine');
    await beneath.checkpoint('theirs');
    const state = await fileSystem.at('mine');
    expect(await state.readText('/jail/pub/ok.txt')).toBe('ok');
    expect(await refusal(() => state.readText('/secret/key'))).toBe('PathNotInSandboxError');
    expect(await state.readdir('/jail')).toEqual(['pub']);
    expect(await refusal(() => state.writeFile('/jail/pub/rw/x', 'x'))).toBe('EROFS');
    expect(await refusal(() => fileSystem.at('theirs'))).toBe('ENOENT');
  });

  it('a transaction has the same policy', async () => {
    const { beneath, fileSystem } = await open();
    const before = tell(await dump(beneath));
    const work = async (inside: FileSystem): Promise<string> => {
      await inside.writeFile('/jail/pub/rw/x', 'x');
      expect(await inside.exists('/secret/key')).toBe(false);
      return inside.readText('/secret/key');
    };
    expect(await refusal(() => fileSystem.transaction(work))).toBe('PathNotInSandboxError');
    expect(tell(await dump(beneath))).toBe(before);
    await fileSystem.transaction((inside) => inside.writeFile('/jail/pub/rw/x', 'x'));
    expect(await beneath.readText('/jail/pub/rw/x')).toBe('x');
  });

  it('operations and cursors of untrusted code see only readable entries', async () => {
    const { beneath, fileSystem } = await open();
    const before = tell(await dump(beneath));
    const names = (view: View): string => {
      const found: string[] = [];
      view.tree.root.entries.forEach((_: unknown, entry: string) => {
        found.push(entry);
      });
      return `${found.join()} ${tell(view)}`;
    };
    const told = await fileSystem.run(names, []).catch(tell);
    expect(told).not.toContain(CANARY);
    expect(told).not.toContain('pub-evil');
    const items = await all(
      fileSystem.iterate((view) => {
        const left = [names(view)];
        return { next: () => left.pop() };
      }),
    ).catch(tell);
    expect(tell(items)).not.toContain(CANARY);
    expect(await refusal(() => fileSystem.compare(undefined, undefined, () => ({ next: () => undefined })))).toBe(
      'ENOTSUP',
    );
    const write = (view: View): void => {
      view.find('/jail/pub/rw/mine.txt', true, 'write', 'x');
      view.create(view.at.parent, 'stolen', view.find('/jail/pub/rw/mine.txt', true, 'read', 'x') as never);
    };
    await fileSystem.run(write, []).catch(() => {});
    expect(tell(await dump(beneath))).toBe(before);
  });

  it('watchers receive events of visible entries, under visible names', async () => {
    const { beneath, fileSystem } = await open();
    const stop = new AbortController();
    const heard: string[] = [];
    const watching = (async () => {
      for await (const { type, path, from } of fileSystem.watch('/', { recursive: true, signal: stop.signal })) {
        heard.push(`${type} ${path}${from === undefined ? '' : ` from ${from}`}`);
        if (path.endsWith('/last')) break;
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await beneath.writeFile('/secret/key', 'new');
    await beneath.writeFile('/jail/pub/rw/seen', 'x');
    await beneath.rename('/secret/deep', '/jail/pub/rw/came');
    await beneath.rename('/jail/pub/rw/came', '/secret/went');
    await beneath.rename('/jail/pub-evil', '/secret/evil');
    await beneath.writeFile('/jail/pub/rw/last', 'x');
    await watching;
    stop.abort();
    expect(heard.join('\n')).not.toMatch(/secret|pub-evil/);
    expect(heard.some((event) => event.includes('/jail/pub/rw/seen'))).toBe(true);
  });

  it('open files lose access when their file is moved out', async () => {
    const { beneath, fileSystem } = await open();
    const handle: FileHandle = await fileSystem.open('/jail/pub/rw/mine.txt', 'r+');
    await beneath.rename('/jail/pub/rw/mine.txt', '/secret/taken');
    await beneath.writeFile('/secret/taken', CANARY);
    const tried = await Promise.allSettled([handle.readFile(), handle.write('x'), handle.stat(), handle.truncate(0)]);
    expect(tell(tried)).not.toContain(CANARY);
    expect(tried.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(await beneath.readText('/secret/taken')).toBe(CANARY);
    await handle.close();
  });

  it('hard links need the right to read and to write the file', async () => {
    const { fileSystem } = await open();
    expect(await refusal(() => fileSystem.link('/jail/pub/ok.txt', '/jail/pub/rw/stolen'))).toBe(
      'PathNotWritableError',
    );
    expect(await refusal(() => fileSystem.link('/secret/key', '/jail/pub/rw/stolen'))).toBe('PathNotInSandboxError');
    await fileSystem.link('/jail/pub/rw/mine.txt', '/jail/pub/rw/second');
    expect(await fileSystem.readText('/jail/pub/rw/second')).toBe('mine');
  });

  it('close ends only the view', async () => {
    const { beneath, fileSystem } = await open();
    await fileSystem.close();
    expect(await refusal(() => fileSystem.readText('/jail/pub/ok.txt'))).toBe('EBADF');
    expect(await beneath.readText('/jail/pub/ok.txt')).toBe('ok');
  });
});

describe('a sandbox over a synchronous filesystem', () => {
  it('toJSON holds only readable entries', () => {
    const { fileSystem } = new Sandbox(memory(FILES), { paths });
    const text = JSON.stringify(fileSystem);
    expect(text).toContain('mine.txt');
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain('pub-evil');
  });

  it('keeps its policy in the synchronous forms of fork and transaction', async () => {
    const { fileSystem } = new Sandbox(memory(FILES), { paths });
    expect(await refusal(() => fileSystem.forkSync().readTextSync('/secret/key'))).toBe('PathNotInSandboxError');
    expect(
      await refusal(() => fileSystem.transactionSync((inside: SyncFileSystem) => inside.readTextSync('/secret/key'))),
    ).toBe('PathNotInSandboxError');
  });
});

describe('limits', () => {
  it.each(['memory', 'async memory'])('say which one was reached, and not what others use, over %s', async (name) => {
    const limits = { maxTotalSize: 1000 };
    const beneath =
      name === 'memory'
        ? openFileSystem(new MemoryStorage(), { files: FILES, limits })
        : await openFileSystem(asyncMemoryStorage(), { files: FILES, limits });
    await beneath.writeFile('/secret/filler', 'x'.repeat(777));
    const { fileSystem } = new Sandbox(beneath as FileSystem, { paths });
    const error = await fileSystem.writeFile('/jail/pub/rw/big', 'x'.repeat(500)).catch((thrown: unknown) => thrown);
    expect(isFsError(error, 'ENOSPC')).toBe(true);
    expect(error).toMatchObject({ limit: 'maxTotalSize', allowed: 1000 });
    expect(tell(error)).not.toMatch(/used=\d|8\d\d|13\d\d/);
  });
});
