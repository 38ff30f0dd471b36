import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@scratchfs/testkit';
import type { RedisServer } from '../servers/redis-server.js';

/**
 * Disturbs a server while clients work (killed connections, pauses, flushed scripts, a frozen process) until `isOver`.
 */
export function disturb(server: RedisServer, seed: number): (isOver: () => boolean) => Promise<void> {
  const random = new Random(seed);
  const { control } = server;
  const deeds: readonly (() => Promise<unknown>)[] = [
    () => control.call('CLIENT', 'KILL', 'TYPE', 'NORMAL', 'SKIPME', 'yes'),
    () => control.call('CLIENT', 'PAUSE', String(5 + random.below(60)), random.pick(['WRITE', 'ALL'])),
    () => control.call('SCRIPT', 'FLUSH'),
    async () => {
      server.freeze();
      await sleep(random.below(50));
      server.resume();
    },
  ];
  return async (isOver) => {
    while (!isOver()) {
      await sleep(20 + random.below(150));
      await random.pick(deeds)();
    }
  };
}
