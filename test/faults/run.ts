import { type AbortReport, abortEveryChange } from './aborts.js';
import { everyChange, type Report, randomSteps } from './atomicity.js';
import { checkHistory } from './linearizability.js';
import { type QuotaReport, raceAtLimits, raceInMemory } from './quota.js';
import { type Figures, Release } from './release.js';
import { type SnapshotReport, snapshotsUnderWriter } from './snapshots.js';

/**
 * The campaigns on the async form of the filesystem in memory: `npm run campaign -- memory`. Arguments: a campaign or
 * `all`, the share of it to run (default 1), the first seed.
 */
const release = new Release(process.argv.slice(2));
const first = release.firstSeed;
const figure = (count: number): number => release.count(count);

const RUNS: Figures = {
  async faults() {
    const report: Report = { faults: 0, survived: 0, problems: [] };
    await everyChange(report);
    for (let seed = first; report.faults < figure(10_000); seed++)
      await randomSteps(seed, Math.min(report.faults + 1_000, figure(10_000)), report);
    return {
      figure: `${report.faults} faults, ${report.survived} operations succeeded in spite of them`,
      problems: report.problems,
    };
  },
  async linearizability() {
    const problems: string[] = [];
    for (let seed = first; seed < first + figure(2_000); seed++) {
      for (const problem of await checkHistory(seed, { faults: seed % 2 === 0 ? 0.05 : 0 }))
        problems.push(`seed ${seed}: ${problem}`);
    }
    return { figure: `${figure(2_000)} histories of 800 operations from seed ${first}, half with faults`, problems };
  },
  async limits() {
    const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
    for (let seed = first; report.operations < figure(50_000); seed++) await raceAtLimits(seed, 25, report);
    for (let seed = first; report.operations < figure(100_000); seed++) await raceInMemory(seed, 100, report);
    return {
      figure: `${report.operations} racing operations, ${report.refused} refused, ${report.gaveUp} given up`,
      problems: report.problems,
    };
  },
  async snapshots() {
    const report: SnapshotReport = { snapshots: 0, gaveUp: 0, problems: [] };
    for (let seed = first; report.snapshots < figure(10_000) && report.problems.length < 20; seed++)
      await snapshotsUnderWriter(seed, 20, seed % 2 === 0, report);
    const { snapshots, gaveUp, problems } = report;
    if (gaveUp * 100 > snapshots) problems.push(`${gaveUp} transactions gave up, more than one in a hundred`);
    return { figure: `${snapshots} snapshots under a writer, ${gaveUp} transactions given up`, problems };
  },
  async aborts() {
    const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
    for (let seed = first; report.aborts < figure(30_000); seed++) await abortEveryChange(seed, report);
    return {
      figure: `${report.aborts} aborts, ${report.succeeded} came too late to stop anything`,
      problems: report.problems,
    };
  },
};

// Many operations fail on purpose. Recording their stack traces would only take time.
Error.stackTraceLimit = 0;

process.exitCode = (await release.run(RUNS)) ? 0 : 1;
