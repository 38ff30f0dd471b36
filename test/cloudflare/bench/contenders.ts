import { DurableObjectStorage, type R2BucketBinding, R2Storage, type SqlObjectState } from '@scratchfs/cloudflare';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { createStorage } from 'unstorage';
import r2Driver from 'unstorage/drivers/cloudflare-r2-binding';

/** Keeps texts under paths such as `/folder/name`. */
export interface Contender {
  writeMany(files: readonly (readonly [path: string, text: string])[]): Promise<unknown>;
  write(path: string, text: string): Promise<unknown>;
  read(path: string): Promise<unknown>;
  stat(path: string): Promise<unknown>;
  list(folder: string): Promise<unknown>;
  rename(from: string, to: string): Promise<unknown>;
  checkpoint?(): Promise<unknown>;
}

function overFileSystem(fs: FileSystem): Contender {
  return {
    writeMany: (files) =>
      fs.transaction(async (tx) => {
        for (const [path, text] of files) {
          await tx.mkdir(path.slice(0, path.lastIndexOf('/')), { recursive: true });
          await tx.writeFile(path, text);
        }
      }),
    write: (path, text) => fs.writeFile(path, text),
    read: (path) => fs.readText(path),
    stat: (path) => fs.stat(path),
    list: (folder) => fs.readdir(folder),
    rename: (from, to) => fs.rename(from, to),
    checkpoint: () => fs.checkpoint(),
  };
}

/** One object for each file. */
function overBucket(bucket: R2BucketBinding): Contender {
  const key = (path: string): string => `raw${path}`;
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const list = async (folder: string): Promise<string[]> =>
    (await bucket.list({ prefix: `${key(folder)}/` })).objects.map((object) => object.key);
  return {
    writeMany: (files) => Promise.all(files.map(([path, text]) => bucket.put(key(path), bytes(text)))),
    write: (path, text) => bucket.put(key(path), bytes(text)),
    read: async (path) => (await bucket.get(key(path)))?.arrayBuffer?.(),
    stat: (path) => bucket.head(key(path)),
    list,
    rename: async (from, to) => {
      const keys = await list(from);
      for (const old of keys) {
        const found = await bucket.get(old);
        const content = new Uint8Array((await found?.arrayBuffer?.()) ?? new ArrayBuffer(0));
        await bucket.put(`${key(to)}${old.slice(key(from).length)}`, content);
      }
      await bucket.delete(keys);
    },
  };
}

function overUnstorage(bucket: R2BucketBinding): Contender {
  const storage = createStorage({ driver: r2Driver({ binding: bucket as never, base: 'un' }) });
  const key = (path: string): string => path.slice(1).replaceAll('/', ':');
  return {
    writeMany: (files) => storage.setItems(files.map(([path, value]) => ({ key: key(path), value }))),
    write: (path, text) => storage.setItem(key(path), text),
    read: (path) => storage.getItem(key(path)),
    stat: async (path) => storage.getMeta(key(path)),
    list: (folder) => storage.getKeys(key(folder)),
    rename: async (from, to) => {
      for (const old of await storage.getKeys(key(from))) {
        await storage.setItem(`${key(to)}${old.slice(key(from).length)}`, (await storage.getItem(old)) as string);
        await storage.removeItem(old);
      }
    },
  };
}

/** One row for each file. */
function overTable({ sql, transactionSync }: SqlObjectState, state: SqlObjectState): Contender {
  sql.exec('CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, bytes BLOB) WITHOUT ROWID');
  const put = (path: string, text: string): unknown =>
    sql.exec('INSERT OR REPLACE INTO files VALUES (?, ?)', path, new TextEncoder().encode(text)).toArray();
  const within = [' path >= ? AND path < ?', (folder: string) => [`${folder}/`, `${folder}0`]] as const;
  return {
    writeMany: async (files) =>
      transactionSync.call(state, () => {
        for (const [path, text] of files) put(path, text);
      }),
    write: async (path, text) => put(path, text),
    read: async (path) => sql.exec('SELECT bytes FROM files WHERE path = ?', path).toArray(),
    stat: async (path) => sql.exec('SELECT length(bytes) FROM files WHERE path = ?', path).toArray(),
    list: async (folder) => sql.exec(`SELECT path FROM files WHERE ${within[0]}`, ...within[1](folder)).toArray(),
    rename: async (from, to) =>
      sql
        .exec(
          `UPDATE files SET path = ? || substr(path, ?) WHERE ${within[0]}`,
          to,
          from.length + 1,
          ...within[1](from),
        )
        .toArray(),
  };
}

/** The contenders of a place, by name. */
export async function contenders(bucket: R2BucketBinding, state: SqlObjectState | undefined) {
  const all: Record<string, Contender> = {};
  if (state === undefined) {
    all['R2Storage'] = overFileSystem(await createFileSystem({ storage: new R2Storage(bucket) }));
    all['one object per file'] = overBucket(bucket);
    all["unstorage's driver"] = overUnstorage(bucket);
  } else {
    all['DurableObjectStorage'] = overFileSystem(await createFileSystem({ storage: new DurableObjectStorage(state) }));
    all['one row per file'] = overTable(state, state);
  }
  return all;
}
