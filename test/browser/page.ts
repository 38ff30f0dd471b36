import { IndexedDbStorage } from '@scratchfs/browser';
import { createNodeFs } from '@scratchfs/node-fs/web';
import { collectTests, objectStoreSuite } from '@scratchfs/testkit';
import { Buffer } from 'buffer';
import git, { type PromiseFsClient } from 'isomorphic-git';
import http from 'isomorphic-git/http/web';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { openWorkingCopy } from 'scratchfs/working-copy';
// The suite of object stores needs the store itself, which the package does not export.
import { IndexedDbObjectStore } from '../../packages/browser/src/indexed-db-object-store.js';
import { type ContentTimes, contentRates } from './contents.js';
import { rates } from './rates.js';

// isomorphic-git needs a global Buffer and documents that the page must provide it.
Object.assign(globalThis, { Buffer });

const isWorker = typeof document === 'undefined';

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
  storeSuite,
  fill,
  readLarge,
  writeLarge: (name: string, paths: readonly string[], length: number): Promise<void> =>
    // Messages of the console reach the test as each file is stored.
    writeLarge(name, paths, length, (path) => console.log(path)),
  /** Writes half of the private file of a large content and then stops, like a tab that is killed. */
  writeHalf: (name: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const { prototype } = FileSystemFileHandle as unknown as { prototype: { createSyncAccessHandle: OpenSync } };
      const open = prototype.createSyncAccessHandle;
      prototype.createSyncAccessHandle = async function () {
        const handle = await open.call(this);
        handle.write(new Uint8Array(HALF));
        resolve();
        return new Promise(() => {});
      };
      writeLarge(name, ['/half'], 2 * HALF).catch(reject);
    }),
};
const HALF = 2 ** 20;
type OpenSync = () => Promise<{ write(bytes: Uint8Array): number }>;
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

/**
 * Runs the suite of object stores. Returns the number of tests, and the failures.
 * @param minFileBytes size from which an object becomes a private file
 */
async function storeSuite(minFileBytes?: number): Promise<{ passed: number; failed: string[] }> {
  const test = collectTests();
  objectStoreSuite({
    test,
    methods: ['commit', 'watch', 'deleteHead'],
    watchTimeoutMs: 60_000,
    open: (place) => new IndexedDbObjectStore(`suite-${minFileBytes}`, place, false, minFileBytes),
  });
  const results = await test.run();
  const failed = results.filter(({ error }) => error !== undefined).map(({ name, error }) => `${name}: ${error}`);
  return { passed: results.length - failed.length, failed };
}

/** Opens a filesystem; in a worker, one that writes large contents to private files. */
function openHere(name: string): Promise<FileSystem> {
  const contents = isWorker ? 'opfs' : 'database';
  return createFileSystem({ storage: new IndexedDbStorage(name, { contents, maxCacheBytes: 0 }) });
}

/** Returns bytes that differ from path to path and look random, because Chromium compresses what it stores. */
function contentOf(path: string, length: number): Uint8Array {
  let state = [...path].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), 7);
  const words = new Uint32Array(length >> 2).map(() => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    return state;
  });
  return new Uint8Array(words.buffer);
}

/** Writes files one after another, and says the path of each that is stored. */
async function writeLarge(
  name: string,
  paths: readonly string[],
  length: number,
  say: (path: string) => void = () => {},
): Promise<void> {
  const fs = await openHere(name);
  for (const path of paths) {
    await fs.writeFile(path, contentOf(path, length));
    say(path);
  }
}

/** Returns the paths of the files that have exactly the bytes that `writeLarge` gives them. */
async function readLarge(name: string, paths: readonly string[], length: number): Promise<string[]> {
  const fs = await openHere(name);
  const whole: string[] = [];
  for (const path of paths) {
    const expected = contentOf(path, length);
    const bytes = await fs.readFile(path);
    if (bytes.length === length && bytes.every((byte, i) => byte === expected[i])) whole.push(path);
  }
  return whole;
}

/** Returns the sorted sizes of the private files of a filesystem, or undefined if it has no folder. */
async function filesOf(name: string): Promise<number[] | undefined> {
  const root = await navigator.storage.getDirectory();
  const folder = await root
    .getDirectoryHandle(encodeURIComponent(`scratchfs scratchfs ${name}`))
    .catch(() => undefined);
  if (folder === undefined) return undefined;
  const sizes: number[] = [];
  for await (const file of folder.values()) sizes.push((await (file as FileSystemFileHandle).getFile()).size);
  return sizes.sort((a, b) => a - b);
}

/** Writes a large file into a quota. Returns the outcome, and what the filesystem has afterwards. */
async function fill(): Promise<{ outcome: unknown; text: string; names: string[]; files: number[] }> {
  const fs = await openHere('full');
  if (!(await fs.exists('/a'))) await fs.writeFile('/a', 'kept');
  const outcome = await fs.writeFile('/large', contentOf('/large', 4 * 2 ** 20)).then(
    () => ({ kind: 'written' }),
    ({ kind, message, mayHaveHappened }) => ({ kind, message, mayHaveHappened }),
  );
  const files = (await filesOf('full')) ?? [];
  return { outcome, text: await fs.readText('/a'), names: await fs.readdir('/'), files };
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
  IndexedDbObjectStore,
  inWorker,
  openHere,
  writeLarge,
  readLarge,
  filesOf,
  fill,
  rates,
};
export type Tools = typeof tools;
Object.assign(globalThis, { tools });

// In a worker, runs the function that a message names.
if (isWorker)
  globalThis.onmessage = async ({ data: [name, given] }) => {
    const work = WORK[name as keyof Work] as (...given: unknown[]) => Promise<unknown>;
    globalThis.postMessage(
      await work(...given).then(
        (result) => ({ result }),
        (error) => ({ error: String(error) }),
      ),
    );
  };
