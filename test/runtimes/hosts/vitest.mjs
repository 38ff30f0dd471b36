import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache, fileOf, here, NotHere, run } from './process.mjs';

async function vitest(project, env = {}) {
  const report = join(cache, `${project}.json`);
  rmSync(report, { force: true });
  const args = [
    'run',
    '--project',
    project,
    '--reporter=json',
    `--outputFile=${report}`,
    '--config',
    'vitest.config.ts',
  ];
  const program = fileOf(['vitest'], 'vitest.mjs');
  let failure;
  try {
    await run(process.execPath, [program, ...args, '--root', here], { env });
  } catch (error) {
    failure = error;
  }
  if (!existsSync(report)) throw failure ?? new Error('vitest wrote no report');
  const files = JSON.parse(readFileSync(report, 'utf8')).testResults;
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const unloaded = files.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
  if (unloaded.length > 0) throw new Error(unloaded.map(({ message }) => message).join('\n'), { cause: failure });
  if (failure && !tests.some(({ status }) => status === 'failed')) throw failure;
  return tests.map((test) => ({
    name: [...test.ancestorTitles, test.title].join(' > '),
    state: test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped',
    ms: Math.round(test.duration ?? 0),
    error: test.failureMessages?.join('\n'),
  }));
}

export async function thisNode() {
  return { version: process.version, tests: await vitest('node') };
}

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

// No browser can be downloaded by npm alone; Debian's is installed if that is allowed.
function findChromium() {
  const known = [process.env.SCRATCHFS_CHROMIUM, ...browsers].find((path) => path && existsSync(path));
  if (known) return known;
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) throw new NotHere('no Chromium; install it or name it in SCRATCHFS_CHROMIUM');
  console.log('  installing chromium with apt-get…');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    execFileSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: 15 * 60_000 });
  try {
    apt('update', '-qq');
    apt('install', '-qq', '-y', '--no-install-recommends', 'chromium');
  } catch (error) {
    throw new NotHere(`no Chromium, and apt-get could not install it: ${String(error).split('\n')[0]}`);
  }
  return browsers[0];
}

export async function chromium() {
  const program = findChromium();
  const version = (await run(program, ['--version'])).trim();
  return { version, tests: await vitest('chromium', { SCRATCHFS_CHROMIUM: program }) };
}
