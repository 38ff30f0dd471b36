import { createRequire } from 'node:module';

/** Settings of one group; the mutated files and the tests come from the command line, see run.mjs. */
export default {
  plugins: [createRequire(import.meta.url).resolve('@stryker-mutator/vitest-runner')],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  ignorePatterns: ['dist', '.cache', 'examples'],
  tempDirName: '.cache/stryker',
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, reportTests: false },
};
