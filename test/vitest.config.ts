import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));
const conditions = ['@scratchfs/source'];

const resolve = {
  resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] },
  ssr: { resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] } },
};

const project = (name: string, ...include: string[]) => ({
  ...resolve,
  root,
  // Wall time says little where two cores are shared.
  test: { name, include, testTimeout: 30_000, hookTimeout: 60_000, exclude: ['**/node_modules/**', '**/dist/**'] },
});

/**
 * One project a kind of test. `pnpm vitest run --project unit` runs what lies beside the sources;
 * every folder of `test/` that vitest runs is a project of its own name.
 */
export default defineConfig({
  root,
  test: {
    projects: [
      project('unit', 'packages/*/src/**/*.test.ts'),
      project('structure', 'test/structure/**/*.test.ts'),
      project('docs', 'test/docs/**/*.test.ts'),
      project('packaging', 'test/packaging/**/*.test.ts'),
      project('differential', 'test/differential/**/*.test.ts'),
      project('examples', 'examples/**/*.test.ts'),
      project('faults', 'test/faults/**/*.test.ts'),
    ],
  },
});
