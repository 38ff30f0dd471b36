import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { run } from './lib.mjs';

/**
 * Makes sure that a redis-server exists for the tests, and prints its version. A server named in
 * `SCRATCHFS_TEST_REDIS_URL` is used by the tests that do not stop or damage it.
 */
const OLDEST = 7;

async function version() {
  const { code, output } = await run('redis-server', ['--version'], { quiet: true });
  return code === 0 ? /v=([\d.]+)/.exec(output)?.[1] : undefined;
}

async function install() {
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) return 'there is no redis-server on this machine';
  console.log('  installing redis-server with apt-get…');
  const apt = (...args) =>
    run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true, timeoutMs: 240_000 });
  // The tests start their own servers, so the system's must not start.
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await apt('update', '-qq');
    const { code, output } = await apt('install', '-qq', '-y', '--no-install-recommends', 'redis-server');
    return code === 0 ? undefined : `apt-get could not install redis-server: ${output.trim().split('\n').at(-1)}`;
  } finally {
    if (isOurs) rmSync(policy);
  }
}

const problem = (await version()) === undefined ? await install() : undefined;
const found = await version();
const reason =
  problem ?? (Number.parseInt(found ?? '0', 10) < OLDEST ? `redis-server ${found} is older than ${OLDEST}` : undefined);
console.log(reason === undefined ? `  redis-server ${found}` : `  ${reason}`);
const counts =
  reason === undefined
    ? { passed: 1, failed: 0, skipped: 0 }
    : { passed: 0, failed: 0, skipped: 1, missing: 1, reasons: [`the tests on Redis: ${reason}`] };
if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
