import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '@scratchfs/core';
import { Cluster, Redis } from 'ioredis';
import { decodingError } from '../format/reply/corrupt.js';
import type { Reply } from '../format/reply/replies.js';
import type { Script } from '../lua/scripts.js';
import { toStorageError, withMayHaveHappened } from './errors.js';
import { type Argument, ScriptCommand } from './script-command.js';

/** The members of an ioredis client (version 5 or 6, `Redis` or `Cluster`) that this package uses. */
export interface RedisClient {
  readonly isCluster: boolean;
  readonly options: object;
  duplicate(...args: never[]): unknown;
}

type OwnClient = Redis | Cluster;

/** A script that runs when a connection is closed. */
interface LastScript {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
}

/** Attempts to connect after which requests that lost their connection fail. */
const MAX_CONNECT_ATTEMPTS = 8;
const MAX_RECONNECT_MS = 1_000;
/** Maximum time that requests wait for a connection before the server counts as unreachable. */
const CONNECT_TIMEOUT_MS = 2_500;

/** Maximum time that closing waits for its last script. */
const MAX_LAST_SCRIPT_MS = 1_000;

const reconnectDelayMs = (attempt: number): number => Math.min(25 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_MS);

/** Reconnects and sends the request again after READONLY, which a former master replies after a failover. */
const reconnectOnError = (error: Error): false | 2 => (error.message.startsWith('READONLY') ? 2 : false);

/**
 * Options that override those of the user's client. Resending is safe: the server applies each numbered operation only
 * once, and other requests may be repeated.
 */
const OWN_OPTIONS = {
  lazyConnect: true,
  keyPrefix: '',
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  autoResubscribe: true,
  maxRetriesPerRequest: MAX_CONNECT_ATTEMPTS,
  disconnectTimeout: 200,
  enableAutoPipelining: false,
  readOnly: false,
  stringNumbers: false,
  retryStrategy: reconnectDelayMs,
  reconnectOnError,
} as const;

const { enableOfflineQueue: _, retryStrategy: __, readOnly: ___, ...OWN_NODE_OPTIONS } = OWN_OPTIONS;

/** Links by the user's client that they were made for. */
const sharedLinks = new WeakMap<RedisClient, ServerLink>();

/**
 * A connection to the servers of the user's client or URL, with the same credentials and options of our own.
 * Connections of several filesystems may share a link; the last of them closes it.
 */
export class ServerLink {
  readonly client: OwnClient;
  /**
   * True if the client comes from the copy of ioredis that this package imports. Another copy rejects our
   * `ScriptCommand`.
   */
  readonly isOwnCopy: boolean;
  /** Number of times that the connection was established. Server state may differ after each. */
  generation = 0;
  readonly #target: RedisClient | string;
  #userCount = 0;
  /** The attempt to connect that all waiting requests share. */
  #opening: Promise<void> | undefined;
  /** Time at which each node last connected, also of a node that has lost its connection since. */
  readonly #connectedAt = new WeakMap<Redis, number>();

