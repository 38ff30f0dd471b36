import { afterAll, beforeAll } from 'vitest';
import { ProcessPool } from '../../faults/remote/process-pool.js';
import { freshNamespace, type RedisLocation } from '../clients.js';
import { JOBS, type Jobs } from '../processes/jobs.js';
import { RedisServer, type RedisServerOptions } from '../servers/redis-server.js';

/** Starts a server for the tests of a `describe`. */
export function useServer(options: RedisServerOptions = {}): { readonly server: RedisServer; place(): RedisLocation } {
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

/** Starts processes for the tests of a `describe`. */
export function useProcesses(size = 3): { readonly pool: ProcessPool<Jobs> } {
  let pool: ProcessPool<Jobs> | undefined;
  beforeAll(() => {
    pool = new ProcessPool(size, JOBS);
  });
  afterAll(() => pool?.close());
  return {
    get pool() {
      if (pool === undefined) throw new Error('The processes run while tests do');
      return pool;
    },
  };
}
