import { writeFileSync } from 'node:fs';
import { installWithApt, run } from './lib.mjs';

/**
 * Makes sure that a redis-server exists for the tests, and prints its version. A server named in
 * `SCRATCHFS_TEST_REDIS_URL` is used by the tests that do not stop or damage it.
 */
const OLDEST = 7;

async function version() {
  const { code, output } = await run('redis-server', ['--version'], { quiet: true });
  return code === 0 ? /v=([\d.]+)/.exec(output)?.[1] : undefined;
}

const problem = (await version()) === undefined ? await installWithApt('redis-server') : undefined;
const found = await version();
const reason =
  problem ?? (Number.parseInt(found ?? '0', 10) < OLDEST ? `redis-server ${found} is older than ${OLDEST}` : undefined);
console.log(reason === undefined ? `  redis-server ${found}` : `  ${reason}`);
const counts =
  reason === undefined
    ? { passed: 1, failed: 0, skipped: 0 }
    : { passed: 0, failed: 0, skipped: 1, missing: 1, reasons: [`the tests on Redis: ${reason}`] };
if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
