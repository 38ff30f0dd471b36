import { StorageError } from '@scratchfs/core';
import { Cluster, Redis } from 'ioredis';
import type { Answer } from '../format/reply/replies.js';
import type { Script } from '../lua/scripts.js';
import { toStorageError } from './errors.js';
import { ScriptCommand } from './script-command.js';

/** A client of ioredis, version 5 or 6: a `Redis`, or a `Cluster`. Only what is used of it is asked for. */
export interface RedisClient {
  readonly isCluster: boolean;
  readonly options: object;
  duplicate(...args: never[]): unknown;
}

type OwnClient = Redis | Cluster;

/** Requests that lost their connection are sent again after so many attempts to connect, not for ever. */
const MAX_RESENDS = 8;
const MAX_RECONNECT_MS = 1_000;
/** How long a request waits for a connection before the server counts as unreachable. */
const PATIENCE_MS = 2_500;

const reconnect = (attempt: number): number => Math.min(25 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_MS);

/** After a failover the old server answers so: the request goes again, to the new one. */
const reconnectOnError = (error: Error): false | 2 => (error.message.startsWith('READONLY') ? 2 : false);

/** What is ours whatever the user's client does. Sending again is safe: every change carries an operation id. */
const OWN_OPTIONS = {
  lazyConnect: true,
  keyPrefix: '',
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  autoResubscribe: true,
  maxRetriesPerRequest: MAX_RESENDS,
  disconnectTimeout: 200,
  enableAutoPipelining: false,
  readOnly: false,
  stringNumbers: false,
  retryStrategy: reconnect,
  reconnectOnError,
} as const;

const { enableOfflineQueue: _, retryStrategy: __, readOnly: ___, ...OWN_NODE_OPTIONS } = OWN_OPTIONS;

export type Argument = string | number | Buffer;

/** A connection of our own beside the user's: same servers, same credentials, other habits. */
export class Connection {
  readonly #client: OwnClient;
  /** Of the copy of ioredis that is used here: another one, which the user may have, has commands of its own. */
  readonly #isOurs: boolean;
  readonly #timeoutMs: number;
  /** How often the connection has been made: what was true of the server may not be after that. */
  #generation = 0;
  #inFlight = 0;
  /** Told when nothing is in flight any more. */
  #idle: (() => void) | undefined;
  #closed = false;
  /** Whoever needs a connection waits for the same one. */
  #opening: Promise<void> | undefined;
  /** When a connection was made, whatever has become of it since. */
  readonly #since = new WeakMap<Redis, number>();

