import { createRequire } from 'node:module';

/** Of one group: what is changed and which tests look at it comes with the command, see run.mjs. */
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
