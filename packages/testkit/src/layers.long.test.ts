import { asyncForm, type FileSystem, openFileSystem } from '@scratchfs/core';
import { mount, observe, overlay, readonly } from '@scratchfs/core/layers';
import { describe, it } from 'vitest';
import { memoryFileSystem, memoryStorage } from './memory-file-system.js';
import type { CreateOptions } from './suite/context.js';
import { fileSystemSuite } from './suite/file-system-suite.js';

/** Returns a filesystem that has only promises, on the engine of remote storages. */
const remote = ({ clock, limits }: CreateOptions): Promise<FileSystem> =>
  openFileSystem(asyncForm(memoryStorage({ clock }), { clock }), { clock, limits });

const layers: Readonly<Record<string, (options: CreateOptions) => FileSystem | Promise<FileSystem>>> = {
  observe: (options) => observe(memoryFileSystem(options), () => {}),
  'observe of a remote one': async (options) => observe(await remote(options), () => {}),
  'overlay of an empty filesystem': (options) => overlay(memoryFileSystem(options)),
  'overlay of a read-only one': (options) => overlay(readonly(memoryFileSystem(options))),
  'overlay of a remote one': async (options) => overlay(await remote(options), { clock: options.clock }),
  mount: (options) => mount(memoryFileSystem(options), {}),
  'mount of a remote one': async (options) => mount(await remote(options), {}),
};

for (const [name, create] of Object.entries(layers)) {
  fileSystemSuite({ name: `FileSystem through ${name}`, test: { describe, it }, create });
}
