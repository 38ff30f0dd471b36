import { existsSync, writeFileSync } from 'node:fs';
import { run } from './lib.mjs';

/** Makes sure that bubblewrap is installed for the tests of commands in an OS sandbox, and prints its version. */
async function version() {
  const { code, output } = await run('bwrap', ['--version'], { quiet: true }).catch(() => ({ code: 1, output: '' }));
  return code === 0 ? output.trim() : undefined;
}

async function install() {
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) return 'there is no bubblewrap on this machine';
  console.log('  installing bubblewrap with apt-get…');
  const apt = (...args) =>
    run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true, timeoutMs: 240_000 });
  await apt('update', '-qq');
  const { code, output } = await apt('install', '-qq', '-y', '--no-install-recommends', 'bubblewrap');
  return code === 0 ? undefined : `apt-get could not install bubblewrap: ${output.trim().split('\n').at(-1)}`;
}

const problem = (await version()) === undefined ? await install() : undefined;
const found = await version();
const reason = problem ?? (found === undefined ? 'bubblewrap does not start' : undefined);
console.log(reason === undefined ? `  ${found}` : `  ${reason}`);
const counts =
  reason === undefined
    ? { passed: 1, failed: 0, skipped: 0 }
    : { passed: 0, failed: 0, skipped: 1, missing: 1, reasons: [`commands in an OS sandbox: ${reason}`] };
if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
