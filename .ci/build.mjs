import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleProgram } from './bundle-program.mjs';
import { bin, cache, root, run, seconds } from './lib.mjs';

const packages = readdirSync(join(root, 'packages'))
  .map((name) => join(root, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')));
const declarations = join(cache, 'declarations');
const stamp = join(cache, 'build-stamp');

const settingsOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).tsup;

// One hash over all sources: a declaration may name types of lower packages.
function sourceHash() {
  const files = [
    'tsconfig.json',
    'pnpm-lock.yaml',
    '.ci/build.mjs',
    '.ci/bundle-program.mjs',
    '.ci/tsconfig.declarations.json',
  ];
  for (const folder of packages) {
    const sources = readdirSync(join(folder, 'src'), { recursive: true }).filter((file) =>
      /(?<!\.test)\.ts$/.test(file),
    );
    files.push(...['package.json', ...sources.map((file) => join('src', file))].map((file) => join(folder, file)));
  }
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\0${readFileSync(resolve(root, file))}\0`);
  return hash.digest('hex');
}

/** Builds one package after another with its own settings, in this process: starting tsup costs more than its work. */
async function writeModules() {
  const { build: tsup } = await import('tsup');
  for (const folder of packages) {
    process.chdir(folder);
    // esbuild keeps the working directory of its first load.
    const esbuildOptions = (options) => Object.assign(options, { absWorkingDir: folder });
    await tsup({ ...settingsOf(folder), config: false, silent: true, esbuildOptions });
  }
  process.chdir(root);
  await bundleProgram(join(root, 'packages', 'cli', 'dist'));
}

/** Compiles the declarations of all packages in one run. */
async function compileDeclarations() {
  rmSync(declarations, { recursive: true, force: true });
  const { code, output } = await run(bin('tsc'), ['-p', '.ci/tsconfig.declarations.json'], { quiet: true });
  if (code !== 0) throw new Error(`The declarations could not be written:\n${output}`);
}

/** Copies the declarations that a package's entry points need to where its modules are. */
function copyDeclarations(folder) {
  const from = join(declarations, relative(join(root, 'packages'), folder), 'src');
  const needed = settingsOf(folder).entry.map((entry) => entry.replace(/^src\/(.*)\.ts$/, '$1.d.ts'));
  for (const file of needed) {
    const text = readFileSync(join(from, file), 'utf8');
    for (const [, specifier] of text.matchAll(/['"](\.{1,2}\/[^'"]*)\.js['"]/g)) {
      const next = join(dirname(file), `${specifier}.d.ts`);
      if (!needed.includes(next) && existsSync(join(from, next))) needed.push(next);
    }
    cpSync(join(from, file), join(folder, 'dist', file));
  }
}

/** Builds `packages/*\/dist` unless it matches the sources. Resolves to the exit code. */
export async function build() {
  const started = performance.now();
  const hash = sourceHash();
  const isBuilt = (folder) => existsSync(join(folder, 'dist'));
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash && packages.every(isBuilt)) {
    console.log(`${packages.length} packages are up to date`);
    return 0;
  }
  rmSync(stamp, { force: true });
  try {
    await Promise.all([writeModules(), compileDeclarations()]);
    packages.forEach(copyDeclarations);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, hash);
  console.log(`${packages.length} packages built, ${seconds(started)}`);
  return 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.exit(await build());
