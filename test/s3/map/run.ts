import { Release } from '../../faults/release.js';
import { RemoteFigures, WORKERS } from '../../faults/remote/figures.js';
import { abortGround } from './aborts.js';
import { onTree } from './forms.js';
import { forget, freshPlace, localPool, type MapPlace, mapRemote } from './remote.js';

/**
 * The figures of a release on the object tree of S3 over a store in memory: `npm run test:tree`, or one of them: `npm run
 * test:tree G3`. A number after it is a share of the figure: `npm run test:tree G3 0.01`; one more is the first seed.
 */
const release = new Release(process.argv.slice(2));
const figures = new RemoteFigures(release, mapRemote, () => localPool(WORKERS));

let last: MapPlace | undefined;
function place(): MapPlace {
  if (last !== undefined) forget(last);
  last = freshPlace();
  return last;
}

// Many operations fail, and nobody reads where.
Error.stackTraceLimit = 0;

const isGood = await release.run({
  forms: () => figures.forms(onTree),
  G3: () => figures.histories(place, () => ({ faults: 0.03 })),
  G7: () => figures.quota(place, 100),
  G9: () => figures.snapshots(place),
  G10: async () => figures.aborts(await abortGround()),
});
process.exit(isGood ? 0 : 1);
