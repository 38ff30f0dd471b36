import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { bun } from './hosts/bun.mjs';
import { deno } from './hosts/deno.mjs';
import { node24 } from './hosts/node.mjs';
import { cache, NotHere } from './hosts/process.mjs';
import { chromium, thisNode } from './hosts/vitest.mjs';
import { workerd } from './hosts/workerd.mjs';

/**
 * Runs the suites on the built packages in every runtime. Arguments select some; `SCRATCHFS_RESULTS` names the file for
 * the counts.
 */
const runtimes = { node: thisNode, 'node 24': node24, chromium, workerd, deno, bun };
const wanted = process.argv.slice(2);
const chosen = Object.entries(runtimes).filter(([name]) => wanted.length === 0 || wanted.includes(name));
const counts = { passed: 0, failed: 0, skipped: 0, missing: 0, reasons: [] };
mkdirSync(cache, { recursive: true });

async function runIn(name, runtime) {
  const started = performance.now();
  const took = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  try {
    const { version, tests } = await runtime();
    const count = (state) => tests.filter((test) => test.state === state).length;
    console.log(
      `  ${name}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped (${version}, ${took()})`,
    );
    for (const { name: test, error } of tests.filter(({ state }) => state === 'failed')) {
      console.log(`    FAILED ${test}\n${(error ?? '').replaceAll(/^/gm, '      ')}`);
    }
    for (const state of ['passed', 'failed', 'skipped']) counts[state] += count(state);
    if (tests.length === 0) throw new Error('no test ran');
  } catch (error) {
    if (error instanceof NotHere) {
      counts.skipped++;
      counts.missing++;
      counts.reasons.push(`${name}: ${error.message}`);
      console.log(`  ${name}: skipped, ${error.message}`);
    } else {
      counts.failed++;
      console.log(`  ${name}: FAILED (${took()})\n${error?.stack ?? error}`);
    }
  }
}

// Each uses one core.
const queue = [...chosen];
const worker = async () => {
  for (let next = queue.shift(); next; next = queue.shift()) await runIn(...next);
};
await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, worker));

if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
process.exit(counts.failed === 0 && chosen.length > 0 ? 0 : 1);
