import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Maps every entry point of our packages to the sources of this copy: links of an installation lead to another one. */
const alias = readdirSync(join(root, 'packages')).flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, string | { '@scratchfs/source': string }>;
  };
  return Object.entries(exports).flatMap(([key, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            find: new RegExp(`^${name}${key.slice(1)}$`),
            replacement: join(root, 'packages', folder, target['@scratchfs/source']),
          },
        ],
  );
});

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    include: (process.env.MUTATION_TESTS ?? 'packages/core/src/**/*.test.ts').split(','),
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.long.test.ts'],
    setupFiles: [`${root}test/seed.ts`],
    testNamePattern: '^(?!.*takes less than)',
    testTimeout: 30_000,
  },
});
