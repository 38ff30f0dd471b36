import { DurableObjectStorage, type R2BucketBinding, R2Storage, type SqlObjectState } from '@scratchfs/cloudflare';
import { type FileSystem, isStorageError, openFileSystem } from '@scratchfs/core';
import type { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import type { Subject } from './suites.js';

/** The part of `ctx.storage` that belongs to the rest of a Durable Object's program. */
interface RestOfState extends SqlObjectState {
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
  put(key: string, value: string): Promise<void>;
  get(key: string): Promise<unknown>;
  list(): Promise<Map<string, unknown>>;
  deleteAll(): Promise<void>;
  transaction(work: (transaction: { rollback(): void }) => Promise<void>): Promise<void>;
}

export interface Place {
  readonly bucket: R2BucketBinding;
  /** Undefined outside a Durable Object. */
  readonly state?: SqlObjectState;
  readonly subject: Subject;
  readonly parameters: Readonly<Record<string, string>>;
}

type Case = (place: Place) => Promise<unknown>;

const opened = (storage: ObjectTreeStorage): Promise<FileSystem> => openFileSystem(storage);

/** Opens a named storage in the bucket, or in the Durable Object if there is one. */
function storageIn({ bucket, state }: Place, name: string): ObjectTreeStorage {
  return state === undefined ? new R2Storage(bucket, { name }) : new DurableObjectStorage(state, { name });
}

const namesIn = ({ bucket, state }: Place): Promise<string[]> =>
  state === undefined ? R2Storage.list(bucket) : DurableObjectStorage.list(state);

/** Resolves to the kind and the message of the StorageError with which a promise rejects. */
async function failureOf(work: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await work;
  } catch (error) {
    return isStorageError(error) ? [error.kind, error.message] : ['not a StorageError', String(error)];
  }
  return ['none', ''];
}

/** Returns the tables of scratchfs in a database. */
const tablesOf = ({ sql }: SqlObjectState): unknown[] =>
  sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'scratchfs%' ORDER BY name").toArray();

