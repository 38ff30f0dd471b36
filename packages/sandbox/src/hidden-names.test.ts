import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { mount, observe, overlay, restrict } from '@scratchfs/core/layers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { Failure, failing, failingStorage, HIDDEN } from './testing/failing.js';
import {
  CHANGES,
  type HiddenNamesWorld,
  NAMES,
  namesAfterChange,
  namesFromSandbox,
  namesInFailures,
} from './testing/hidden-names.js';
import { asyncMemory, memory } from './testing/memory.js';
import { POLICIES } from './testing/worlds.js';

type World = () => HiddenNamesWorld | Promise<HiddenNamesWorld>;

/** Returns a world over a filesystem in memory, which can be made to fail. */
const over =
  (layer: (lower: FileSystem, changed: FileSystem) => FileSystem | Promise<FileSystem>): World =>
  async () => {
    const failure = new Failure();
    const lower = memory(NAMES);
    return { failure, fileSystem: await layer(failing(lower, failure), lower) };
  };

/** Returns a filesystem without checkpoints and forks. The errors of a mount name such a filesystem. */
function withoutStates(fileSystem: FileSystem): FileSystem {
  const capabilities = { ...fileSystem.capabilities, checkpoints: false, forks: false };
  return new Proxy(fileSystem, {
    get: (target, key) => (key === 'capabilities' ? capabilities : Reflect.get(target, key, target)),
  });
}

const WORLDS: Readonly<Record<string, World>> = {
  memory: () => ({ fileSystem: memory(NAMES), failure: undefined }),
  'asynchronous memory': async () => {
    const failure = new Failure();
    return { failure, fileSystem: await openFileSystem(failingStorage(failure), { files: NAMES }) };
  },
  'an overlay': over((lower) => overlay(lower)),
  'an overlay of asynchronous memory': async () => {
    const failure = new Failure();
    return { failure, fileSystem: overlay(failing(await asyncMemory(NAMES), failure)) };
  },
  'a mount': over(async (lower) => mount(lower, { [`/secret/${HIDDEN}/mnt`]: withoutStates(await asyncMemory()) })),
  'a custom filesystem': over((lower) => lower),
  'an observed one': over((lower) => observe(lower, () => {})),
  'another sandbox': over(
    (lower) =>
      new Sandbox(lower, {
        paths: {
          hidden: { root: `/secret/${HIDDEN}` },
          pub: { root: '/jail/pub', mode: 'rw' },
          jail: { root: '/jail' },
        },
      }).fileSystem,
  ),
};

type Guard = (fileSystem: FileSystem) => FileSystem | Promise<FileSystem>;

const isShown = (path: string): boolean => ['/', '/jail', '/jail/pub'].includes(path) || path.startsWith('/jail/pub/');

const isSecret = (path: string): boolean => path === '/secret' || path.startsWith('/secret/');

const GUARDS: Readonly<Record<string, Guard>> = {
  ...Object.fromEntries(
    Object.entries(POLICIES).map(([name, policy]): [string, Guard] => [
      `a sandbox of ${name}`,
      async (fileSystem) => (await policy(fileSystem)).fileSystem,
    ]),
  ),
  'a sandbox with suffixes': (fileSystem) =>
    new Sandbox(fileSystem, { root: { root: '/jail', suffixes: ['.txt'] } }).fileSystem,
  'a sandbox with suffixes and names without one': (fileSystem) =>
    new Sandbox(fileSystem, { root: { root: '/jail', suffixes: ['.txt', ''] } }).fileSystem,
  'a sandbox under an overlay': (fileSystem) =>
    overlay(new Sandbox(fileSystem, { root: { root: '/jail/pub' } }).fileSystem),
  restrict: (fileSystem) =>
    restrict(fileSystem, {
      check({ path, given }) {
        if (!isShown(path)) throw new Error(`You may not use ${given}`);
      },
      isVisible: isShown,
    }),
  'restrict with a deny-list': (fileSystem) =>
    restrict(fileSystem, {
      check({ path, given }) {
        if (isSecret(path)) throw new Error(`You may not use ${given}`);
      },
      isVisible: (path) => !isSecret(path),
    }),
};

// Frames of a stack name files of this program, and are slow to make.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

const PAIRS = Object.entries(WORLDS).flatMap(([world, create], i) =>
  Object.entries(GUARDS).map(([name, guard], j) => ({ world, create, name, guard, number: i + j })),
);
const CHANGE_NAMES = Object.keys(CHANGES);

it.each(PAIRS)('$name over $world never names what it hides', async ({ create, guard, number }) => {
  const wrong: string[] = [];
  // Each pair runs two of the changes.
  for (const change of [0, 2].map((i) => CHANGE_NAMES[(number + i) % CHANGE_NAMES.length] as string))
    for (const name of await namesAfterChange(await create(), guard, change)) wrong.push(`${change}: ${name}`);
  wrong.push(...(await namesInFailures(await create(), guard, number)));
  expect(wrong).toEqual([]);
});

it.each(Object.entries(WORLDS))('the methods of a sandbox over %s never name what it hides', async (_name, create) => {
  const wrong: string[] = [];
  for (const first of [0, 3, 6]) wrong.push(...(await namesFromSandbox(await create(), first)));
  expect(wrong).toEqual([]);
});
