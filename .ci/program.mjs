import { existsSync, writeFileSync } from 'node:fs';
import { run } from './lib.mjs';

/**
 * Makes sure that a program is installed for the tests, and prints its version.
 *
 *     node .ci/program.mjs PACKAGE PROGRAM VERSION_OPTION PURPOSE
 */
const [name, program, option, purpose] = process.argv.slice(2);

async function version() {
  const { code, output } = await run(program, [option], { quiet: true }).catch(() => ({ code: 1, output: '' }));
  return code === 0 ? output.trim() : undefined;
}

async function install() {
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) return `there is no ${name} on this machine`;
  console.log(`  installing ${name} with apt-get…`);
  const apt = (...args) =>
    run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true, timeoutMs: 240_000 });
  await apt('update', '-qq');
  const { code, output } = await apt('install', '-qq', '-y', '--no-install-recommends', name);
  return code === 0 ? undefined : `apt-get could not install ${name}: ${output.trim().split('\n').at(-1)}`;
}

const problem = (await version()) === undefined ? await install() : undefined;
const found = await version();
const reason = problem ?? (found === undefined ? `${name} does not start` : undefined);
console.log(reason === undefined ? `  ${found}` : `  ${reason}`);
const counts =
  reason === undefined
    ? { passed: 1, failed: 0, skipped: 0 }
    : { passed: 0, failed: 0, skipped: 1, missing: 1, reasons: [`${purpose}: ${reason}`] };
if (process.env.SCRATCHFS_RESULTS) writeFileSync(process.env.SCRATCHFS_RESULTS, JSON.stringify(counts));
