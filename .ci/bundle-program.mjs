import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './lib.mjs';

/**
 * Modules that the bundle leaves to the program in modules: they need packages that are loaded from where they are
 * installed. `packages/cli/src/bundle.ts` starts that program for the command lines that name them.
 */
const NOT_BUNDLED =
  /^(@scratchfs\/(azure|dynamodb|mcp|redis|s3|sql)|scratchfs|\.\/snapshot-file\.js|\.\.\/commands\/(copy|mcp|try|(import|export)-\w+)\.js)$/;

/**
 * Writes the command line program as one file, `program.cjs`, and beside it the licences of the packages in it. The
 * file evaluates to a function, so that its compiled code can be kept (`packages/cli/src/bundle.ts`).
 */
export async function bundleProgram(folder) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['packages/cli/src/program.ts'],
    outfile: join(folder, 'program.cjs'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    conditions: ['@scratchfs/source'],
    define: { 'import.meta.url': 'programUrl' },
    banner: { js: '(function (require, programUrl) { "use strict"; const module = { exports: {} };' },
    footer: { js: '})' },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'error',
    plugins: [
      {
        name: 'not-bundled',
        setup({ onResolve }) {
          onResolve({ filter: NOT_BUNDLED }, ({ kind, path }) =>
            kind === 'dynamic-import' ? { path, external: true } : undefined,
          );
        },
      },
    ],
  });
  const { inputs } = Object.values(metafile.outputs)[0];
  const files = Object.keys(inputs).filter((file) => file.includes('node_modules/') && inputs[file].bytesInOutput > 0);
  const packages = new Set(files.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(join(root, file))[0]));
  writeFileSync(join(folder, 'program.notices.txt'), [...packages].sort().map(licenceOf).join('\n'));
}

function licenceOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence to put beside the bundle`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
