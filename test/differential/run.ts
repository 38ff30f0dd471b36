import { DISK_OPERATIONS } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { campaign, printReport } from './campaign.js';
import { compareForms } from './forms.js';
import { SyncSubject } from './subject.js';

// pnpm test:fuzz [operations] [seed] [operations that compare the forms]
const [operations = 1_000_000, seed = Math.floor(Date.now() / 1000), forms = 200_000] = process.argv
  .slice(2)
  .map(Number);

const report = campaign({
  seed,
  operations,
  maxDifferences: 10,
  open: (ticks) => new SyncSubject(createFileSystem({ clock: ticks.clock }), ticks),
  onProgress: (done) => {
    if (done % 50_000 < 1_250) process.stderr.write(`${done} of ${operations}\n`);
  },
});
console.log(printReport(report));
const unused = [...report.excused].filter(([, count]) => count === 0).map(([name]) => name);
if (unused.length > 0) console.log(`rows that excused nothing: ${unused.join(', ')}`);

const openSync = (clock: () => number) => createFileSystem({ clock });
const compared = await compareForms(seed, forms, {
  operations: [...DISK_OPERATIONS, 'stats', 'checkpoint', 'rollback', 'drop'],
  openSync,
  open: openSync,
});
console.log(
  `promise methods: ${compared.operations} operations in ${compared.seconds.toFixed(1)} s, ${compared.difference ?? '0 differences'}`,
);

const isGood = report.found.length === 0 && compared.difference === undefined && unused.length === 0;
process.exitCode = isGood ? 0 : 1;
