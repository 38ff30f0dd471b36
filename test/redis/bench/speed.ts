import { median } from '../../bench/median.js';
import { WorkerProcess } from '../../faults/remote/process-pool.js';
import { JOBS, type Jobs } from '../processes/jobs.js';
import { RedisServer } from '../servers/redis-server.js';
import { BASES, CONTENDERS } from './contenders.js';
import type { Figures } from './measure.js';

const SETTINGS = [
  { title: 'one by one', atOnce: 1, operations: 20_000 },
  { title: '64 at once', atOnce: 64, operations: 50_000 },
] as const;

interface Row {
  readonly write: Figures[];
  readonly read: Figures[];
}

/**
 * The part of `npm run bench -- remote` that is Redis: every round gives each contender a process of its own on the built
 * packages, one after the other, on one server; the table has medians.
 */
export async function benchRedis(rounds: number): Promise<void> {
  const server = await RedisServer.start();
  const names = Object.keys(CONTENDERS);
  console.log(`Redis: contents of 1,000 bytes in 256 places, ${rounds} rounds, medians; µs an operation.`);
  try {
    for (const { title, atOnce, operations } of SETTINGS) {
      const rows = new Map<string, Row>(names.map((name) => [name, { write: [], read: [] }]));
      for (let round = 0; round < rounds; round++) {
        // Whoever comes first in a round is not always the same.
        for (const name of rotate(names, round)) {
          const worker = new WorkerProcess<Jobs>(JOBS, 'built');
          try {
            const { write, read } = await worker.run('measure', {
              url: server.url,
              contender: name,
              atOnce,
              operations,
            });
            rows.get(name)?.write.push(write);
            rows.get(name)?.read.push(read);
          } finally {
            worker.close();
          }
        }
      }
      print(title, rows);
    }
  } finally {
    await server.stop();
  }
}

function print(title: string, rows: ReadonlyMap<string, Row>): void {
  for (const kind of ['write', 'read'] as const) {
    console.log(`\n${title}, ${kind.padEnd(11)}    wall     cpu  server   operations/s   of SET, GET   of Lua`);
    const wall = (name: string) => median((rows.get(name)?.[kind] ?? []).map(({ wall }) => wall));
    for (const [name, row] of rows) {
      const figures = row[kind];
      const cells = (['wall', 'cpu', 'serverCpu'] as const).map((key) =>
        median(figures.map((figure) => figure[key]))
          .toFixed(1)
          .padStart(7),
      );
      const perSecond = Math.round(1e6 / wall(name));
      const shares = BASES.map((base) =>
        `${Math.round((100 * Math.min(...base.map(wall))) / wall(name))}%`.padStart(12),
      );
      console.log(`  ${name.padEnd(20)} ${cells.join(' ')} ${String(perSecond).padStart(14)} ${shares.join('')}`);
    }
  }
}

function rotate<T>(items: readonly T[], by: number): T[] {
  return items.map((_, index) => items[(index + by) % items.length] as T);
}
