import { ProcessPool } from '../../faults/remote/process-pool.js';
import { withClient } from '../../faults/remote/remote.js';
import { s3Remote } from '../remote.js';
import { freshPlace } from '../servers/test-bucket.js';
import { JOBS, type Jobs } from './jobs.js';

export interface RaceOptions {
  readonly processes: number;
  /** In each process, with a client of its own. */
  readonly writers: number;
  readonly writes: number;
  /** Into one file; else each has its own. */
  readonly isShared: boolean;
}

export interface Race {
  readonly problems: readonly string[];
  /** Milliseconds of each writer, sorted. */
  readonly times: readonly number[];
  /** The longest that one write took, in milliseconds. */
  readonly slowestMs: number;
}

/** Processes that append to files of one filesystem, all at the same time: every write must be there once, and in its writer's order. */
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