  /** @param onReady called whenever the connection has been established, the first time included */
  constructor(target: RedisClient | string, onReady: () => void = () => {}) {
    this.#target = target;
    this.client = typeof target === 'string' ? new Redis(target, OWN_OPTIONS) : duplicateOf(target);
    this.isOwnCopy = this.client instanceof Redis || this.client instanceof Cluster;
    // Requests report failures; without a listener ioredis would print them.
    this.client.on('error', () => {});
    this.client.on('ready', () => {
      this.generation += 1;
      onReady();
    });
    if (isCluster(this.client)) this.client.on('+node', (node: Redis) => this.#trackConnects(node));
    else this.#trackConnects(this.client);
  }

  /** Returns the link that all filesystems of a client share. A URL has a link of its own for each filesystem. */
  static of(target: RedisClient | string): ServerLink {
    const known = typeof target === 'string' ? undefined : sharedLinks.get(target);
    const link = known ?? new ServerLink(target);
    if (typeof target !== 'string') sharedLinks.set(target, link);
    return link;
  }

  retain(): void {
    this.#userCount += 1;
  }

  release(): void {
    this.#userCount -= 1;
    if (this.#userCount > 0) return;
    this.client.disconnect();
    if (typeof this.#target !== 'string' && sharedLinks.get(this.#target) === this) sharedLinks.delete(this.#target);
  }

  #trackConnects(node: Redis): void {
    node.on('connect', () => this.#connectedAt.set(node, performance.now()));
  }

  /**
   * Reconnects nodes (of a cluster, only masters) after the server did not respond: a TCP connection may be dead
   * without either side noticing. Requests in flight are sent again over the new connection. Nodes that are not
   * connected, or connected less than `minAgeMs` (or 2.5 seconds, if that is less) ago, are left alone.
   */
  replaceSilentNodes(minAgeMs: number): void {
    const { client } = this;
    if (client.status === 'end') return;
    for (const node of isCluster(client) ? client.nodes('master') : [client]) {
      const age = performance.now() - (this.#connectedAt.get(node) ?? Number.POSITIVE_INFINITY);
      const isConnected = node.status === 'ready' || node.status === 'connect';
      if (isConnected && age >= Math.min(minAgeMs, CONNECT_TIMEOUT_MS) - 1) node.disconnect(true);
    }
  }

  /**
   * Resolves when the connection is ready; undefined if it is. Requests are not handed to ioredis earlier, so that a
   * request that fails before then has certainly not been applied.
   */
  whenReady(): Promise<void> | undefined {
    if (this.client.status === 'ready') return undefined;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  #open(): Promise<void> {
    const { client } = this;
    if (client.status === 'wait') client.connect().catch(() => {});
    return new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        client.off('ready', done);
        client.off('end', ended);
        client.off('error', failed);
      };
      const done = (): void => {
        stop();
        resolve();
      };
      const ended = (): void => {
        stop();
        reject(new NotConnectedError());
      };
      // Credentials or options that the server refuses will be refused again.
      const failed = (error: Error): void => {
        const known = toStorageError(error);
        if (known.retryable) return;
        stop();
        reject(known);
      };
      const timer = setTimeout(() => {
        this.replaceSilentNodes(CONNECT_TIMEOUT_MS);
        ended();
      }, CONNECT_TIMEOUT_MS);
      client.on('error', failed);
      client.on('ready', done);
      client.on('end', ended);
    });
  }
}

/** A position in a stream. */
export interface StreamPosition {
  readonly key: string;
  /** Number of the entry after which reading starts. */
  readonly after: number;
}

/** Sends requests over a link, each with a timeout. */
export class Connection {
  readonly #link: ServerLink;
  readonly #timeoutMs: number;
  /** Functions that reject the requests in flight, and those that wait for the link. */
  readonly #inFlight = new Set<() => void>();
  #closed = false;

  constructor(link: ServerLink, timeoutMs: number) {
    this.#link = link;
    this.#timeoutMs = timeoutMs;
    link.retain();
  }

  get generation(): number {
    return this.#link.generation;
  }

  /**
   * Resolves when the connection is ready; undefined if it is. Rejects if the connection is closed, or the server
   * cannot be reached.
   */
  whenReady(): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(closedError());
    const ready = this.#link.whenReady();
    if (ready === undefined) return undefined;
    return new Promise((resolve, reject) => {
      const close = (): void => reject(closedError());
      this.#inFlight.add(close);
      // The link may be shared: then it goes on connecting when this connection is closed.
      ready.finally(() => this.#inFlight.delete(close)).then(resolve, reject);
    });
  }

  /**
   * Runs a script by its SHA-1.
   * @throws StorageError `unavailable`, `timeout`, `closed`, `lost`, `corrupt`; the server's own NOSCRIPT error
   */
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply | Buffer> {
    return this.#bounded((client) =>
      this.#link.isOwnCopy
        ? (client.sendCommand(new ScriptCommand(script, keys, args)) as Promise<Reply | Buffer>)
        : (client.callBuffer('evalsha', script.sha, keys.length, ...keys, ...args) as Promise<Reply | Buffer>),
    );
  }

  /** Runs a script by its source, which the server then caches. */
  runSource(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply | Buffer> {
    return this.#bounded(
      (client) => client.callBuffer('eval', script.text, keys.length, ...keys, ...args),
      true,
    ) as Promise<Reply | Buffer>;
  }

