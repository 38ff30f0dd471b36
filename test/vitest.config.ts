import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));
const moduleCache = process.env['SCRATCHFS_MODULE_CACHE'];
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
  // The timeouts only end what hangs: two cores of a slow machine are shared by everything that runs.
  test: {
    name,
    include: [include],
    setupFiles: [`${root}test/seed.ts`],
    exclude: ['**/node_modules/**', '**/dist/**', ...exclude],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

/** Test files share loaded modules, because loading takes longer than most tests. They must restore global state. */
const shared = <P extends { readonly test: object }>(one: P) => ({ ...one, test: { ...one.test, isolate: false } });

const s3 = project('s3', 'test/s3/**/*.test.ts');
const azure = project('azure', 'test/azure/**/*.test.ts');
const cli = project('cli', 'test/cli/**/*.test.ts');
const SLICES = 'test/faults/*slices.test.ts';
const slices = project('slices', SLICES);

/**
 * One project per kind of test. `pnpm vitest run --project unit` runs the tests beside the sources. `long` has the
 * tests beside the sources that take seconds; `npm run check` leaves them out. Most other projects have the name of
 * their folder in `test/`; the files of `test/faults` that measure the event loop are the project `slices`.
 */
export default defineConfig({
  root,
  test: {
    maxWorkers: '100%',
    // Set by `.ci/runner.mjs`.
    experimental: moduleCache === undefined ? {} : { fsModuleCache: true, fsModuleCachePath: moduleCache },
    projects: [
      shared(project('unit', 'packages/*/src/**/*.test.ts', LONG)),
      project('long', LONG),
      shared(project('structure', 'test/structure/**/*.test.ts')),
      project('docs', 'test/docs/**/*.test.ts'),
      project('packaging', 'test/packaging/**/*.test.ts'),
      project('differential', 'test/differential/**/*.test.ts'),
      // The program is bundled once for all of these tests.
      { ...cli, test: { ...cli.test, globalSetup: [`${root}test/cli/bundle.ts`] } },
      project('clients', 'test/clients/**/*.test.ts'),
      // Its S3 client has modules for bundlers that do not run in Node unchanged.
      { ...project('cloudflare', 'test/cloudflare/**/*.test.ts'), ...plain },
      project('mcp', 'test/mcp/**/*.test.ts'),
      project('examples', 'examples/**/*.test.ts'),
      project('browser', 'test/browser/**/*.test.ts'),
      project('redis', 'test/redis/**/*.test.ts'),
      project('sql', 'test/sql/**/*.test.ts'),
      { ...azure, test: { ...azure.test, globalSetup: [`${root}test/azure/global-setup.ts`] } },
      { ...project('dynamodb', 'test/dynamodb/**/*.test.ts'), ...plain },
      // One server for all of these tests. The SDK's modules for bundlers do not run in Node unchanged.
      { ...s3, ...plain, test: { ...s3.test, globalSetup: [`${root}test/s3/global-setup.ts`] } },
      project('attacks', 'test/attacks/**/*.test.ts'),
      project('faults', 'test/faults/**/*.test.ts', SLICES),
      // These tests measure CPU time, which is longer if other work runs on the second core.
      { ...slices, test: { ...slices.test, maxWorkers: 1 } },
    ],
  },
});
