import { describe, it } from 'vitest';
import { memoryFileSystem } from './memory-file-system.js';
import { fileSystemSuite } from './suite/file-system-suite.js';

fileSystemSuite({ name: 'FileSystem on memory', test: { describe, it }, create: memoryFileSystem });
