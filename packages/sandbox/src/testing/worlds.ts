import type { FileSystem, InitialFiles } from '@scratchfs/core';
import { mount, observe, overlay, readonly } from '@scratchfs/core/layers';
import { Sandbox } from '../sandbox.js';
import { asyncMemory, memory } from './memory.js';

/** Content of every file that must not be read. */
export const CANARY = 'CANARY-8a1f';

/** A tree in which `/jail/pub` may be read, `/jail/pub/rw` written, and nothing else seen. */
export const FILES: InitialFiles = {
  '/secret/key': CANARY,
  '/secret/deep/er': CANARY,
  '/jail/other.txt': CANARY,
  '/jail/pub-evil/x': CANARY,
  '/jail/pub/ok.txt': 'ok',
  '/jail/pub/dir/inner.txt': 'inner',
  '/jail/pub/rw/mine.txt': 'mine',
  '/jail/pub/rw/to-ok': { symlink: '../ok.txt' },
  '/jail/pub/rw/to-key': { symlink: '/secret/key' },
  '/jail/pub/rw/to-none': { symlink: '/secret/none' },
  '/jail/pub/out': { symlink: '/secret' },
  '/jail/pub/gone': { symlink: '/secrex' },
  '/jail/pub/rel': { symlink: '../../secret/key' },
  '/jail/pub/chain': { symlink: 'chain2' },
  '/jail/pub/chain2': { symlink: './out/key' },
  '/jail/pub/climb': { symlink: 'dir/../../other.txt' },
  '/jail/pub/climb-none': { symlink: 'dir/../../othex.txt' },
};

/** Pairs of an existing and a missing path outside: no result may distinguish them. */
export const OUTSIDE: readonly (readonly [string, string])[] = [
  ['/secret/key', '/secret/kex'],
  ['/secret', '/secrex'],
  ['/secret/deep', '/secret/deex'],
  ['/secret/key/x', '/secret/none/x'],
  ['/jail/other.txt', '/jail/othex.txt'],
  ['/jail/pub-evil', '/jail/pub-exil'],
  ['/jail/pub-evil/x', '/jail/pub-evil/y'],
  ['/jail/pub/../other.txt', '/jail/pub/../othex.txt'],
  ['\\jail\\pub\\..\\other.txt', '\\jail\\pub\\..\\othex.txt'],
  ['/jail/pub/out/key', '/jail/pub/out/kex'],
  ['/jail/pub/out/deep', '/jail/pub/out/deex'],
  ['/jail/pub/rw/to-key/x', '/jail/pub/rw/to-none/x'],
];

/**
 * Pairs of links out, to an existing and a missing target: no result of a method that follows them may distinguish
 * them.
 */
export const LINKS_OUT: readonly (readonly [string, string])[] = [
  ['/jail/pub/rw/to-key', '/jail/pub/rw/to-none'],
  ['/jail/pub/out', '/jail/pub/gone'],
  ['/jail/pub/rel', '/jail/pub/rw/to-none'],
  ['/jail/pub/chain', '/jail/pub/rw/to-none'],
  ['/jail/pub/climb', '/jail/pub/climb-none'],
];

/** Filesystems under a sandbox; all contain the same tree. */
export type Backends = Readonly<Record<string, () => FileSystem | Promise<FileSystem>>>;

export const BACKENDS: Backends = {
  memory: () => memory(FILES),
  'async memory': () => asyncMemory(FILES),
  overlay: () => overlay(memory(FILES)),
  'an overlay of async memory': async () => overlay(await asyncMemory(FILES)),
  'a read-only one': () => readonly(memory(FILES)),
  'an overlay of a read-only one': () => overlay(readonly(memory(FILES))),
  mount: async () => mount(memory(FILES), { '/jail/pub/rw/mnt': await asyncMemory() }),
  observe: () => observe(memory(FILES), () => {}),
  'another sandbox': () => new Sandbox(memory(FILES), { root: { root: '/' } }).fileSystem,
};

/** Filesystems that are not the engine's own, over which the layers walk paths themselves. */
export const FOREIGN: readonly string[] = ['mount', 'observe'];

export const PATTERNS = 'patterns that hide, of a parent and its child';

export const NESTED = 'a sandbox over a sandbox';

/** Sandboxes with the same access. */
export const POLICIES: Readonly<Record<string, (fileSystem: FileSystem) => Sandbox | Promise<Sandbox>>> = {
  'names within each other': (fileSystem) =>
    new Sandbox(
      fileSystem,
      {
        paths: { pub: { root: '/jail/pub' }, rw: { root: './pub/rw', mode: 'rw' } },
      },
      { basePath: '/jail' },
    ),
  'a child of one root': (fileSystem) =>
    new Sandbox(fileSystem, { root: { root: '.' } }).derive({ allowRead: '/jail/pub', allowWrite: '/jail/pub/rw' }),
  'a grandchild': async (fileSystem) => {
    const root = new Sandbox(fileSystem, { root: { root: '/jail' } });
    const child = await root.derive({
      allowRead: ['/pub', '/other.txt'],
      allowWrite: ['/pub/rw', '/pub/dir'],
      inherit: true,
    });
    return (await child.derive({ inherit: true })).derive({ allowRead: '/pub', allowWrite: '/pub/rw/mine.txt' });
  },
  [PATTERNS]: async (fileSystem) => {
    const sandbox = new Sandbox(fileSystem, { root: '/', deny: ['oth*.txt'] });
    return sandbox.derive({ allowRead: '/', allowWrite: '/jail/pub/rw', deny: ['/jail/*-e?il', 'secre?'] });
  },
  [NESTED]: (fileSystem) => {
    const outer = new Sandbox(fileSystem, { paths: { pub: { root: '/jail/pub', mode: 'rw' } } });
    return new Sandbox(outer.fileSystem, { root: { root: '/' } }).derive({
      allowRead: '/jail/pub',
      allowWrite: '/jail/pub/rw',
    });
  },
};

export const OVERLAID = 'an overlay over it';

export const PLAIN = 'nothing over it';

/** Layers over the sandbox's filesystem. */
export const LAYERS: Readonly<Record<string, (fileSystem: FileSystem) => FileSystem>> = {
  [PLAIN]: (fileSystem) => fileSystem,
  [OVERLAID]: (fileSystem) => overlay(fileSystem),
  'readonly over it': (fileSystem) => readonly(fileSystem),
  'observe over it': (fileSystem) => observe(fileSystem, () => {}),
  'mount over it': (fileSystem) => mount(fileSystem, {}),
};
