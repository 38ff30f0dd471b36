import { asyncForm, openFileSystem } from '@scratchfs/core';
import { describe, it } from 'vitest';
import { memoryStorage } from './memory-file-system.js';
import { fileSystemSuite } from './suite/file-system-suite.js';

fileSystemSuite({
  name: 'FileSystem on the async form of memory',
  test: { describe, it: (name, body) => it(name, body, 60_000) },
  create: ({ clock, limits }) => openFileSystem(asyncForm(memoryStorage({ clock }), { clock }), { clock, limits }),
});
