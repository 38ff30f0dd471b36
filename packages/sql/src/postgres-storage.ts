import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { parseOptions, type SqlStorageOptions, takeName } from './options.js';
import { type Connection, connectionOf, openPool, type PostgresClient } from './postgres-client.js';
import { PostgresObjectStore } from './postgres-object-store.js';

/**
 * A filesystem in a PostgreSQL database that several processes share. Give it a pool or connection of `pg`, the `sql`
 * function of `postgres`, a database of `@electric-sql/pglite`, or a URL: `postgres://user@host/database?name=main`,
 * for which it opens a pool of `pg` at the first call. Missing tables are created, unless `create` is false. A given
 * client stays open.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class PostgresStorage extends ObjectTreeStorage {
  constructor(client: PostgresClient | string | URL, options: SqlStorageOptions = {}) {
    const { open, name: nameInUrl } = parseClient(client);
    const { name, tree } = parseOptions('PostgresStorage', options, nameInUrl);
    super(new PostgresObjectStore(open, name, tree.create !== false), tree);
  }

  /** Returns the names of the filesystems in a database, sorted. Creates no tables. @throws StorageError */
  static async list(client: PostgresClient | string | URL): Promise<string[]> {
    const store = new PostgresObjectStore(parseClient(client).open, 'default');
    try {
      return await store.names();
    } finally {
      await store.close();
    }
  }
}

function parseClient(client: unknown): {
  readonly open: () => Promise<Connection>;
  readonly name?: string | undefined;
} {
  if (typeof client !== 'string' && !(client instanceof URL)) {
    const connection = connectionOf(client);
    return { open: async () => connection };
  }
  const { url, name } = takeName(String(client));
  if (!/^postgres(ql)?:\/\/./i.test(url))
    throw new TypeError('The URL of a PostgresStorage must look like postgres://user@host/database?name=main');
  checkAddress(url);
  return { open: () => openPool(url), name };
}

/** @throws TypeError if `pg` could not parse the URL; the message does not contain it, because of the password */
function checkAddress(url: string): void {
  try {
    // `pg` takes a user without a host: `postgres://user@/database`.
    const { username, password, pathname, hostname } = new URL(url.replace('@/', '@host/'));
    for (const part of [username, password, pathname, hostname]) decodeURIComponent(part);
  } catch {
    throw new TypeError(
      'The URL of a PostgresStorage is not valid. It must look like postgres://user:password@host:5432/database, with special characters encoded: "%" is %25, "@" is %40',
    );
  }
}
