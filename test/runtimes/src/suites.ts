import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { fileSystemSuite, type TestRunner } from '@scratchfs/testkit';

/** The suites every runtime runs, on the built packages. */
export function defineSuites(test: TestRunner): void {
  fileSystemSuite({
    test,
    create: ({ clock, limits }) => openFileSystem(new MemoryStorage({ clock }), { clock, limits }),
  });
}
