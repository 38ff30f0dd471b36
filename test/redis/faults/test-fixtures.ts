import { afterAll, beforeAll } from 'vitest';
import { freshNamespace, type Place } from '../clients.js';
import { ProcessPool } from '../processes/process-pool.js';
import { RedisServer, type RedisServerOptions } from '../servers/redis-server.js';

/** A server of its own for the tests of a `describe`. */
export function useServer(options: RedisServerOptions = {}): { readonly server: RedisServer; place(): Place } {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await RedisServer.start(options);
  });
  afterAll(() => server?.stop());
  const running = (): RedisServer => {
    if (server === undefined) throw new Error('The server runs while tests do');
    return server;
  };
  return {
    get server() {
      return running();
    },
    place: () => ({ url: running().url, namespace: freshNamespace() }),
  };
}

/** Processes for the tests of a `describe`. */
export function useProcesses(size = 3): { readonly pool: ProcessPool } {
  let pool: ProcessPool | undefined;
  beforeAll(() => {
    pool = new ProcessPool(size);
  });
  afterAll(() => pool?.close());
  return {
    get pool() {
      if (pool === undefined) throw new Error('The processes run while tests do');
      return pool;
    },
  };
}
