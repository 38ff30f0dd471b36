import { asyncForm, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { fileSystemSuite, storageSuite, type TestRunner } from '@scratchfs/testkit';

interface Clock {
  readonly clock: () => number;
}

const storages = {
  MemoryStorage: ({ clock }: Clock) => new MemoryStorage({ clock }),
  'its async form': ({ clock }: Clock) => asyncForm(new MemoryStorage({ clock }), { clock }),
};

/** Defines the suites that every runtime runs on the built packages. */
export function defineSuites(test: TestRunner): void {
  for (const [name, create] of Object.entries(storages)) {
    storageSuite({ test, name, create });
    fileSystemSuite({
      test,
      name: `FileSystem on ${name}`,
      create: ({ clock, limits }) => openFileSystem(create({ clock }), { clock, limits }),
    });
  }
}
