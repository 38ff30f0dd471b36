import { StorageError } from '@scratchfs/core';

export type Parameter = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;

/** A connection or pool of `pg`, or a database of `@electric-sql/pglite`. */
export interface PostgresQueryable {
  query(text: string, parameters?: never[]): Promise<{ readonly rows: unknown[] }>;
}

/** A pool of `pg`. */
export interface PostgresPool extends PostgresQueryable {
  connect(): Promise<ListenClient & { release(destroy?: boolean): void }>;
}

/** A connection of `pg` that can listen for notifications. */
export interface ListenClient extends PostgresQueryable {
  on(event: string, listener: (...what: never[]) => void): unknown;
  removeListener(event: string, listener: (...what: never[]) => void): unknown;
}

/** The `sql` function of the package `postgres`. */
export interface TaggedSql {
  unsafe(text: string, parameters?: never[]): PromiseLike<readonly unknown[]>;
  listen(
    channel: string,
    listener: (payload: string) => void,
    onListen: () => void,
  ): Promise<{ unlisten(): Promise<unknown> }>;
}

export type PostgresClient = PostgresQueryable | PostgresPool | TaggedSql;

/**
 * Calls `notified` with the payload of each notification of a channel, and with undefined if some may have been missed.
 * The promise resolves, once the client listens, to a function that stops listening. `ended` is called if the
 * connection is lost and the client does not reconnect by itself.
 */
type Listen = (
  channel: string,
  notified: (payload: string | undefined) => void,
  ended: () => void,
) => Promise<() => void>;

/** The functions that the store needs, the same for every client. */
export interface Connection {
  query(text: string, parameters: readonly Parameter[]): Promise<readonly Row[]>;
  /** Undefined if the client cannot listen. */
  readonly listen: Listen | undefined;
  close(): Promise<void>;
}

/** Returns the connection through a client, which stays open. @throws TypeError if it is none of the known clients */
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
  // Of the known clients, only pglite has both `listen` and `query`.
  if (has('listen')) return { query, listen: listenByCallback(client as PgliteListen), close };
  // A connection of `pg` has `connect` too, but only a pool has `totalCount`, and gives a connection.
  if (has('connect') && 'totalCount' in (client as object)) {
    const pool = client as PostgresPool & { readonly options?: { readonly max?: number } };
    // A pool of one connection must keep it for statements.
    return { query, listen: pool.options?.max === 1 ? undefined : shared(pool, listenOnPool(pool)), close };
  }
  const listen = has('on') ? shared(client as object, listenOnClient(client as ListenClient)) : undefined;
  return { query, listen, close };
}

function taggedConnection(sql: TaggedSql): Connection {
  return {
    query: async (text, parameters) => (await sql.unsafe(text, parameters as never[])) as readonly Row[],
    // This client reconnects by itself, and calls the third function each time it listens.
    listen: async (channel, notified) => {
      const { unlisten } = await sql.listen(channel, notified, () => notified(undefined));
      return () => void unlisten().catch(() => undefined);
    },
    close: async () => undefined,
  };
}

interface PgliteListen {
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
}

function listenByCallback(client: PgliteListen): Listen {
  return async (channel, notified) => {
    const unlisten = await client.listen(channel, notified);
    return () => void unlisten().catch(() => undefined);
  };
}

interface Listener {
  readonly notified: (payload: string | undefined) => void;
  readonly ended: () => void;
}

interface Listening {
  readonly listeners: Set<Listener>;
  readonly stop: Promise<() => void>;
}

const listenings = new WeakMap<object, Listening>();

/** Shares one listening connection among all storages on a client, so that they take only one from a pool. */
function shared(client: object, listen: Listen): Listen {
  const start = (channel: string): Listening => {
    const listeners = new Set<Listener>();
    const notified = (payload: string | undefined): void => {
      for (const listener of [...listeners]) listener.notified(payload);
    };
    const ended = (): void => {
      listenings.delete(client);
      for (const listener of [...listeners]) listener.ended();
    };
    return { listeners, stop: listen(channel, notified, ended) };
  };
  return async (channel, notified, ended) => {
    const listening = listenings.get(client) ?? start(channel);
    listenings.set(client, listening);
    const listener = { notified, ended };
    listening.listeners.add(listener);
    const leave = (): boolean => {
      listening.listeners.delete(listener);
      const isLast = listening.listeners.size === 0 && listenings.get(client) === listening;
      return isLast && listenings.delete(client);
    };
    try {
      const stop = await listening.stop;
      return () => {
        if (leave()) stop();
      };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function listenOnPool(pool: PostgresPool): Listen {
  return async (channel, notified, ended) => {
    const client = await pool.connect();
    // This listener stays after `listen` has ended: an error event without a listener would end the process.
    client.on('error', ignore);
    // The connection still listens or is lost, so it is destroyed instead of going back to the pool.
    return listenOn(client, channel, notified, ended, () => client.release(true));
  };
}

function listenOnClient(client: ListenClient): Listen {
  return async (channel, notified, ended) => {
    client.on('error', ignore);
    return listenOn(client, channel, notified, ended, () => client.removeListener('error', ignore));
  };
}

const ignore = (): void => undefined;

/** @param stopped called once, when listening has ended */
async function listenOn(
  client: ListenClient,
  channel: string,
  notified: (payload: string) => void,
  ended: () => void,
  stopped: () => void,
): Promise<() => void> {
  let isStopped = false;
  const onNotification = ((message: { channel: string; payload?: string }): void => {
    if (message.channel === channel) notified(message.payload ?? '');
  }) as (...what: never[]) => void;
  const onEnd = (): void => {
    stop();
    ended();
  };
  const stop = (): void => {
    if (isStopped) return;
    isStopped = true;
    client.removeListener('notification', onNotification);
    client.removeListener('end', onEnd);
    stopped();
  };
  client.on('notification', onNotification);
  client.on('end', onEnd);
  try {
    await client.query(`LISTEN ${channel}`);
  } catch (error) {
    stop();
    throw error;
  }
  return stop;
}

/**
 * Opens a pool of `pg` for a URL.
 * @throws StorageError `unsupported` if `pg` is not installed
 */
export async function openPool(url: string): Promise<Connection> {
  let pg: { readonly Pool: new (options: object) => PostgresPool & { end(): Promise<void>; on: ListenClient['on'] } };
  // A variable, so that bundlers do not look for the package.
  const module = 'pg';
  try {
    const loaded = await import(/* @vite-ignore */ /* webpackIgnore: true */ module);
    pg = loaded.default ?? loaded;
  } catch (error) {
    throw new StorageError('unsupported', 'A storage at postgres:// needs a package: npm install pg', { cause: error });
  }
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // If the server ends an idle connection, the next query opens another one.
  pool.on('error', () => undefined);
  return { ...connectionOf(pool), close: () => pool.end() };
}
