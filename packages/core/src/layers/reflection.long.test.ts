import { expect, it } from 'vitest';
import type { Cursor } from '../engine/cursor.js';
import type { Guard } from '../engine/guard.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { collectStates } from '../states/collect-states.js';
import type { StateWalk } from '../states/state-walk.js';
import { CALLBACK, Reflection } from '../testing/reflection.js';
import { promises, sample } from '../testing/sample-file-system.js';
import { mount } from './mount.js';
import { observe } from './observe.js';
import { readonly } from './readonly.js';
import { restrict } from './restrict.js';

const FILES = { '/d/f': 'hidden-7f3a', '/g': 'more' };

const forms: Readonly<Record<string, (base: SyncFileSystem) => FileSystem>> = {
  'a filesystem of the engine': (base) => readonly(base),
  'another layer': (base) => readonly(observe(base, () => {})),
  'a mount': (base) => readonly(mount(base, { '/m': sample({ '/x': 'y' }) })),
  'a filesystem of promises': (base) => readonly(promises(base)),
  'a checkpoint': (base) => readonly(base.atSync('before')),
  'a filesystem, at a checkpoint': (base) => readonly(base).atSync('before'),
};

/** Allows no write, and reading only of `/` and `/g`. */
const ONLY_G: Guard = {
  check({ path, access }) {
    if ((path !== '/g' && path !== '/') || access === 'write' || access === 'remove') throw new Error('refused');
  },
  isVisible: (path) => path === '/g' || path === '/',
  checkState() {
    throw new Error('refused');
  },
};

const restricted: Readonly<Record<string, (base: SyncFileSystem) => FileSystem>> = {
  'a filesystem of the engine': (base) => restrict(base, ONLY_G),
  'another layer': (base) =>
    restrict(
      observe(base, () => {}),
      ONLY_G,
    ),
};

/** Argument lists that fit many methods, such as a path and content, a buffer to read into, a callback, and none. */
const ARGUMENTS = [
  [],
  ['/g', 'x'],
  ['/g', '/h'],
  ['/d', { recursive: true }],
  ['/g', 'r'],
  [CALLBACK],
  [CALLBACK, []],
  [CALLBACK, {}],
  [undefined, CALLBACK],
  [undefined, undefined, CALLBACK],
  [new Uint8Array(4), 0],
  ['x'],
  ['before'],
];

async function explored(base: SyncFileSystem, fs: FileSystem): Promise<Reflection> {
  const reflection = new Reflection();
  for (const reached of [
    fs,
    await fs.open('/g'),
    fs.createReadStream('/g'),
    fs.watch('/'),
    fs.walk('/'),
    fs.fork(),
    at(fs),
  ])
    reflection.add(await reached);
  await fs.transaction(async (inside) => reflection.add(inside)).catch(() => {});
  for (const state of await collectStates(fs, statesIn)) reflection.add(state);
  await reflection.explore(ARGUMENTS);
  expect(reflection.found.has(base)).toBe(false);
  expect(reflection.found.size).toBeGreaterThan(100);
  return reflection;
}

/** Returns the state of a checkpoint, if the filesystem may see one. */
async function at(fs: FileSystem): Promise<FileSystem | undefined> {
  return fs.at('before').catch(() => undefined);
}

/** Collects a walk, its root and the entries of the root. */
function statesIn(walk: StateWalk): Cursor<unknown> {
  const found: unknown[] = [walk, walk.root()];
  const listing = walk.enter();
  for (const at of listing.names.keys()) found.push(walk.meet(at));
  return { next: () => found.shift() };
}

function stateOf(base: SyncFileSystem): unknown {
  const held = { files: base.toJSON(), root: base.statSync('/'), file: base.statSync('/g'), limits: base.limits };
  return JSON.parse(JSON.stringify([held, base.checkpointsSync()]));
}

for (const [form, layer] of Object.entries(forms)) {
  it(`nothing that is reachable from a read-only view of ${form} writes`, async () => {
    const base = sample(FILES);
    base.checkpointSync('before');
    const before = stateOf(base);
    (await explored(base, layer(base))).vandalize();
    expect(stateOf(base)).toEqual(before);
  });
}

for (const [form, layer] of Object.entries(restricted)) {
  it(`nothing that is reachable from a restricted view of ${form} reads or writes more than allowed`, async () => {
    const base = sample(FILES);
    const before = stateOf(base);
    const reflection = await explored(base, layer(base));
    const bytes = [...reflection.found.keys()].filter((found) => found instanceof Uint8Array);
    for (const found of bytes) expect(new TextDecoder().decode(found as Uint8Array)).not.toContain('hidden-7f3a');
    expect(reflection.texts).toContain('more');
    expect(reflection.texts).not.toContain('hidden-7f3a');
    reflection.vandalize();
    expect(stateOf(base)).toEqual(before);
  });
}
