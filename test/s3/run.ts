import { compareForms } from '../differential/forms.js';
import type { AbortReport } from '../faults/aborts.js';
import type { QuotaReport } from '../faults/quota.js';
import { raceAcrossProcesses } from '../faults/remote/fill.js';
import { type PairReport, snapshotsAcrossProcesses } from '../faults/remote/pairs.js';
import { ProcessPool } from '../faults/remote/process-pool.js';
import { checkSharedHistory } from '../faults/remote/shared-history.js';
import { abortEverywhere } from './faults/aborts.js';
import { Scene } from './faults/scene.js';
import { ALL_FAULTS, emptyReport, type TrialReport, Trials } from './faults/trials.js';
import { onS3 } from './forms.js';
import setup from './global-setup.js';
import { JOBS, type Jobs } from './processes/jobs.js';
import { race } from './processes/race.js';
import { s3Remote } from './remote.js';
import { freshPlace } from './servers/test-bucket.js';
import { throughputAt } from './throughput.js';

/**
 * The figures of a release on a real store: `npm run test:s3`, or one of them: `npm run test:s3 G3`. A number after it is a
 * share of the figure: `npm run test:s3 G3 0.01`; one more is the first seed.
 */
const [only = 'all', share = '1', firstSeed = '1'] = process.argv.slice(2);
const figure = (count: number): number => Math.max(1, Math.round(count * Number(share)));
const first = Number(firstSeed);

const tearDown = await setup();
// A run that is ended early leaves no store behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.resolve(tearDown?.()).finally(() => process.exit(1)));
if (process.env.SCRATCHFS_TEST_S3_URL === undefined)
  throw new Error('There is no store: run `node .ci/s3-server.mjs`, or set SCRATCHFS_TEST_S3_URL');
const endpoint = freshPlace().endpoint ?? '';

interface Outcome {
  readonly figure: string;
  readonly problems: readonly string[];
}

const PROCESSES = 3;

async function withPool(work: (pool: ProcessPool<Jobs>) => Promise<Outcome>): Promise<Outcome> {
  const pool = new ProcessPool<Jobs>(PROCESSES, JOBS);
  try {
    return await work(pool);
  } finally {
    pool.close();
  }
}

async function withScene(work: (scene: Scene) => Promise<Outcome>): Promise<Outcome> {
  const scene = await Scene.prepare();
  try {
    return await work(scene);
  } finally {
    scene.close();
  }
}

function trialOutcome({ faults, survived, unknown, problems }: TrialReport): Outcome {
  const figures = `${faults} faults, ${survived} operations succeeded in spite of them, ${unknown} outcomes unknown`;
  return { figure: figures, problems };
}

const RUNS: Readonly<Record<string, () => Promise<Outcome>>> = {
  /** The same random operations on memory and on S3. */
  forms: async () => {
    const { operations, difference } = await compareForms(first, figure(50_000), onS3(freshPlace));
    return { figure: `${operations} operations`, problems: difference === undefined ? [] : [difference] };
  },
  /** All or nothing, nothing lost and nothing twice, whatever befalls whichever request: G2 and G5. */
  G5: () =>
    withScene(async (scene) => {
      const report = emptyReport();
      await new Trials(scene, endpoint, report).atEveryRequest(ALL_FAULTS, first, figure(10_000));
      return trialOutcome(report);
    }),
  /** An answer cut at every byte. */
  G6: () =>
    withScene(async (scene) => {
      const report = emptyReport();
      await new Trials(scene, endpoint, report).atEveryByte(Math.max(1, Math.round(1 / Number(share))));
      return trialOutcome(report);
    }),
  G3: () =>
    withPool(async (pool) => {
      const problems: string[] = [];
      for (let seed = first; seed < first + figure(2_000) && problems.length < 20; seed++) {
        const options = { faults: seed % 2 === 0 ? 0.01 : 0 };
        for (const problem of await checkSharedHistory(s3Remote, pool, freshPlace(), seed, options))
          problems.push(`seed ${seed}: ${problem}`);
      }
      return {
        figure: `${figure(2_000)} histories of 800 operations in ${PROCESSES} processes, half with faults`,
        problems,
      };
    }),
  G7: () =>
    withPool(async (pool) => {
      const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
      for (let seed = first; report.operations < figure(100_000) && report.problems.length < 20; seed++)
        await raceAcrossProcesses(s3Remote, pool, freshPlace(), seed, 20, report);
      const { operations, refused, gaveUp, problems } = report;
      return { figure: `${operations} racing operations, ${refused} refused, ${gaveUp} given up`, problems };
    }),
  G9: () =>
    withPool(async (pool) => {
      const report: PairReport = { snapshots: 0, writes: 0, restores: 0, problems: [] };
      while (report.snapshots < figure(10_000) && report.problems.length < 20)
        await snapshotsAcrossProcesses(s3Remote, pool, freshPlace(), Math.min(500, figure(10_000)), report);
      const { snapshots, writes, restores, problems } = report;
      return { figure: `${snapshots} snapshots under ${writes} writes and ${restores} restores`, problems };
    }),
  G10: () =>
    withScene(async (scene) => {
      const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
      for (let seed = first; report.aborts < figure(30_000) && report.problems.length < 20; seed++)
        await abortEverywhere(scene, endpoint, seed, figure(30_000), report);
      return {
        figure: `${report.aborts} aborts, ${report.succeeded} came too late to stop anything`,
        problems: report.problems,
      };
    }),
  /** Many processes on one filesystem: all succeed, and none is starved. */
  processes: async () => {
    const { problems, times, slowestMs } = await race({
      processes: 16,
      writers: 1,
      writes: figure(100),
      isShared: false,
    });
    const ratio = (times.at(-1) as number) / (times[times.length >> 1] as number);
    const seconds = times.map((ms) => (ms / 1_000).toFixed(1)).join(', ');
    return {
      figure: `16 processes × ${figure(100)} writes in ${seconds} s, the slowest ${ratio.toFixed(2)} × the median, one write at most ${Math.round(slowestMs)} ms`,
      problems: ratio <= 3 ? problems : [...problems, `the slowest took ${ratio.toFixed(2)} × the median`],
    };
  },
  /** Many writers of one file. */
  writers: async () => {
    const { problems, times } = await race({ processes: 4, writers: 5, writes: figure(60), isShared: true });
    return {
      figure: `20 writers × ${figure(60)} rounds in ${Math.round((times.at(-1) as number) / 1_000)} s`,
      problems,
    };
  },
  /** What operations of one process that share commits come to where a PUT takes 30 ms. */
  throughput: async () => {
    const told: string[] = [];
    const problems: string[] = [];
    for (const writers of [1, 8, 32, 128]) {
      const { perSecond, requests } = await throughputAt(30, writers, figure(writers * 50));
      told.push(`${writers} writers ${Math.round(perSecond)}/s (${requests.toFixed(2)} requests each)`);
      if (writers >= 8 && perSecond < 100) problems.push(`${writers} writers: ${perSecond.toFixed(1)} a second`);
    }
    return { figure: told.join(', '), problems };
  },
};

let isGood = true;
try {
  for (const [name, run] of Object.entries(RUNS)) {
    if (only !== 'all' && only !== name) continue;
    const started = performance.now();
    const { figure: said, problems } = await run();
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(`${name}: ${said}: ${problems.length} problems, ${seconds} s`);
    for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
    isGood &&= problems.length === 0;
  }
} finally {
  await tearDown?.();
}
process.exit(isGood ? 0 : 1);
