import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import type { Guard } from '../../engine/guard.js';
import { FsError, OutcomeUnknownError, StorageError } from '../../errors.js';
import type { FileSystem, WatchEvent } from '../../file-system.js';
import { changedBackend, sampleBackend } from '../../testing/sample-backend.js';
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
      new TypeError("Unknown option 'flag'. Allowed: 'flags'"),
      new RangeError("A path starts with '/'"),
    ])
      expect(shown(error)).toBe(error);
    const given = new FsError('ENAMETOOLONG', { syscall: 'open', path: '/secret/a' });
    expect(shown(given, '/secret/a')).toBe(given);
    const argument = new TypeError("flags must not be '/secret/x'");
    expect(shown(argument, '/open/a', '/secret/x')).toBe(argument);
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

const HIDDEN = 'customer-4711';
const PATH = `/secret/${HIDDEN}`;

/** Errors of a lower filesystem or a storage that hold a hidden name. */
const TELLING: Readonly<Record<string, () => unknown>> = {
  'a cause': () => new Error('failed', { cause: new Error(PATH) }),
  'an AggregateError': () => new AggregateError([new Error(PATH)], 'several'),
  'a field of a TypeError': () => Object.assign(new TypeError('x'), { path: PATH }),
  'a cause of a RangeError': () => new RangeError('x', { cause: new Error(PATH) }),
  'the text of a TypeError': () => new TypeError(`The key ${PATH} is not valid`),
  'a field of an FsError': () => Object.assign(new FsError('EBUSY', { path: '/open/a' }), { at: new Set([PATH]) }),
  'a hint that names a path of the host': () => new FsError('EBUSY', { path: '/open/a', hint: `At '/srv${PATH}'` }),
  'a Map': () => Object.assign(new Error('x'), { nodes: new Map([[PATH, 1]]) }),
  'a record': () => ({ path: PATH }),
  'a string': () => `${HIDDEN} is damaged`,
  'a text without quotes': () => new Error(`${HIDDEN} is damaged`),
  'a path of the host': () => new Error(`cannot open '/srv${PATH}'`),
  'a URL': () => new Error(`GET https://host${PATH} failed`),
  'the text of a StorageError': () => new StorageError('corrupt', `${HIDDEN} is damaged`),
  'a cause of a StorageError': () => new StorageError('timeout', 'late', { cause: new Error(PATH) }),
  'a cause of an OutcomeUnknownError': () => new OutcomeUnknownError('id', new Error(PATH)),
};

/** Returns everything that an error says, without its stack. */
function everythingIn(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null || depth > 5) return String(value);
  if (value instanceof Map || value instanceof Set) return everythingIn([...value], depth + 1);
  return Reflect.ownKeys(value)
    .filter((key) => key !== 'stack')
    .map((key) => everythingIn(Reflect.get(value, key), depth + 1))
    .join('\n');
}

const hides = (path: string): boolean => path === '/secret' || path.startsWith('/secret/');
const DENY_LIST: Guard = {
  check({ path }) {
    if (hides(path)) throw new Error('No');
  },
  isVisible: (path) => !hides(path),
};

/** Filesystems whose reads fail with an error. */
const FAILING: Readonly<Record<string, (make: () => unknown) => FileSystem | Promise<FileSystem>>> = {
  'a custom filesystem': (make) => ({
    ...observe(sample({ '/open/a': 'a' }), () => {}),
    readFile: (): Promise<never> => Promise.reject(make()),
  }),
  'the engine': async (make) => {
    const backend = sampleBackend();
    const writer = await openFileSystem(asyncStorage(backend), { files: { '/open/a': 'a' } });
    await writer.close();
    return openFileSystem(
      asyncStorage(changedBackend(backend, { load: () => Promise.reject(make()) }), { retries: 0 }),
    );
  },
};

describe.each([
  ['an allow-list', places('/open')],
  ['a deny-list', DENY_LIST],
])('%s', (_list, guard) => {
  it.each(Object.entries(FAILING))('over %s never shows a hidden name in an error', async (_name, failing) => {
    for (const [what, make] of Object.entries(TELLING)) {
      const fs = restrict(await failing(make), guard);
      const error = await errorOf(() => fs.readFile('/open/a'));
      expect(error, what).toBeInstanceOf(Error);
      expect(everythingIn(error), what).not.toContain(HIDDEN);
    }
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
    expect(await errorOf(() => fs.transaction(() => Promise.reject('/secret/own')))).toBe('/secret/own');
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      then: (_done: unknown, failed: (error: unknown) => void) => failed(own),
    } as unknown as Promise<void>;
    expect(await errorOf(() => fs.transaction(() => thenable))).toBe(own);
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
