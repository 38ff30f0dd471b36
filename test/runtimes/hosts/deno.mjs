import { bundle } from './bundle.mjs';
import { fileOf, readReport, run } from './process.mjs';

const packages = {
  'linux-x64': ['@deno/linux-x64-glibc'],
  'linux-arm64': ['@deno/linux-arm64-glibc'],
  'darwin-x64': ['@deno/darwin-x64'],
  'darwin-arm64': ['@deno/darwin-arm64'],
};

/** Runs the suites in Deno without any permission. */
export async function deno() {
  const program = fileOf(packages[`${process.platform}-${process.arch}`] ?? [], 'deno', 'deno');
  const version = (await run(program, ['--version'])).split('\n')[0];
  const args = ['run', '--no-prompt', '--no-config', '--no-lock', '--no-remote', await bundle('main-console')];
  const env = { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
  return { version, tests: readReport(await run(program, args, { env })) };
}
