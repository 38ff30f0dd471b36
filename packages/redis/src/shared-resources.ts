import { ChangeFeed } from './change-feed.js';
import { Sequences } from './commit/sequences.js';
import { ClientSession } from './connection/client-session.js';
import { Connection, prefixOf, type RedisClient, ServerLink } from './connection/connection.js';
import { keysOf, MAIN_STATE } from './connection/keys.js';
import { inspectServer } from './connection/server-info.js';
import { StreamMultiplexer } from './connection/stream-multiplexer.js';
import { parseUrl } from './connection/url.js';
import { parseOptions, type RedisStorageOptions, type Settings } from './options.js';
import { Sweeper } from './sweeper.js';

/**
 * Connection, session, sequence numbers and other objects that a filesystem and its forks share. Closed when the last
 * user releases them.
 */
export class SharedResources {
  readonly settings: Settings;
  readonly connection: Connection;
  readonly session: ClientSession;
  readonly sequences: Sequences;
  readonly sweeper: Sweeper;
  readonly changeFeed: ChangeFeed;
  #userCount = 0;

  constructor(target: RedisClient | string, options: RedisStorageOptions = {}) {
    const url = typeof target === 'string' ? parseUrl(target) : undefined;
    this.settings = parseOptions({ ...url?.options, ...options });
    const keys = keysOf(this.settings.keyPrefix, this.settings.namespace, prefixOf(target));
    const server = url?.server ?? target;
    this.connection = new Connection(ServerLink.of(server), this.settings.timeoutMs);
    this.session = new ClientSession(this.connection, keys, this.settings, async () => {
      await inspectServer(this.connection, keys.head, this.settings);
      this.sweeper.start();
    });
    this.changeFeed = new ChangeFeed(this.session, MAIN_STATE, (onReconnect) => {
      const { timeoutMs } = this.settings;
      return StreamMultiplexer.of(server, timeoutMs).subscribe(keys.changes, onReconnect);
    });
    this.sequences = new Sequences(() => performance.now());
    this.sweeper = new Sweeper(this.session, MAIN_STATE);
  }

  retain(): void {
    this.#userCount += 1;
  }

  async release(): Promise<void> {
    this.#userCount -= 1;
    if (this.#userCount > 0) return;
    this.sweeper.stop();
    this.changeFeed.close();
    await this.session.close();
  }
}
