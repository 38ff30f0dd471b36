import { type Outcome, Release } from '../faults/release.js';
import { RemoteFigures, trialOutcome, WORKERS } from '../faults/remote/figures.js';
import { ProcessPool } from '../faults/remote/process-pool.js';
import { emptyReport } from '../faults/remote/trial.js';
import { abortsOn } from './faults/aborts.js';
import { Scene } from './faults/scene.js';
import { ALL_FAULTS, Trials } from './faults/trials.js';
import { onS3 } from './forms.js';
import setup from './global-setup.js';
import { JOBS, type Jobs } from './processes/jobs.js';
import { race } from './processes/race.js';
import { s3Remote } from './remote.js';
import { freshPlace } from './servers/test-bucket.js';
import { throughputAt } from './throughput.js';

/**
 * The campaigns on a real S3 store: `npm run campaign -- s3`. Arguments: a campaign or `all`, the share of it to run
 * (default 1), the first seed.
 */
const release = new Release(process.argv.slice(2));
const figures = new RemoteFigures(release, s3Remote, () => new ProcessPool<Jobs>(WORKERS, JOBS));

const tearDown = await setup();
// A run that is interrupted leaves no store behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.resolve(tearDown?.()).finally(() => process.exit(1)));
if (process.env.SCRATCHFS_TEST_S3_URL === undefined)
  throw new Error('There is no store: run `node .ci/s3-server.mjs`, or set SCRATCHFS_TEST_S3_URL');
const endpoint = freshPlace().endpoint ?? '';

async function withScene(work: (scene: Scene) => Promise<Outcome>): Promise<Outcome> {
  const scene = await Scene.prepare();
  try {
    return await work(scene);
  } finally {
    scene.close();
  }
}

const RUNS = {
  forms: () => figures.forms(onS3(freshPlace)),
  /** Injects every fault at every request. Each change happens as a whole and once, or not at all. */
  faults: () =>
    withScene(async (scene) => {
      const report = emptyReport();
      const trials = new Trials(scene, endpoint, report);
      await trials.atEveryRequest(ALL_FAULTS, release.firstSeed, release.count(10_000));
      return trialOutcome(report);
    }),
  /** Cuts the connection at every byte of a response. */
  'lost-answers': () =>
    withScene(async (scene) => {
      const report = emptyReport();
      await new Trials(scene, endpoint, report).atEveryByte(release.stride);
      return trialOutcome(report);
    }),
  linearizability: () => figures.histories(freshPlace, () => ({ faults: 0.01 })),
  limits: () => figures.quota(freshPlace, 20),
  snapshots: () => figures.snapshots(freshPlace),
  aborts: () => withScene((scene) => figures.aborts(abortsOn(scene, endpoint))),
  /** Lets many processes write to one filesystem: all succeed, and none starves. */
  processes: async () => {
    const { problems, times, slowestMs } = await race({
      processes: 16,
      writers: 1,
      writes: release.count(100),
      isShared: false,
    });
    const ratio = (times.at(-1) as number) / (times[times.length >> 1] as number);
    const seconds = times.map((ms) => (ms / 1_000).toFixed(1)).join(', ');
    return {
      figure: `16 processes × ${release.count(100)} writes in ${seconds} s, the slowest ${ratio.toFixed(2)} × the median, one write at most ${Math.round(slowestMs)} ms`,
      problems: ratio <= 3 ? problems : [...problems, `the slowest took ${ratio.toFixed(2)} × the median`],
    };
  },
  /** Lets many writers change one file. */
  writers: async () => {
    const { problems, times } = await race({ processes: 4, writers: 5, writes: release.count(60), isShared: true });
    return {
      figure: `20 writers × ${release.count(60)} rounds in ${Math.round((times.at(-1) as number) / 1_000)} s`,
      problems,
    };
  },
  /** Measures the operations a second of one process whose operations share commits, when a PUT takes 30 ms. */
  throughput: async () => {
    const told: string[] = [];
    const problems: string[] = [];
    for (const writers of [1, 8, 32, 128]) {
      const { perSecond, requests } = await throughputAt(30, writers, release.count(writers * 50));
      told.push(`${writers} writers ${Math.round(perSecond)}/s (${requests.toFixed(2)} requests each)`);
      if (writers >= 8 && perSecond < 100) problems.push(`${writers} writers: ${perSecond.toFixed(1)} a second`);
    }
    return { figure: told.join(', '), problems };
  },
};

let isGood = false;
try {
  isGood = await release.run(RUNS);
} finally {
  await tearDown?.();
}
process.exit(isGood ? 0 : 1);