/** Actions of the tests inside the Worker or the Durable Object. Results are JSON. */
export const CASES: Readonly<Record<string, Case>> = {
  /** Increments the number in a file, in a client of its own; resolves to the values that it wrote. */
  increment: async (place) => {
    const { name = '', times = '1' } = place.parameters;
    const fs = await opened(storageIn(place, name));
    const values: number[] = [];
    for (let done = 0; done < Number(times); done++)
      values.push(
        await fs.transaction(async (tx) => {
          const next = ((await tx.exists('/counter')) ? Number(await tx.readText('/counter')) : 0) + 1;
          await tx.writeFile('/counter', String(next));
          return next;
        }),
      );
    await fs.close();
    return values;
  },

  read: async (place) => {
    const fs = await opened(storageIn(place, place.parameters['name'] ?? ''));
    const text = await fs.readText('/counter');
    await fs.close();
    return text;
  },

  /** Deletes a filesystem; resolves to the keys that are left under its prefix. */
  destroy: async (place) => {
    const name = place.parameters['name'] ?? '';
    await storageIn(place, name).destroy();
    return (await place.bucket.list({ prefix: `scratchfs/${name}/` })).objects.map(({ key }) => key);
  },

  writeRandom: async (place) => {
    const { name = '', path = '' } = place.parameters;
    const bytes = new Uint8Array(100_000);
    for (let at = 0; at < bytes.length; at += 50_000) crypto.getRandomValues(bytes.subarray(at, at + 50_000));
    const fs = await opened(storageIn(place, name));
    await fs.writeFile(path, bytes);
    await fs.close();
  },

  /** Reads every file; resolves to their names and sizes. */
  readAll: async (place) => {
    const fs = await opened(storageIn(place, place.parameters['name'] ?? ''));
    const names = await fs.readdir('/');
    const sizes: number[] = [];
    for (const name of names) sizes.push((await fs.readFile(`/${name}`)).length);
    await fs.close();
    return { names, sizes };
  },

  names: async (place) => {
    const before = await namesIn(place);
    const storages = ['one', 'one.more', 'two'].map((name) => storageIn(place, name));
    for (const storage of storages) await (await opened(storage)).writeFile('/f', 'x');
    const listed = await namesIn(place);
    await storages[0]?.destroy();
    const left = await namesIn(place);
    const kept = await (await opened(storageIn(place, 'one.more'))).readText('/f');
    for (const storage of storages.slice(1)) await storage.destroy();
    return { before, listed, left, kept, after: await namesIn(place) };
  },

  /** Keys of others in a bucket stay as they are. */
  otherKeys: async ({ bucket }) => {
    const keys = [
      'one/head',
      'scratchfs',
      'scratchfs/',
      'scratchfs/Not a name/head',
      'scratchfs/three',
      'scratchfs/four/objects/1',
    ];
    for (const key of keys) await bucket.put(key, new Uint8Array([1]));
    const storage = new R2Storage(bucket, { name: 'one' });
    await (await opened(storage)).writeFile('/f', 'x');
    const listed = await R2Storage.list(bucket);
    await storage.destroy();
    const kept: string[] = [];
    for (const key of keys) if ((await bucket.head(key)) !== null) kept.push(key);
    const left = (await bucket.list({ prefix: 'scratchfs/one/' })).objects;
    return { listed, isKept: kept.length === keys.length, left };
  },

  /** An alarm, keys and tables of the program stay as they are. */
  otherState: async ({ state }) => {
    const rest = state as RestOfState;
    const at = Date.now() + 3_600_000;
    await rest.setAlarm(at);
    await rest.put('key', 'value');
    rest.sql.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (7)');
    const storage = new DurableObjectStorage(rest, { name: 'beside' });
    const fs = await opened(storage);
    for (const text of ['one', 'two']) await fs.writeFile('/f', text);
    await storage.collectGarbage();
    const during = await rest.getAlarm();
    await storage.destroy();
    const alarm = [during === at, (await rest.getAlarm()) === at];
    const keys = [...(await rest.list())];
    const tables = rest.sql.exec('SELECT x FROM mine').toArray();
    rest.sql.exec('DROP TABLE mine');
    return { alarm, keys, tables };
  },

  largeFile: async (place) => {
    const bytes = new Uint8Array(5_000_000).map((_, i) => (i * i) % 251);
    const fs = await opened(storageIn(place, 'large'));
    await fs.writeFile('/large', bytes);
    await fs.checkpoint('whole');
    await fs.truncate('/large', 10);
    await fs.rollback('whole');
    const other = await opened(storageIn(place, 'large'));
    const read = await other.readFile('/large');
    const largest = place.state?.sql.exec('SELECT max(length(bytes)) AS largest FROM scratchfs_objects').toArray();
    return { isSame: read.length === bytes.length && read.every((byte, i) => byte === bytes[i]), largest };
  },

  greatestRow: async ({ subject }) => {
    const store = subject.store('greatest');
    const greatest = store.maxObjectBytes as number;
    await store.put(`objects/${'9'.repeat(190)}`, new Uint8Array(greatest + 1).subarray(1));
    return [greatest, await failureOf(store.put('objects/1', new Uint8Array(4_000_000)))];
  },

  watch: async (place) => {
    const [fs, other] = [await opened(storageIn(place, 'watched')), await opened(storageIn(place, 'watched'))];
    const events = fs.watch('/')[Symbol.asyncIterator]();
    const next = events.next();
    await other.writeFile('/a', 'x');
    const { value } = await next;
    await events.return?.(undefined);
    return value;
  },

  newerHead: async ({ bucket, subject }) => {
    const head = new TextEncoder().encode('scratchfs object tree 2 2 0\n{}');
    await bucket.put('scratchfs/newer/head', head);
    const failure = await failureOf(openFileSystem(subject.storage('newer')));
    const kept = await bucket.get('scratchfs/newer/head');
    const bytes = new Uint8Array((await kept?.arrayBuffer?.()) ?? new ArrayBuffer(0));
    return { failure, isSame: new TextDecoder().decode(bytes) === new TextDecoder().decode(head) };
  },

  newerTables: async ({ state }) => {
    const rest = state as RestOfState;
    await rest.deleteAll();
    rest.sql.exec('CREATE TABLE scratchfs_format (version INTEGER NOT NULL); INSERT INTO scratchfs_format VALUES (2)');
    const failure = await failureOf(opened(new DurableObjectStorage(rest)));
    const tables = tablesOf(rest);
    await rest.deleteAll();
    return { failure, tables };
  },

  gone: async (place) => {
    const fs = await opened(storageIn(place, 'gone'));
    await fs.writeFile('/f', 'x');
    if (place.state !== undefined) await (place.state as RestOfState).deleteAll();
    else
      for (const { key } of (await place.bucket.list({ prefix: 'scratchfs/gone/' })).objects)
        await place.bucket.delete([key]);
    const failures = [await failureOf(fs.readText('/f')), await failureOf(fs.writeFile('/g', 'y'))];
    const fresh = await opened(storageIn(place, 'gone'));
    return { failures, fresh: await fresh.readdir('/') };
  },

  /** Resolves to the tags of two heads with one predecessor; the application's own transaction rolls the first back. */
  rolledBackTags: async ({ state, subject }) => {
    const store = subject.store('rolled-back');
    const first = await store.swapHead(new Uint8Array([1]), undefined);
    const tags: unknown[] = [];
    await (state as RestOfState).transaction(async (transaction) => {
      tags.push(await store.swapHead(new Uint8Array([2]), first));
      transaction.rollback();
    });
    tags.push(await store.swapHead(new Uint8Array([3]), first));
    return tags;
  },

  open: async (place) => failureOf(opened(storageIn(place, 'default'))),

  /** A bucket that refuses a second write of one object within a second, as the manual of R2 says. */
  limitedRate: async ({ bucket }) => {
    const writes = new Map<string, number>();
    let refused = 0;
    const limited = new Proxy(bucket, {
      get: (_, method: keyof R2BucketBinding) =>
        method !== 'put'
          ? (...what: never[]) => (bucket[method] as (...what: never[]) => unknown)(...what)
          : (...[key, value, options]: Parameters<R2BucketBinding['put']>) => {
              const last = writes.get(key);
              if (last !== undefined && Date.now() - last < 1_000) {
                refused += 1;
                throw new Error('put: Reduce your concurrent request rate for the same object. (10058)');
              }
              writes.set(key, Date.now());
              return bucket.put(key, value, options);
            },
    });
    const clients = [1, 2].map(() => new R2Storage(limited, { name: 'limited' }));
    const fs = await Promise.all(clients.map(opened));
    await fs[0]?.writeFile('/log', '');
    await Promise.all(fs.map((client) => client.appendFile('/log', 'x')));
    return { refused: refused > 0, text: await fs[0]?.readText('/log') };
  },
};
