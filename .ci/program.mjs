import { writeFileSync } from 'node:fs';
import { installWithApt, run } from './lib.mjs';

/**
 * Makes sure that a program is installed for the tests, and prints its version.
 *
 *     node .ci/program.mjs PACKAGE PROGRAM VERSION_OPTION PURPOSE
 */
const [name, program, option, purpose] = process.argv.slice(2);

async function version() {
  const { code, output } = await run(program, [option], { quiet: true });
  return code === 0 ? output.trim() : undefined;
}

const problem = (await version()) === undefined ? await installWithApt(name) : undefined;
const found = await version();
const reason = problem ?? (found === undefined ? `${name} does not start` : undefined);
console.log(reason === undefined ? `  ${found}` : `  ${reason}`);
const counts =
  reason === undefined
    ? { passed: 1, failed: 0, skipped: 0 }
    : { passed: 0, failed: 0, skipped: 1, missing: 1, reasons: [`${purpose}: ${reason}`] };
if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
