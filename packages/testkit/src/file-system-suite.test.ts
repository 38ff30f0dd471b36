import { describe, it } from 'vitest';
import { memoryFileSystem } from './memory-file-system.js';
import { fileSystemSuite } from './suite/file-system-suite.js';

fileSystemSuite({
  name: 'FileSystem on memory',
  test: { describe, it: (name, body) => it(name, body, 60_000) },
  create: memoryFileSystem,
});
