import { allLimits } from '../os-sandbox/limits.js';
import { environmentOf, runConfined } from '../os-sandbox/run-confined.js';

const confinement = {
  bindings: [],
  network: false,
  limits: allLimits(),
  environment: environmentOf({ TERM: 'xterm' }),
  directory: '/tmp',
  terminal: true,
};
const argv = ['/bin/sh', '-c', process.argv[2] as string];
const run = await runConfined(argv, confinement, { timeoutMs: 120_000, signal: undefined });
process.stdout.write(`end ${run.exitCode} ${run.signal}\n`);