  /**
   * Sends a command to the server that holds a key. In a cluster that is the master of its slot, or any master if that
   * is not known.
   */
  callOwner(key: string, command: string, ...args: string[]): Promise<unknown> {
    return this.#bounded(async (client) => {
      if (!isCluster(client)) return client.call(command, ...args);
      const slot = await client.cluster('KEYSLOT', key);
      const owner = ownerOf(client, Number(slot));
      return owner.call(command, ...args);
    });
  }

  /**
   * Reads the entries of streams after given ones, up to 100 of each. If there are none, waits up to `blockMs`
   * milliseconds for them. Without `blockMs` it does not wait.
   */
  async readStreams(
    streams: readonly StreamPosition[],
    blockMs?: number,
  ): Promise<ReadonlyMap<string, readonly RawEntry[]>> {
    const keys = streams.map(({ key }) => key);
    const ids = streams.map(({ after }) => `${after}-1`);
    const block = blockMs === undefined ? [] : ['BLOCK', blockMs];
    const reply = (await this.#bounded((client) =>
      client.callBuffer('xread', 'COUNT', 100, ...block, 'STREAMS', ...keys, ...ids),
    )) as readonly (readonly [Buffer, readonly (readonly [Buffer, readonly Buffer[]])[]])[] | null;
    try {
      return new Map(
        (reply ?? []).map(([key, entries]) => [
          key.toString('utf8'),
          entries.map(([id, fields]) => ({ id: id.toString('latin1'), text: Buffer.from(fields[1] ?? '') })),
        ]),
      );
    } catch (error) {
      throw decodingError(error);
    }
  }

  /**
   * Closes the connection. If it is up, `last` runs first: it is waited for up to a second, and its failure is ignored.
   * Requests that are then still in flight reject.
   */
  async close(last?: LastScript): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { client } = this.#link;
    if (last !== undefined && client.status === 'ready') {
      const { script, keys, args } = last;
      const done = client.callBuffer('eval', script.text, keys.length, ...keys, ...args).catch(() => {});
      await Promise.race([done, sleep(MAX_LAST_SCRIPT_MS, undefined, { ref: false })]);
    }
    for (const end of [...this.#inFlight]) end();
    this.#link.release();
  }

  /**
   * Sends a request once the connection is ready, with a timeout. An error says whether the request may have been sent.
   */
  #bounded<T>(send: (client: OwnClient) => Promise<T>, isSource = false): Promise<T> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        this.#inFlight.delete(close);
      };
      const fail = (error: unknown): void => {
        end();
        reject(isMissingScript(error) && !isSource ? error : toStorageError(error));
      };
      let isSent = false;
      const close = (): void => {
        const message = 'The storage was closed before the server had replied';
        fail(new StorageError('closed', message, { mayHaveHappened: isSent }));
      };
      this.#inFlight.add(close);
      const timer = setTimeout(() => {
        this.#link.replaceSilentNodes(this.#timeoutMs);
        const message = `The Redis server did not respond within ${this.#timeoutMs} ms`;
        fail(new StorageError('timeout', message, { mayHaveHappened: isSent }));
      }, this.#timeoutMs);
      const begin = (): void => {
        if (isOver) return;
        isSent = true;
        try {
          send(this.#link.client).then((reply) => {
            end();
            resolve(reply);
          }, fail);
        } catch (error) {
          fail(error);
        }
      };
      const ready = this.#link.whenReady();
      if (ready === undefined) begin();
      else ready.then(begin, (error: unknown) => fail(withMayHaveHappened(error, false)));
    });
  }
}

/** An entry of a stream: its id, and the value of its first field, not decoded yet. */
export interface RawEntry {
  readonly id: string;
  readonly text: Buffer;
}

/** Thrown if the server was not reached, so that the request was not sent. */
export class NotConnectedError extends StorageError {
  constructor() {
    super('unavailable', 'The Redis server cannot be reached; connecting goes on', { mayHaveHappened: false });
  }
}

function closedError(): StorageError {
  return new StorageError('closed', 'The storage is closed');
}

export function isMissingScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function duplicateOf(client: RedisClient): OwnClient {
  const own = client as unknown as OwnClient;
  if (!isCluster(own)) return own.duplicate({ ...OWN_OPTIONS });
  const options = {
    lazyConnect: true,
    keyPrefix: '',
    enableOfflineQueue: true,
    scaleReads: 'master',
    enableAutoPipelining: false,
    clusterRetryStrategy: reconnectDelayMs,
    redisOptions: { ...own.options.redisOptions, ...OWN_NODE_OPTIONS },
  };
  return own.duplicate([], options as Parameters<Cluster['duplicate']>[1]);
}

function isCluster(client: OwnClient): client is Cluster {
  return client.isCluster === true;
}

function ownerOf(cluster: Cluster, slot: number): Redis {
  const key = (cluster as unknown as { slots: string[][] }).slots[slot]?.[0];
  const node = cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === key);
  const any = node ?? cluster.nodes('master')[0];
  if (any === undefined) throw new NotConnectedError();
  return any;
}

/**
 * Returns the prefix that the user's client puts before keys. Our connections have none, so the keys include it.
 * @throws TypeError for anything but a client or a URL
 */
export function prefixOf(target: RedisClient | string): string {
  if (typeof target === 'string') return '';
  const { options, duplicate } = (target ?? {}) as Partial<RedisClient>;
  if (typeof duplicate !== 'function' || typeof options !== 'object' || options === null)
    throw new TypeError('A RedisStorage needs a client of ioredis (5 or 6) or a redis:// URL');
  return (options as { readonly keyPrefix?: string }).keyPrefix ?? '';
}
