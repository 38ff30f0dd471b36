import { compareForms } from '../differential/forms.js';
import type { AbortReport } from '../faults/aborts.js';
import type { QuotaReport } from '../faults/quota.js';
import { raceAcrossProcesses } from '../faults/remote/fill.js';
import { type PairReport, snapshotsAcrossProcesses } from '../faults/remote/pairs.js';
import { ProcessPool } from '../faults/remote/process-pool.js';
import { checkSharedHistory } from '../faults/remote/shared-history.js';
import { busyServer } from './busy-server.js';
import { freshNamespace, type Place } from './clients.js';
import { type CrashReport, killAndCompare } from './faults/crashes.js';
import { disturb } from './faults/disturb.js';
import { Scene } from './faults/scene.js';
import { COMMAND_FAULTS, emptyReport, type WireReport, WireTrials } from './faults/wire.js';
import { abortEverywhere } from './faults/wire-aborts.js';
import { onRedis } from './forms.js';
import { JOBS, type Jobs } from './processes/jobs.js';
import { redisRemote } from './remote.js';
import { RedisServer } from './servers/redis-server.js';

/**
 * The figures of a release on a real server: `npm run test:redis`, or one of them: `npm run test:redis G3`. A number after
 * it is a share of the figure: `npm run test:redis G3 0.01`; one more is the first seed.
 */
const [only = 'all', share = '1', firstSeed = '1'] = process.argv.slice(2);
const figure = (count: number): number => Math.max(1, Math.round(count * Number(share)));
const first = Number(firstSeed);

interface Outcome {
  readonly figure: string;
  readonly problems: readonly string[];
}

const PROCESSES = 3;

async function onServer(work: (server: RedisServer, place: () => Place) => Promise<Outcome>): Promise<Outcome> {
  const server = await RedisServer.start();
  try {
    return await work(server, () => ({ url: server.url, namespace: freshNamespace() }));
  } finally {
    await server.stop();
  }
}

async function withPool(work: (pool: ProcessPool<Jobs>) => Promise<Outcome>): Promise<Outcome> {
  const pool = new ProcessPool<Jobs>(PROCESSES, JOBS);
  try {
    return await work(pool);
  } finally {
    pool.close();
  }
}

function wireOutcome({ faults, survived, unknown, problems }: WireReport): Outcome {
  const figures = `${faults} faults, ${survived} operations succeeded in spite of them, ${unknown} outcomes unknown`;
  return { figure: figures, problems };
}

const RUNS: Readonly<Record<string, () => Promise<Outcome>>> = {
  /** The same random operations on memory and on Redis. */
  forms: () =>
    onServer(async (_, place) => {
      const { operations, difference } = await compareForms(first, figure(50_000), onRedis(place));
      return { figure: `${operations} operations`, problems: difference === undefined ? [] : [difference] };
    }),
  /** Every fault at every command; the connection cut at every byte of what goes out. */
  G2: () =>
    onServer(async (server) => {
      const report = emptyReport();
      const trials = new WireTrials(await Scene.prepare(server), report);
      await trials.atEveryCommand(COMMAND_FAULTS);
      const stride = Math.max(1, Math.round(1 / Number(share)));
      await trials.atEveryByte('requests', { stride });
      return wireOutcome(report);
    }),
  /** How long one command keeps the server busy, in milliseconds of its processor; on a machine that nobody else uses. */
  busy: () =>
    onServer(async (server) => {
      const report = await busyServer(server, figure(100_000));
      const tooLong = report.filter(({ longestMs }) => !(longestMs < 10));
      return {
        figure: report.map(({ what, longestMs }) => `${what} ${longestMs.toFixed(1)} ms`).join(', '),
        problems: tooLong.map(({ what, longestMs }) => `${what}: ${longestMs.toFixed(1)} ms`),
      };
    }),
  G3: () =>
    onServer((server, place) =>
      withPool(async (pool) => {
        const problems: string[] = [];
        for (let seed = first; seed < first + figure(2_000) && problems.length < 20; seed++) {
          const isFaulty = seed % 2 === 0;
          const options = isFaulty ? { faults: 0.01, disturb: disturb(server, seed) } : {};
          for (const problem of await checkSharedHistory(redisRemote, pool, place(), seed, options))
            problems.push(`seed ${seed}: ${problem}`);
        }
        return {
          figure: `${figure(2_000)} histories of 800 operations in ${PROCESSES} processes, half with faults`,
          problems,
        };
      }),
    ),
  G4: async () => {
    const report: CrashReport = { kills: 0, acknowledged: 0, unanswered: 0, problems: [] };
    for (let seed = first; report.kills < figure(1_000) && report.problems.length < 20; seed++)
      await killAndCompare(seed, figure(1_000) - report.kills, report);
    const { kills, acknowledged, unanswered, problems } = report;
    return { figure: `${kills} kills, ${acknowledged} operations answered, ${unanswered} outcomes unknown`, problems };
  },
  /** The connection cut at every byte of what comes back. */
  G6: () =>
    onServer(async (server) => {
      const report = emptyReport();
      const stride = Math.max(1, Math.round(1 / Number(share)));
      await new WireTrials(await Scene.prepare(server), report).atEveryByte('replies', { stride });
      return wireOutcome(report);
    }),
  G7: () =>
    onServer((_, place) =>
      withPool(async (pool) => {
        const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
        for (let seed = first; report.operations < figure(100_000) && report.problems.length < 20; seed++)
          await raceAcrossProcesses(redisRemote, pool, place(), seed, 100, report);
        const { operations, refused, gaveUp, problems } = report;
        return { figure: `${operations} racing operations, ${refused} refused, ${gaveUp} given up`, problems };
      }),
    ),
  G9: () =>
    onServer((_, place) =>
      withPool(async (pool) => {
        const report: PairReport = { snapshots: 0, writes: 0, restores: 0, problems: [] };
        while (report.snapshots < figure(10_000) && report.problems.length < 20)
          await snapshotsAcrossProcesses(redisRemote, pool, place(), Math.min(500, figure(10_000)), report);
        const { snapshots, writes, restores, problems } = report;
        return { figure: `${snapshots} snapshots under ${writes} writes and ${restores} restores`, problems };
      }),
    ),
  G10: () =>
    onServer(async (server) => {
      const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
      const scene = await Scene.prepare(server);
      for (let seed = first; report.aborts < figure(30_000) && report.problems.length < 20; seed++)
        await abortEverywhere(scene, seed, report);
      return {
        figure: `${report.aborts} aborts, ${report.succeeded} came too late to stop anything`,
        problems: report.problems,
      };
    }),
};

let isGood = true;
for (const [name, run] of Object.entries(RUNS)) {
  if (only !== 'all' && only !== name) continue;
  const started = performance.now();
  const { figure: said, problems } = await run();
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${name}: ${said}: ${problems.length} problems, ${seconds} s`);
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  isGood &&= problems.length === 0;
}
process.exit(isGood ? 0 : 1);
