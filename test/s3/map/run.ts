import { runTreeModel } from '../../../packages/s3/src/testing/tree-model.js';
import { type Outcome, Release } from '../../faults/release.js';
import { RemoteFigures, WORKERS } from '../../faults/remote/figures.js';
import { abortGround } from './aborts.js';
import { onTree } from './forms.js';
import { forget, freshPlace, localPool, type MapPlace, mapRemote } from './remote.js';

/**
 * The campaigns on the object tree of S3 over a store in memory: `npm run campaign -- tree`. Arguments: a campaign or
 * `all`, the share of it to run (default 1), the first seed.
 */
const release = new Release(process.argv.slice(2));
const figures = new RemoteFigures(release, mapRemote, () => localPool(WORKERS));

let last: MapPlace | undefined;
function place(): MapPlace {
  if (last !== undefined) forget(last);
  last = freshPlace();
  return last;
}

/** Runs clients that change, checkpoint, roll back and fork concurrently with garbage collectors, against a model. */
async function model(): Promise<Outcome> {
  const problems: string[] = [];
  let [runs, changes, forks] = [0, 0, 0];
  const wanted = release.count(4_000);
  for (const seed of release.seedsWhile(() => runs < wanted, problems)) {
    const run = await runTreeModel(seed);
    problems.push(...run.problems);
    runs += 1;
    changes += run.changes;
    forks += run.forks;
  }
  return { figure: `${runs} runs with ${changes} changes and ${forks} forks`, problems };
}

// Many operations fail, and no stack trace is read.
Error.stackTraceLimit = 0;

const isGood = await release.run({
  forms: () => figures.forms(onTree),
  linearizability: () => figures.histories(place, () => ({ faults: 0.03 })),
  limits: () => figures.quota(place, 100),
  snapshots: () => figures.snapshots(place),
  aborts: async () => figures.aborts(await abortGround()),
  model,
});
process.exit(isGood ? 0 : 1);
