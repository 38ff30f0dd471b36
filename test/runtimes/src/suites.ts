import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { fileSystemSuite, storageSuite, type TestRunner } from '@scratchfs/testkit';

/** The suites every runtime runs, on the built packages. */
export function defineSuites(test: TestRunner): void {
  storageSuite({ test, name: 'MemoryStorage', create: ({ clock }) => new MemoryStorage({ clock }) });
  fileSystemSuite({
    test,
    name: 'FileSystem on memory',
    create: ({ clock, limits }) => openFileSystem(new MemoryStorage({ clock }), { clock, limits }),
  });
}
