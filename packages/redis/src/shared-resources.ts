import { HOLD_MS, Watching } from './change-feed.js';
import { Sequences } from './commit/sequences.js';
import { Session } from './connection/client-session.js';
import { Connection, prefixOf, type RedisClient } from './connection/connection.js';
import { keysOf } from './connection/keys.js';
import { inspectServer } from './connection/server-info.js';
import { parseUrl } from './connection/url.js';
import { parseOptions, type RedisStorageOptions, type Settings } from './options.js';
import { Sweeper } from './sweeper.js';

/** The field of the head that holds the state of the filesystem itself. */
export const MAIN = 's';

/** What a filesystem and its forks have in common: connection, session, numbers. Closed with the last of them. */
export class Shared {
  readonly settings: Settings;
  readonly connection: Connection;
  readonly session: Session;
  readonly sequences: Sequences;
  readonly sweeper: Sweeper;
  readonly watching: Watching;
  #users = 0;

  constructor(target: RedisClient | string, options: RedisStorageOptions = {}) {
    const url = typeof target === 'string' ? parseUrl(target) : undefined;
    this.settings = parseOptions({ ...url?.options, ...options });
    const keys = keysOf(this.settings.keyPrefix, this.settings.namespace, prefixOf(target));
    this.connection = new Connection(url?.server ?? target, this.settings.timeoutMs);
    this.session = new Session(this.connection, keys, this.settings, async () => {
      await inspectServer(this.connection, keys.head, this.settings);
      this.sweeper.start();
    });
    this.watching = new Watching(
      this.session,
      MAIN,
      (onReady) => new Connection(url?.server ?? target, HOLD_MS + this.settings.timeoutMs, onReady),
    );
    this.sequences = new Sequences(() => performance.now());
    this.sweeper = new Sweeper(this.session, MAIN);
  }

  retain(): void {
    this.#users += 1;
  }

  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.sweeper.stop();
    this.watching.close();
    await this.connection.close();
  }
}
