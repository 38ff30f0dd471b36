import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../vitest.config.js';
import { everyBranch, forTests, LINES_PERCENT, measured, whole } from './groups.js';

const exact = Object.values(everyBranch).flat();

/**
 * Runs the tests beside the sources and records which code they cover: `npm run campaign -- tests/coverage`.
 * Tests of CPU time are left out: recording takes time too.
 */
export default mergeConfig(
  base,
  defineConfig({
    test: {
      testNamePattern: '^(?!.*(takes less than|event loop))',
      coverage: {
        enabled: true,
        provider: 'v8',
        include: [...measured],
        exclude: [...forTests],
        reporter: [['text', { skipFull: true }], 'json-summary', 'json'],
        reportsDirectory: '.cache/coverage',
        reportOnFailure: true,
        thresholds: {
          lines: LINES_PERCENT,
          ...Object.fromEntries(whole.map((pattern) => [pattern, { lines: LINES_PERCENT }])),
          ...Object.fromEntries(exact.map((pattern) => [pattern, { branches: 100, lines: 100 }])),
        },
      },
    },
  }),
);
