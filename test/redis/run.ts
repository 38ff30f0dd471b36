import { type Outcome, Release } from '../faults/release.js';
import { RemoteFigures, trialOutcome, WORKERS } from '../faults/remote/figures.js';
import { ProcessPool } from '../faults/remote/process-pool.js';
import { emptyReport } from '../faults/remote/trial.js';
import { busyServer } from './busy-server.js';
import { freshNamespace, type Place } from './clients.js';
import { type CrashReport, killAndCompare } from './faults/crashes.js';
import { disturb } from './faults/disturb.js';
import { Scene } from './faults/scene.js';
import { COMMAND_FAULTS, WireTrials } from './faults/wire.js';
import { abortsOn } from './faults/wire-aborts.js';
import { onRedis } from './forms.js';
import { JOBS, type Jobs } from './processes/jobs.js';
import { redisRemote } from './remote.js';
import { RedisServer } from './servers/redis-server.js';

/**
 * The figures of a release on a real server: `npm run test:redis`, or one of them: `npm run test:redis G3`. A number after
 * it is a share of the figure: `npm run test:redis G3 0.01`; one more is the first seed.
 */
const release = new Release(process.argv.slice(2));
const figures = new RemoteFigures(release, redisRemote, () => new ProcessPool<Jobs>(WORKERS, JOBS));

async function onServer(work: (server: RedisServer, place: () => Place) => Promise<Outcome>): Promise<Outcome> {
  const server = await RedisServer.start();
  try {
    return await work(server, () => ({ url: server.url, namespace: freshNamespace() }));
  } finally {
    await server.stop();
  }
}

const RUNS = {
  forms: () => onServer((_, place) => figures.forms(onRedis(place))),
  /** Every fault at every command; the connection cut at every byte of what goes out. */
  G2: () =>
    onServer(async (server) => {
      const report = emptyReport();
      const trials = new WireTrials(await Scene.prepare(server), report);
      await trials.atEveryCommand(COMMAND_FAULTS);
      await trials.atEveryByte('requests', { stride: release.stride });
      return trialOutcome(report);
    }),
  /** How long one command keeps the server busy, in milliseconds of its processor; on a machine that nobody else uses. */
  busy: () =>
    onServer(async (server) => {
      const report = await busyServer(server, release.count(100_000));
      const tooLong = report.filter(({ longestMs }) => !(longestMs < 10));
      return {
        figure: report.map(({ what, longestMs }) => `${what} ${longestMs.toFixed(1)} ms`).join(', '),
        problems: tooLong.map(({ what, longestMs }) => `${what}: ${longestMs.toFixed(1)} ms`),
      };
    }),
  G3: () =>
    onServer((server, place) => figures.histories(place, (seed) => ({ faults: 0.01, disturb: disturb(server, seed) }))),
  G4: async () => {
    const report: CrashReport = { kills: 0, acknowledged: 0, unanswered: 0, problems: [] };
    const wanted = release.count(1_000);
    for (const seed of release.seedsWhile(() => report.kills < wanted, report.problems))
      await killAndCompare(seed, wanted - report.kills, report);
    const { kills, acknowledged, unanswered, problems } = report;
    return { figure: `${kills} kills, ${acknowledged} operations answered, ${unanswered} outcomes unknown`, problems };
  },
  /** The connection cut at every byte of what comes back. */
  G6: () =>
    onServer(async (server) => {
      const report = emptyReport();
      await new WireTrials(await Scene.prepare(server), report).atEveryByte('replies', { stride: release.stride });
      return trialOutcome(report);
    }),
  G7: () => onServer((_, place) => figures.quota(place, 100)),
  G9: () => onServer((_, place) => figures.snapshots(place)),
  G10: () => onServer(async (server) => figures.aborts(abortsOn(await Scene.prepare(server)))),
};

process.exit((await release.run(RUNS)) ? 0 : 1);
