import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// No `@scratchfs/source` here: these tests use the packages as built.
export default defineConfig({
  root,
  test: {
    include: ['src/suites.test.ts'],
    testTimeout: 20_000,
    projects: [
      { extends: true, test: { name: 'node' } },
      {
        extends: true,
        cacheDir: '.cache/vite',
        optimizeDeps: { include: ['@scratchfs/core > msgpackr/index-no-eval'] },
        test: {
          name: 'chromium',
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { executablePath: process.env.SCRATCHFS_CHROMIUM ?? '/usr/bin/chromium', args: flags },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
