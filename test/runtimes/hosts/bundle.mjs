import { join } from 'node:path';
import { build } from 'esbuild';
import { cache, here } from './process.mjs';

const made = new Map();

/** Bundles an entry with the built packages, as a bundler for a Worker or a browser does. Resolves to the file. */
export function bundle(entry) {
  if (!made.has(entry)) made.set(entry, make(entry));
  return made.get(entry);
}

async function make(entry) {
  const outfile = join(cache, `${entry}.mjs`);
  await build({
    entryPoints: [join(here, 'src', `${entry}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['workerd', 'worker'],
    logLevel: 'error',
  });
  return outfile;
}
