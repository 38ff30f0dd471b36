import { describe, expect, it } from 'vitest';
import type { Guard } from '../../engine/guard.js';
import { FsError, StorageError } from '../../errors.js';
import type { FileSystem, WatchEvent } from '../../file-system.js';
import { sample } from '../../testing/sample-file-system.js';
import { mount } from '../mount.js';
import { observe } from '../observe.js';
import { restrict } from '../restrict.js';
import { shownError } from './shown-error.js';

const isVisible = (path: string): boolean => path === '/' || path === '/open' || path.startsWith('/open/');
const shown = (error: unknown, ...args: readonly unknown[]): unknown => shownError(error, args, isVisible);

/** A guard whose errors name the places that it allows. */
function places(...allowed: readonly string[]): Guard {
  const isIn = (path: string): boolean => allowed.some((place) => path === place || path.startsWith(`${place}/`));
  const isShown = (path: string): boolean => isIn(path) || allowed.some((place) => place.startsWith(`${path}/`));
  return {
    check({ path, given }) {
      if (path !== '/' && !isShown(path)) throw new Error(`Not '${given}'. Allowed: ${allowed.join(', ')}`);
    },
    isVisible: (path) => path === '/' || isShown(path),
  };
}

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}

describe('an error of a guarded filesystem', () => {
  it('stays the same object if it names visible paths, arguments or nothing', () => {
    for (const error of [
      new FsError('ENOENT', { syscall: 'open', path: '/open/a', dest: '/open/b', hint: "See '/open/c'" }),
      new FsError('EINVAL', { syscall: 'edit', path: '/open/a', hint: "The nearest line is '/secret/x'" }),
      new FsError('EISDIR', { syscall: 'open' }),
      new StorageError('conflict', 'The operation lost 3 races'),
      new TypeError("flags must not be '/secret/x'"),
      new DOMException('This operation was aborted', 'AbortError'),
      undefined,
      'stopped',
    ])
      expect(shown(error)).toBe(error);
    const given = new FsError('ENAMETOOLONG', { syscall: 'open', path: '/secret/a' });
    expect(shown(given, '/secret/a')).toBe(given);
  });

  it('names the caller’s paths instead of hidden ones, and loses hints and causes', () => {
    const cause = new Error('/secret/x');
    const error = new FsError('EBUSY', {
      syscall: 'rename',
      path: '/secret/a',
      dest: '/secret/b',
      hint: 'At /secret',
      cause,
    });
    const clean = shown(error, '/open/from', '/open/to');
    expect(clean).toMatchObject({ code: 'EBUSY', syscall: 'rename', path: '/open/from', dest: '/open/to' });
    expect((clean as Error).message).toBe("EBUSY: resource busy or locked, rename '/open/from' -> '/open/to'");
    expect((clean as Error).cause).toBeUndefined();
    expect(shown(error)).toEqual(new FsError('EBUSY', { syscall: 'rename' }));
  });

  it('keeps what a program decides by', () => {
    const lost = new StorageError('timeout', "No answer about '/secret/a'", { mayHaveHappened: false, cause: 1 });
    expect(shown(lost)).toMatchObject({ kind: 'timeout', retryable: true, mayHaveHappened: false });
    expect((shown(lost) as Error).message).not.toContain('secret');
    const unknown = Object.assign(new Error('x'), { path: '/secret/a' });
    expect(shown(unknown)).toMatchObject({ kind: 'unavailable', retryable: false });
  });
});

describe.each([
  ['the engine', (fileSystem: FileSystem) => fileSystem],
  ['another layer', (fileSystem: FileSystem) => observe(fileSystem, () => {})],
])('a guard over %s', (_name, under) => {
  const open = () => {
    const base = sample({ '/open/a': 'a', '/open/b': 'b', '/secret/x': 'x' });
    return { base, fs: restrict(under(base), places('/open')) };
  };

  it('lets errors of the guard, of a transaction’s work and of a signal through as they are', async () => {
    const { fs } = open();
    expect(((await errorOf(() => fs.readFile('/secret/x'))) as Error).message).toBe("Not '/secret/x'. Allowed: /open");
    const own = Object.assign(new Error('/secret/own'), { path: '/secret/own' });
    expect(await errorOf(() => fs.transaction(() => Promise.reject(own)))).toBe(own);
    const { signal } = { signal: AbortSignal.abort(own) };
    expect(await errorOf(() => fs.readFile('/open/a', { signal }))).toBe(own);
  });

  it('has errors that do not name what a guard below allows', async () => {
    const lower = restrict(under(sample({ '/open/a': 'a', '/secret/x': 'x' })), places('/open/a', '/secret'));
    const fs = restrict(lower, places('/open'));
    for (const path of ['/open/other', '/elsewhere'])
      expect(String(await errorOf(() => fs.readFile(path)))).not.toContain('secret');
  });
});

it('an overflow of a watcher names the watched path if the event’s path is hidden', async () => {
  const base = sample({ '/open/a': 'a', '/secret/x': 'x' });
  const fs = restrict(mount(base, {}), places('/open'));
  const watcher = fs.watch('/', { recursive: true, maxQueue: 1 });
  for (let i = 0; i < 3; i++) base.writeFileSync('/secret/x', `${i}`);
  expect(await watcher.next()).toEqual({ done: false, value: { type: 'overflow', path: '/' } satisfies WatchEvent });
  await watcher.return?.();
});

it('a watcher of a filesystem whose events have no kind hides files that only their kind hides', async () => {
  const base = sample({ '/open/a.txt': 'a' });
  const isText = (path: string, kind: unknown): boolean => kind !== 'file' || path.endsWith('.txt');
  const guard: Guard = {
    check({ path, kind }) {
      if (!isText(path, kind)) throw new Error('Only texts');
    },
    isVisible: isText,
  };
  const watcher = restrict(mount(base, {}), guard).watch('/', { recursive: true });
  base.writeFileSync('/open/secret.key', '');
  base.mkdirSync('/open/directory');
  base.writeFileSync('/open/b.txt', '');
  expect([(await watcher.next()).value?.path, (await watcher.next()).value?.path]).toEqual([
    '/open/directory',
    '/open/b.txt',
  ]);
  await watcher.return?.();
});
