import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));
const conditions = ['@scratchfs/source'];

const resolve = {
  resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] },
  ssr: { resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] } },
};

const plain = {
  resolve: { conditions: [...conditions, 'node', 'development|production'] },
  ssr: { resolve: { conditions: [...conditions, 'node', 'development|production'] } },
};

const LONG = 'packages/*/src/**/*.long.test.ts';

const project = (name: string, include: string, ...exclude: string[]) => ({
  ...resolve,
  root,
  // Wall time says little where two cores are shared.
  test: {
    name,
    include: [include],
    setupFiles: [`${root}test/seed.ts`],
    exclude: ['**/node_modules/**', '**/dist/**', ...exclude],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});

/** Files share what they have loaded: it costs more than most of them do, and none of them leaves anything behind. */
const shared = <P extends { readonly test: object }>(one: P) => ({ ...one, test: { ...one.test, isolate: false } });

const s3 = project('s3', 'test/s3/**/*.test.ts');
const faults = project('faults', 'test/faults/**/*.test.ts');

/**
 * One project a kind of test. `pnpm vitest run --project unit` runs what lies beside the sources;
 * `long` is those of them that take seconds and that `npm run check` leaves out; every folder of `test/` that vitest
 * runs is a project of its own name.
 */
export default defineConfig({
  root,
  test: {
    maxWorkers: '100%',
    projects: [
      shared(project('unit', 'packages/*/src/**/*.test.ts', LONG)),
      project('long', LONG),
      shared(project('structure', 'test/structure/**/*.test.ts')),
      project('docs', 'test/docs/**/*.test.ts'),
      project('packaging', 'test/packaging/**/*.test.ts'),
      project('differential', 'test/differential/**/*.test.ts'),
      project('clients', 'test/clients/**/*.test.ts'),
      project('examples', 'examples/**/*.test.ts'),
      project('redis', 'test/redis/**/*.test.ts'),
      // One server for all of them. The SDK's modules for bundlers do not run as they are.
      { ...s3, ...plain, test: { ...s3.test, globalSetup: [`${root}test/s3/global-setup.ts`] } },
      project('attacks', 'test/attacks/**/*.test.ts'),
      // They measure CPU time, which a neighbour on the other core makes longer.
      { ...faults, test: { ...faults.test, maxWorkers: 1 } },
    ],
  },
});
