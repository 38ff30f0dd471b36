import { type Outcome, Release } from '../faults/release.js';
import { RemoteFigures, trialOutcome, WORKERS } from '../faults/remote/figures.js';
import { ProcessPool } from '../faults/remote/process-pool.js';
import { emptyReport } from '../faults/remote/trial.js';
import { busyServer } from './busy-server.js';
import { freshNamespace, type RedisLocation } from './clients.js';
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
 * The campaigns on real Redis servers: `npm run campaign -- redis`. Arguments: a campaign or `all`, the share of it to
 * run (default 1), the first seed.
 */
const release = new Release(process.argv.slice(2));
const figures = new RemoteFigures(release, redisRemote, () => new ProcessPool<Jobs>(WORKERS, JOBS));

async function onServer(work: (server: RedisServer, place: () => RedisLocation) => Promise<Outcome>): Promise<Outcome> {
  const server = await RedisServer.start();
  try {
    return await work(server, () => ({ url: server.url, namespace: freshNamespace() }));
  } finally {
    await server.stop();
  }
}

const RUNS = {
  forms: () => onServer((_, place) => figures.forms(onRedis(place))),
  /** Injects every fault at every command, and cuts the connection at every byte of a request. */
  faults: () =>
    onServer(async (server) => {
      const report = emptyReport();
      const trials = new WireTrials(await Scene.prepare(server), report);
      await trials.atEveryCommand(COMMAND_FAULTS);
      await trials.atEveryByte('requests', { stride: release.stride });
      return trialOutcome(report);
    }),
  /**
   * Measures how long one command keeps the server busy, in milliseconds of CPU time. Needs an otherwise idle machine.
   */
  'busy-server': () =>
    onServer(async (server) => {
      const report = await busyServer(server, release.count(100_000));
      const tooLong = report.filter(({ longestMs }) => !(longestMs < 10));
      return {
        figure: report.map(({ what, longestMs }) => `${what} ${longestMs.toFixed(1)} ms`).join(', '),
        problems: tooLong.map(({ what, longestMs }) => `${what}: ${longestMs.toFixed(1)} ms`),
      };
    }),
  linearizability: () =>
    onServer((server, place) => figures.histories(place, (seed) => ({ faults: 0.01, disturb: disturb(server, seed) }))),
  'killed-servers': async () => {
    const report: CrashReport = { kills: 0, acknowledged: 0, unanswered: 0, problems: [] };
    const wanted = release.count(1_000);
    for (const seed of release.seedsWhile(() => report.kills < wanted, report.problems))
      await killAndCompare(seed, wanted - report.kills, report);
    const { kills, acknowledged, unanswered, problems } = report;
    return { figure: `${kills} kills, ${acknowledged} operations answered, ${unanswered} outcomes unknown`, problems };
  },
  /** Cuts the connection at every byte of a reply. */
  'lost-answers': () =>
    onServer(async (server) => {
      const report = emptyReport();
      await new WireTrials(await Scene.prepare(server), report).atEveryByte('replies', { stride: release.stride });
      return trialOutcome(report);
    }),
  limits: () => onServer((_, place) => figures.quota(place, 100)),
  snapshots: () => onServer((_, place) => figures.snapshots(place)),
  aborts: () => onServer(async (server) => figures.aborts(abortsOn(await Scene.prepare(server)))),
};

process.exit((await release.run(RUNS)) ? 0 : 1);
