import { StorageError } from '@scratchfs/core';

export type Parameter = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;

/** A connection, pool or database of `pg`, or a database of `@electric-sql/pglite`. */
export interface PostgresQueryable {
  query(text: string, parameters?: never[]): Promise<{ readonly rows: unknown[] }>;
}

/** A pool of `pg`. */
export interface PostgresPool extends PostgresQueryable {
  connect(): Promise<ListenClient>;
}

/** A connection of `pg` that can listen for notifications. */
export interface ListenClient extends PostgresQueryable {
  on(event: string, listener: (...what: never[]) => void): unknown;
  removeListener(event: string, listener: (...what: never[]) => void): unknown;
  release?(destroy?: boolean): void;
}

/** The function of `postgres`. */
export interface TaggedSql {
  unsafe(text: string, parameters?: never[]): PromiseLike<readonly unknown[]>;
  listen(channel: string, listener: (payload: string) => void): Promise<{ unlisten(): Promise<unknown> }>;
}

export type PostgresClient = PostgresQueryable | PostgresPool | TaggedSql;

/** What the store needs of a client. */
export interface Connection {
  query(text: string, parameters: readonly Parameter[]): Promise<readonly Row[]>;
  /**
   * Calls `notified` for each notification of a channel. The promise resolves when it listens, to a function that ends it; `ended` is called if
   * the connection is lost. Undefined if the client cannot listen.
   */
  readonly listen:
    | ((channel: string, notified: (payload: string) => void, ended: () => void) => Promise<() => void>)
    | undefined;
  close(): Promise<void>;
}

/** @throws TypeError if it is none of the known clients */
export function connectionOf(client: unknown): Connection {
  const has = (name: string): boolean =>
    (typeof client === 'object' || typeof client === 'function') &&
    client !== null &&
    typeof (client as Record<string, unknown>)[name] === 'function';
  if (has('unsafe')) return taggedConnection(client as TaggedSql);
  if (!has('query'))
    throw new TypeError(
      'A PostgresStorage needs a client of pg, postgres or @electric-sql/pglite, or a URL such as postgres://host/database',
    );
  const queryable = client as PostgresQueryable;
  const query: Connection['query'] = async (text, parameters) =>
    (await queryable.query(text, parameters as never[])).rows as Row[];
  const close = async (): Promise<void> => undefined;
  // pglite has both `listen` and `query`.
  if (has('listen')) return { query, listen: listenByCallback(client as PgliteListen), close };
  // Other clients of `pg` have `connect` too, but it returns no connection of its own.
  if (has('connect') && 'totalCount' in (client as object))
    return { query, listen: listenOnPool(client as PostgresPool), close };
  return { query, listen: has('on') ? listenOnClient(client as ListenClient) : undefined, close };
}

function taggedConnection(sql: TaggedSql): Connection {
  return {
    query: async (text, parameters) => (await sql.unsafe(text, parameters as never[])) as readonly Row[],
    // It connects again by itself.
    listen: async (channel, notified) => {
      const { unlisten } = await sql.listen(channel, notified);
      return () => void unlisten().catch(() => undefined);
    },
    close: async () => undefined,
  };
}

interface PgliteListen {
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
}

function listenByCallback(client: PgliteListen): NonNullable<Connection['listen']> {
  return async (channel, notified) => {
    const unlisten = await client.listen(channel, notified);
    return () => void unlisten().catch(() => undefined);
  };
}

function listenOnPool(pool: PostgresPool): NonNullable<Connection['listen']> {
  return async (channel, notified, ended) => {
    const client = await pool.connect();
    const stop = await listenOnClient(client)(channel, notified, ended);
    return () => {
      stop();
      // A connection that listens does not go back to the pool.
      client.release?.(true);
    };
  };
}

function listenOnClient(client: ListenClient): NonNullable<Connection['listen']> {
  return async (channel, notified, ended) => {
    const onNotification = ((message: { channel: string; payload?: string }): void => {
      if (message.channel === channel) notified(message.payload ?? '');
    }) as (...what: never[]) => void;
    const onEnd = (): void => ended();
    const stop = (): void => {
      client.removeListener('notification', onNotification);
      client.removeListener('end', onEnd);
    };
    client.on('notification', onNotification);
    client.on('end', onEnd);
    // Without a listener, a lost connection would end the process.
    client.on('error', () => undefined);
    try {
      await client.query(`LISTEN ${channel}`);
    } catch (error) {
      stop();
      client.release?.(true);
      throw error;
    }
    return stop;
  };
}

/**
 * Opens a pool of `pg` for a URL.
 * @throws StorageError `unsupported` if `pg` is not installed
 */
export async function openPool(url: string): Promise<Connection> {
  let pg: { readonly Pool: new (options: object) => PostgresPool & { end(): Promise<void>; on: ListenClient['on'] } };
  // A variable, so that bundlers leave it alone.
  const module = 'pg';
  try {
    const loaded = await import(/* @vite-ignore */ /* webpackIgnore: true */ module);
    pg = loaded.default ?? loaded;
  } catch (error) {
    throw new StorageError('unsupported', 'A storage at postgres:// needs a package: npm install pg', { cause: error });
  }
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // An idle connection that the server ends is replaced at the next query.
  pool.on('error', () => undefined);
  return { ...connectionOf(pool), close: () => pool.end() };
}
