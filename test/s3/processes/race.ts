import { ProcessPool } from '../../faults/remote/process-pool.js';
import { withClient } from '../../faults/remote/remote.js';
import { s3Remote } from '../remote.js';
import { freshPlace } from '../servers/test-bucket.js';
import { JOBS, type Jobs } from './jobs.js';

export interface RaceOptions {
  readonly processes: number;
  /** Writers per process, each with its own client. */
  readonly writers: number;
  readonly writes: number;
  /** True if all append to one file; false if each has its own. */
  readonly isShared: boolean;
}

export interface Race {
  readonly problems: readonly string[];
  /** Milliseconds that each writer took, sorted. */
  readonly times: readonly number[];
  /** Duration of the slowest write, in milliseconds. */
  readonly slowestMs: number;
}

/**
 * Appends to files of one filesystem from several processes concurrently. Every write must be applied once, in its
 * writer's order.
 */
export async function race({ processes, writers, writes, isShared }: RaceOptions): Promise<Race> {
  const place = freshPlace();
  const shared = isShared ? '/log' : undefined;
  const pool = new ProcessPool<Jobs>(processes, JOBS);
  const namesOf = (process: number): string[] =>
    Array.from({ length: writers }, (_, writer) => `p${process}w${writer}`);
  try {
    await withClient(s3Remote, place, (fs) => fs.writeFile('/log', ''));
    await pool.all('wake', () => undefined);
    const written = await pool.all('write', (process) => ({ place, names: namesOf(process), count: writes, shared }));
    const problems: string[] = [];
    await withClient(s3Remote, place, async (fs) => {
      for (const name of pool.workers.flatMap((_, process) => namesOf(process))) {
        const text = await fs.readText(shared ?? `/log-${name}`);
        const mine = text.match(/\S+ /g)?.filter((word) => word.startsWith(`${name}.`)) ?? [];
        const expected = Array.from({ length: writes }, (_, i) => `${name}.${i} `);
        if (mine.join('') !== expected.join(''))
          problems.push(`${name} wrote ${writes}, there is ${mine.length}: ${mine.join('').slice(-200)}`);
      }
    });
    const each = written.flat();
    return {
      problems,
      times: each.map(({ ms }) => ms).sort((a, b) => a - b),
      slowestMs: Math.max(...each.map(({ slowestMs }) => slowestMs)),
    };
  } finally {
    pool.close();
  }
}
