import type { Remote } from '../faults/remote/remote.js';
import { openBackend, type RedisLocation, withPort } from './clients.js';
import { randomCommandFaults } from './proxy/random-faults.js';
import { TcpProxy } from './proxy/tcp-proxy.js';

/** The adapter over a server, for the campaigns that all remote storages share. */
export const redisRemote: Remote<RedisLocation> = {
  patience: { request: undefined, operation: 2_000 },

  openBackend: (place, { timeoutMs } = {}) => openBackend(place, timeoutMs),

  async failingLine(place, seed, probability) {
    const proxy = await TcpProxy.open(Number(new URL(place.url).port));
    return {
      place: withPort(place, proxy.port),
      begin: () => {
        proxy.plan = randomCommandFaults(seed, probability);
      },
      end: () => {
        proxy.forget();
        proxy.cut();
      },
      close: () => proxy.close(),
    };
  },
};
