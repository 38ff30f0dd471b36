import { compare } from '../../bench/remote-harness.js';
import { inProcess } from '../../faults/remote/process-pool.js';
import { JOBS, type Jobs } from '../processes/jobs.js';
import { RedisServer } from '../servers/redis-server.js';
import { BASELINES, CONTENDERS } from './contenders.js';

/** Runs the Redis part of `npm run bench -- remote`. All contenders use one server. */
export async function benchRedis(rounds: number): Promise<void> {
  const server = await RedisServer.start();
  try {
    await compare(
      {
        title: 'Redis: contents of 1,000 bytes in 256 places',
        contenders: Object.keys(CONTENDERS),
        settings: [
          { title: 'one by one', atOnce: 1, operations: 20_000 },
          { title: '64 at once', atOnce: 64, operations: 50_000 },
        ],
        measure: (contender, setting) =>
          inProcess<Jobs, 'measure'>(JOBS, 'measure', { ...setting, url: server.url, contender }),
        columns: [
          ['wall', 'wall', 1],
          ['cpu', 'cpu', 1],
          ['server', 'serverCpu', 1],
        ],
        baselines: BASELINES,
      },
      rounds,
    );
  } finally {
    await server.stop();
  }
}
