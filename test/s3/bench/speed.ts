import { median } from '../../bench/median.js';
import { WorkerProcess } from '../../faults/remote/process-pool.js';
import setup from '../global-setup.js';
import { JOBS, type Jobs } from '../processes/jobs.js';
import { freshPlace } from '../servers/test-bucket.js';
import { CONTENDERS } from './contenders.js';
import type { Figures } from './measure.js';

const SETTINGS = [
  { title: 'one by one', atOnce: 1, operations: 200 },
  { title: '64 at once', atOnce: 64, operations: 1_280 },
] as const;

/** A plain client of the SDK: PutObject and GetObject. */
const FLOOR = 'one object per file';

/**
 * The part of `npm run bench -- remote` that is S3: every round gives each contender a process of its own on the built
 * packages and a bucket of its own, one after the other, on one store; the table has medians.
 */
export async function benchS3(rounds: number): Promise<void> {
  const tearDown = await setup();
  if (process.env.SCRATCHFS_TEST_S3_URL === undefined) {
    console.log('\nS3 is left out: there is no store. Run `node .ci/s3-server.mjs`, or set SCRATCHFS_TEST_S3_URL.');
    return;
  }
  try {
    console.log(`\nS3: contents of 1,000 bytes in 64 places, ${rounds} rounds, medians; µs an operation.`);
    for (const setting of SETTINGS) print(setting.title, await measureAll(setting, rounds));
  } finally {
    await tearDown?.();
  }
}

interface Row {
  readonly write: Figures[];
  readonly read: Figures[];
}

let buckets = 0;

async function measureAll(
  { atOnce, operations }: (typeof SETTINGS)[number],
  rounds: number,
): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>(Object.keys(CONTENDERS).map((name) => [name, { write: [], read: [] }]));
  for (let round = 0; round < rounds; round++) {
    // Whoever comes first in a round is not always the same.
    for (const [contender, row] of round % 2 === 0 ? rows : [...rows].reverse()) {
      const worker = new WorkerProcess<Jobs>(JOBS, 'built');
      try {
        const place = { ...freshPlace(), bucket: `bench-${process.pid}-${++buckets}` };
        const { write, read } = await worker.run('measure', { place, contender, atOnce, operations });
        row.write.push(write);
        row.read.push(read);
      } finally {
        worker.close();
      }
    }
  }
  return rows;
}

function print(title: string, rows: ReadonlyMap<string, Row>): void {
  for (const kind of ['write', 'read'] as const) {
    console.log(`\n${title}, ${kind.padEnd(12)}     wall     cpu  requests   operations/s   of PUT, GET`);
    const middle = (name: string, key: keyof Figures): number =>
      median((rows.get(name)?.[kind] ?? []).map((figures) => figures[key]));
    for (const name of rows.keys()) {
      const wall = middle(name, 'wall');
      const cells = [wall.toFixed(0), middle(name, 'cpu').toFixed(0), middle(name, 'requests').toFixed(2)];
      const share = `${Math.round((100 * middle(FLOOR, 'wall')) / wall)}%`;
      console.log(
        `  ${name.padEnd(20)} ${cells.map((cell) => cell.padStart(8)).join('')} ${String(Math.round(1e6 / wall)).padStart(14)} ${share.padStart(13)}`,
      );
    }
  }
}
