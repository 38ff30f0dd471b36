import { Redis } from 'ioredis';
import { freshNamespace, type RedisLocation } from '../clients.js';
import { findRedis } from './find-redis.js';
import { dropNamespace } from './namespaces.js';
import { RedisServer } from './redis-server.js';

/** URL of the server that the user named. */
const given = process.env.SCRATCHFS_TEST_REDIS_URL || undefined;

/** True if tests that leave a server usable can run. `npm test` reports if they cannot. */
export const hasServer = given !== undefined || findRedis() !== undefined;

/** True if the tests can start their own servers, to stop and disturb them. */
export const hasOwnServer = findRedis() !== undefined;

/**
 * A server for tests that leave it usable: the user's, or one that is started here. Each filesystem has its own
 * namespace.
 */
export class TestServer {
  readonly #namespaces: string[] = [];

  /** A connection for looking at keys. It connects with its first command. */
  readonly control: Redis;

  private constructor(
    readonly url: string,
    private readonly own: RedisServer | undefined,
  ) {
    this.control = new Redis(url, { lazyConnect: true });
  }

  static async open(): Promise<TestServer> {
    const own = given === undefined ? await RedisServer.start() : undefined;
    return new TestServer(given ?? (own as RedisServer).url, own);
  }

  /** Returns the location of a new filesystem. */
  place(): RedisLocation {
    const namespace = freshNamespace();
    this.#namespaces.push(namespace);
    return { url: this.url, namespace };
  }

  /** Removes everything that the tests created. */
  async close(): Promise<void> {
    try {
      if (this.own === undefined)
        for (const namespace of this.#namespaces) await dropNamespace(this.control, namespace);
    } finally {
      this.control.disconnect();
      await this.own?.stop();
    }
  }
}
