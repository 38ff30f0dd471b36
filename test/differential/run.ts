import { ALL_OPERATIONS } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { campaign, printReport } from './campaign.js';
import { compareForms, openAsync } from './forms.js';
import { NO_NODE_CALL } from './node-calls.js';
import { BENEATH, compareNodeForms, NodeFsSubject } from './node-forms.js';
import { SyncSubject } from './subject.js';

// npm run campaign -- memory/fuzz. Arguments: operations, seed, operations that compare the forms.
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
// A run that compares only the forms excuses nothing.
const unused = operations === 0 ? [] : [...report.excused].filter(([, count]) => count === 0).map(([name]) => name);
if (unused.length > 0) console.log(`rows that excused nothing: ${unused.join(', ')}`);

const openSync = (clock: () => number) => createFileSystem({ clock });
let differing = 0;
for (const [name, open] of [
  ['promise methods', openSync],
  ['async engine', openAsync],
] as const) {
  const compared = await compareForms(seed, forms, { operations: ALL_OPERATIONS, openSync, open });
  const { difference, seconds } = compared;
  if (difference !== undefined) differing += 1;
  console.log(
    `${name}: ${compared.operations} operations in ${seconds.toFixed(1)} s, ${difference ?? '0 differences'}`,
  );
}

const nodeReport = campaign({
  seed,
  operations: Math.ceil(operations / 5),
  maxDifferences: 10,
  omit: NO_NODE_CALL,
  open: (ticks) => new NodeFsSubject(createFileSystem({ clock: ticks.clock }), ticks),
});
console.log(`createNodeFs, ${printReport(nodeReport)}`);
for (const [name, beneath] of Object.entries(BENEATH)) {
  const { operations: done, difference, seconds } = await compareNodeForms(seed, Math.ceil(forms / 5), beneath);
  if (difference !== undefined) differing += 1;
  console.log(
    `createNodeFs over ${name}: ${done} operations in ${seconds.toFixed(1)} s, ${difference ?? '0 differences'}`,
  );
}

const isGood = report.found.length === 0 && nodeReport.found.length === 0 && differing === 0 && unused.length === 0;
process.exitCode = isGood ? 0 : 1;
