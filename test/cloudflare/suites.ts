import { type AsyncStorage, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import {
  backendSuite,
  collectTests,
  fileSystemSuite,
  type OptionalMethod,
  objectStoreFaults,
  objectStoreSuite,
  storageSuite,
  type TestRunner,
  workingCopySuite,
} from '@scratchfs/testkit';

/** A store under test. */
export interface Subject {
  /** Opens the object store of the filesystem with this name. */
  store(name: string): ObjectStore;
  /** Opens the storage of the filesystem with this name. */
  storage(name: string, options?: ObjectTreeOptions): AsyncStorage;
  /** Optional methods of the object store. */
  readonly methods: readonly OptionalMethod[];
  /** Number of objects in the test of long listings. */
  readonly listedObjects: number;
}

/** The result of a test, as JSON can hold it. */
export interface Result {
  readonly name: string;
  readonly ms: number;
  readonly error?: string;
}

let made = 0;
const newName = (): string => `f${made++}`;

const SUITES: Readonly<Record<string, (test: TestRunner, subject: Subject, everyFault: number) => void>> = {
  objects: (test, { store, methods, listedObjects }) =>
    objectStoreSuite({ test, methods, listedObjects, watchTimeoutMs: 60_000, open: store }),
  backend: (test, { store }) => backendSuite({ test, create: () => new ObjectTreeBackend(store(newName())) }),
  storage: (test, { storage }) => storageSuite({ test, create: ({ clock }) => storage(newName(), { clock }) }),
  files: (test, { storage }) =>
    fileSystemSuite({
      test,
      create: ({ clock, limits }) => openFileSystem(storage(newName(), { clock, maxCacheBytes: 0 }), { clock, limits }),
    }),
  copies: (test, { storage }) =>
    workingCopySuite({
      test,
      histories: 2,
      create: () => {
        const name = newName();
        return { ours: storage(name), theirs: storage(name) };
      },
    }),
  faults: (test, { store }, every) =>
    test.it('A store whose replies are lost leaves the state that was reported', async () => {
      const { faults, problems } = await objectStoreFaults({ create: () => store(newName()), every });
      if (problems.length > 0 || faults < 9) throw new Error(`${faults} faults: ${problems.join('\n')}`);
    }),
};

export const SUITE_NAMES = Object.keys(SUITES);

/** Runs a suite of the test kit in any runtime. With `every` 10, every tenth of its tests runs. */
export async function runSuite(
  name: string,
  subject: Subject,
  { every = '1', everyFault = '97' }: Readonly<Record<string, string>>,
): Promise<Result[]> {
  const runner = collectTests();
  SUITES[name]?.(runner, subject, Number(everyFault));
  const results: Result[] = [];
  for (const { name: title, body } of runner.tests.filter((_, i) => i % Number(every) === 0)) {
    const started = Date.now();
    const error = await body().then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof Error ? `${thrown.message}\n${thrown.stack}` : String(thrown)),
    );
    results.push({ name: title, ms: Date.now() - started, ...(error === undefined ? {} : { error }) });
  }
  return results;
}
