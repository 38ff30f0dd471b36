import { IndexedDbStorage } from '@scratchfs/browser';
import { createNodeFs } from '@scratchfs/node-fs/web';
import { collectTests, objectStoreSuite } from '@scratchfs/testkit';
import { Buffer } from 'buffer';
import git, { type PromiseFsClient } from 'isomorphic-git';
import http from 'isomorphic-git/http/web';
import { createFileSystem } from 'scratchfs';
import { openWorkingCopy } from 'scratchfs/working-copy';
// The suite of object stores needs the store itself, which the package does not export.
import { IndexedDbObjectStore } from '../../packages/browser/src/indexed-db-object-store.js';
import { type ContentTimes, contentRates } from './contents.js';
import { rates } from './rates.js';

// isomorphic-git needs a global Buffer and documents that the page must provide it.
Object.assign(globalThis, { Buffer });

/**
 * Increments the number in `/counter`, and reports each new value once it is stored.
 * @param say called with each value
 */
async function increment(name: string, times: number, say: (value: number) => void): Promise<void> {
  const fs = await createFileSystem({ storage: new IndexedDbStorage(name) });
  for (let done = 0; done < times; done++) {
    const value = await fs.transaction(async (tx) => {
      const next = Number(await tx.readText('/counter')) + 1;
      await tx.writeFile('/counter', String(next));
      return next;
    });
    say(value);
  }
}

/** Lets a worker increment the counter. Resolves to the values. */
const incrementInWorker = (name: string, times: number) => inWorker('increment', name, times);

/** Measures contents of a size in a worker, which alone may open private files synchronously. */
const contentRatesInWorker = (bytes: number, rounds: number) => inWorker('contentRates', bytes, rounds);

const WORK = {
  increment: async (name: string, times: number): Promise<number[]> => {
    const values: number[] = [];
    await increment(name, times, (value) => values.push(value));
    return values;
  },
  contentRates: (bytes: number, rounds: number): Promise<Record<string, ContentTimes>> => contentRates(bytes, rounds),
};
type Work = typeof WORK;

/** Calls one of the functions in a worker. */
function inWorker<K extends keyof Work>(name: K, ...given: Parameters<Work[K]>): ReturnType<Work[K]> {
  const worker = new Worker('/page.js');
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data: { result, error } }) => {
      worker.terminate();
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    };
    worker.onerror = reject;
    worker.postMessage([name, given]);
  }) as ReturnType<Work[K]>;
}

/** Clones a repository over http into a filesystem. Returns the id of its head, the status, and the files. */
async function clone(name: string, url: string): Promise<{ head: string; status: unknown; files: string[] }> {
  const fs = createNodeFs(await createFileSystem({ storage: new IndexedDbStorage(name) }));
  const repository = { fs: fs as unknown as PromiseFsClient, dir: '/repository' };
  await git.clone({ ...repository, http, url });
  const head = await git.resolveRef({ ...repository, ref: 'HEAD' });
  const status = await git.statusMatrix(repository);
  return { head, status, files: await fs.promises.readdir('/repository') };
}

/** Runs the suite of object stores. Returns the number of tests, and the failures. */
async function storeSuite(): Promise<{ passed: number; failed: string[] }> {
  const test = collectTests();
  objectStoreSuite({
    test,
    methods: ['commit', 'watch', 'deleteHead'],
    open: (place) => new IndexedDbObjectStore('suite', place, false),
  });
  const results = await test.run();
  const failed = results.filter(({ error }) => error !== undefined).map(({ name, error }) => `${name}: ${error}`);
  return { passed: results.length - failed.length, failed };
}

const tools = {
  createFileSystem,
  IndexedDbStorage,
  openWorkingCopy,
  increment,
  incrementInWorker,
  contentRatesInWorker,
  clone,
  storeSuite,
  rates,
};
export type Tools = typeof tools;
Object.assign(globalThis, { tools });

// As a worker.
if (typeof document === 'undefined')
  globalThis.onmessage = async ({ data: [name, given] }) => {
    const work = WORK[name as keyof Work] as (...given: unknown[]) => Promise<unknown>;
    globalThis.postMessage(
      await work(...given).then(
        (result) => ({ result }),
        (error) => ({ error: String(error) }),
      ),
    );
  };
