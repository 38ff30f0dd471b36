import { asyncStorage, backendOf } from '@scratchfs/core';
import { describe, it } from 'vitest';
import { memoryStorage } from './memory-file-system.js';
import { workingCopySuite } from './suite/working-copy-suite.js';

workingCopySuite({
  name: 'Working copy of the async form of memory',
  test: { describe, it: (name, body) => it(name, body, 60_000) },
  create: () => {
    const backend = backendOf(memoryStorage({ clock: () => 0 }));
    return { ours: asyncStorage(backend), theirs: asyncStorage(backend) };
  },
});
