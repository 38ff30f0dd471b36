import { Redis } from 'ioredis';
import { freshNamespace, type RedisLocation } from '../clients.js';
import { findRedis } from './find-redis.js';
import { dropNamespace } from './namespaces.js';
import { RedisServer } from './redis-server.js';

/** The server that the user named. */
const given = process.env.SCRATCHFS_TEST_REDIS_URL || undefined;

/** Whether tests that do a server no harm can run. `npm test` says where they cannot. */
export const hasServer = given !== undefined || findRedis() !== undefined;

/** Whether servers of our own can be started, to be stopped and spoiled. */
export const hasOwnServer = findRedis() !== undefined;

/** A server for tests that do it no harm: the user's, or one of our own. Each filesystem has a namespace of its own. */
export class TestServer {
  readonly #namespaces: string[] = [];

  private constructor(
    readonly url: string,
    private readonly own: RedisServer | undefined,
  ) {}

  static async open(): Promise<TestServer> {
    const own = given === undefined ? await RedisServer.start() : undefined;
    return new TestServer(given ?? (own as RedisServer).url, own);
  }

  /** Room for a new filesystem. */
  place(): RedisLocation {
    const namespace = freshNamespace();
    this.#namespaces.push(namespace);
    return { url: this.url, namespace };
  }

  /** Leaves nothing behind. */
  async close(): Promise<void> {
    if (this.own !== undefined) {
      await this.own.stop();
      return;
    }
    const control = new Redis(this.url);
    try {
      for (const namespace of this.#namespaces) await dropNamespace(control, namespace);
    } finally {
      control.disconnect();
    }
  }
}