  constructor(
    target: RedisClient | string,
    timeoutMs: number,
    /** Told each time that a connection was made. */
    onReady: () => void = () => {},
  ) {
    this.#client = typeof target === 'string' ? new Redis(target, OWN_OPTIONS) : duplicateOf(target);
    this.#isOurs = this.#client instanceof Redis || this.#client instanceof Cluster;
    this.#timeoutMs = timeoutMs;
    // Failures are told to whoever waits for an answer.
    this.#client.on('error', () => {});
    this.#client.on('ready', () => {
      this.#generation += 1;
      onReady();
    });
    if (isCluster(this.#client)) this.#client.on('+node', (node: Redis) => this.#watch(node));
    else this.#watch(this.#client);
  }

  #watch(node: Redis): void {
    node.on('connect', () => this.#since.set(node, performance.now()));
  }

  get generation(): number {
    return this.#generation;
  }

  /**
   * Runs a script that the server keeps.
   * @throws StorageError `unavailable`, `timeout`, `closed`, `lost`, `corrupt`; the server's NOSCRIPT as it is
   */
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Answer | Buffer> {
    return this.#bounded((client) =>
      this.#isOurs
        ? (client.sendCommand(new ScriptCommand(script, keys, args)) as Promise<Answer | Buffer>)
        : (client.callBuffer('evalsha', script.sha, keys.length, ...keys, ...args) as Promise<Answer | Buffer>),
    );
  }

  /** Sends a script's text, which the server keeps from then on. */
  runText(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Answer | Buffer> {
    return this.#bounded(
      (client) => client.callBuffer('eval', script.text, keys.length, ...keys, ...args),
      true,
    ) as Promise<Answer | Buffer>;
  }

  /** A command about the server that holds a key: of a cluster, its master. */
  ask(key: string, command: string, ...args: string[]): Promise<unknown> {
    return this.#bounded(async (client) => {
      if (!isCluster(client)) return client.call(command, ...args);
      const slot = await client.cluster('KEYSLOT', key);
      const owner = ownerOf(client, Number(slot));
      return owner.call(command, ...args);
    });
  }

  /** Entries of a stream after one; where there are none, those that come within so many milliseconds. */
  async news(
    key: string,
    after: string,
    holdMs: number,
  ): Promise<readonly { readonly entry: number; readonly text: Buffer }[]> {
    const answer = (await this.#bounded((client) =>
      client.callBuffer('xread', 'COUNT', 100, 'BLOCK', holdMs, 'STREAMS', key, after),
    )) as readonly (readonly [Buffer, readonly (readonly [Buffer, readonly Buffer[]])[]])[] | null;
    return (answer?.[0]?.[1] ?? []).map(([id, fields]) => ({
      entry: Number.parseInt(id.toString('latin1'), 10),
      text: fields[1] ?? Buffer.alloc(0),
    }));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#client.disconnect();
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #bounded<T>(send: (client: OwnClient) => Promise<T>, isText = false): Promise<T> {
    if (this.#closed) return Promise.reject(new StorageError('closed', 'The storage is closed'));
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        this.#inFlight -= 1;
        if (this.#inFlight === 0) this.#idle?.();
      };
      const fail = (error: unknown): void => {
        end();
        if (this.#closed) reject(new StorageError('closed', 'The storage was closed before the server had answered'));
        else reject(isMissingScript(error) && !isText ? error : toStorageError(error));
      };
      this.#inFlight += 1;
      const timer = setTimeout(() => {
        this.#replace();
        fail(new StorageError('timeout', `The Redis server did not answer within ${this.#timeoutMs} ms`));
      }, this.#timeoutMs);
      const begin = (): void => {
        if (isOver) return;
        try {
          send(this.#client).then((answer) => {
            end();
            resolve(answer);
          }, fail);
        } catch (error) {
          fail(error);
        }
      };
      const opening = this.opened();
      if (opening === undefined) begin();
      else opening.then(begin, fail);
    });
  }

  /**
   * A connection that has fallen silent, in its handshake or later, may be dead without knowing: what is under way goes
   * over a new one. One that was made only a moment ago is none of those.
   */
  #replace(): void {
    if (this.#closed) return;
    const client = this.#client;
    for (const node of isCluster(client) ? client.nodes('master') : [client]) {
      const age = performance.now() - (this.#since.get(node) ?? Number.POSITIVE_INFINITY);
      const isMade = node.status === 'ready' || node.status === 'connect';
      if (isMade && age >= Math.min(this.#timeoutMs, PATIENCE_MS) - 1) node.disconnect(true);
    }
  }

  /** Nothing is handed to ioredis before there is a connection: what was never sent has surely not happened. */
  opened(): Promise<void> | undefined {
    if (this.#client.status === 'ready') return undefined;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  #open(): Promise<void> {
    const client = this.#client;
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
        reject(new NotConnected());
      };
      // What the server refuses it will refuse again.
      const failed = (error: Error): void => {
        const known = toStorageError(error);
        if (known.retryable) return;
        stop();
        reject(known);
      };
      const timer = setTimeout(() => {
        this.#replace();
        ended();
      }, PATIENCE_MS);
      client.on('error', failed);
      client.on('ready', done);
      client.on('end', ended);
    });
  }
}

/** The server was not reached: nothing was sent. */
export class NotConnected extends StorageError {
  constructor() {
    super('unavailable', 'The Redis server cannot be reached; connecting goes on');
  }
}

export function isMissingScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function duplicateOf(client: RedisClient): OwnClient {
  if (client === null || typeof client !== 'object' || typeof client.duplicate !== 'function')
    throw new TypeError('A RedisStorage needs a client of ioredis (5 or 6) or a redis:// URL');
  const own = client as unknown as OwnClient;
  if (!isCluster(own)) return own.duplicate({ ...OWN_OPTIONS });
  const options = {
    lazyConnect: true,
    keyPrefix: '',
    enableOfflineQueue: true,
    scaleReads: 'master',
    enableAutoPipelining: false,
    clusterRetryStrategy: reconnect,
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
  if (any === undefined) throw new NotConnected();
  return any;
}

/** What the user's client puts before its keys; our own do it themselves. */
export function prefixOf(target: RedisClient | string): string {
  return typeof target === 'string' ? '' : ((target.options as { readonly keyPrefix?: string }).keyPrefix ?? '');
}
