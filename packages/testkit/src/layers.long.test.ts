import type { FileSystem } from '@scratchfs/core';
import { mount, observe, overlay, readonly } from '@scratchfs/core/layers';
import { describe, it } from 'vitest';
import { memoryFileSystem } from './memory-file-system.js';
import { promisesOnly } from './promises-only.js';
import type { CreateOptions } from './suite/context.js';
import { fileSystemSuite } from './suite/file-system-suite.js';

const layers: Readonly<Record<string, (options: CreateOptions) => FileSystem>> = {
  observe: (options) => observe(memoryFileSystem(options), () => {}),
  'overlay of an empty filesystem': (options) => overlay(memoryFileSystem(options)),
  'overlay of a read-only one': (options) => overlay(readonly(memoryFileSystem(options))),
  'overlay of one that has only promises': (options) =>
    overlay(promisesOnly(memoryFileSystem(options)), { clock: options.clock }),
  mount: (options) => mount(memoryFileSystem(options), {}),
  'mount of promises': (options) => mount(promisesOnly(memoryFileSystem(options)), {}),
};

for (const [name, create] of Object.entries(layers)) {
  fileSystemSuite({ name: `FileSystem through ${name}`, test: { describe, it }, create });
}
