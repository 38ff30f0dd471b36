import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleProgram } from '../../.ci/bundle-program.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The program as tests start it: bundled from the sources, with a file for each module that a command loads. */
export const PROGRAM = join(root, 'packages', 'cli', '.cache', 'bin.js');

/** Bundles the program before the tests, in place of a build of all packages; once for all projects of a run. */
export default async function setup(): Promise<void> {
  if (process.env['SCRATCHFS_TEST_PROGRAM'] !== undefined) return;
  process.env['SCRATCHFS_TEST_PROGRAM'] = PROGRAM;
  rmSync(dirname(PROGRAM), { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: ['packages/cli/src/bin.ts'],
    outdir: 'packages/cli/.cache',
    entryNames: '[name]',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@scratchfs/source'],
    external: ['ioredis', '@aws-sdk/*', '@azure/*', '@clack/prompts'],
    logLevel: 'error',
  });
  await bundleProgram(dirname(PROGRAM));
  if (!existsSync(PROGRAM)) throw new Error('The program was not bundled');
}
