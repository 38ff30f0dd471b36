import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Bundles a program of this folder into one file, because it would spend most of its short life on loading modules.
 * Returns the path of the file.
 */
export async function bundleProgram(name: string, folder: string): Promise<string> {
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL(`./${name}`, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@scratchfs/source'],
    // Storages that the programs do not use, and that may not be installed.
    external: ['@scratchfs/redis', '@scratchfs/s3'],
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}
