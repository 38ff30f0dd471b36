import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// A classic script, so that the page also works when opened as a file.
await build({
  entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
  outfile: fileURLToPath(new URL('dist/page.js', import.meta.url)),
  bundle: true,
  minify: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  conditions: ['@scratchfs/source'],
  logLevel: 'warning',
});
