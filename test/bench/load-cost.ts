import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { HERE, nodeFor } from './processes.js';
import type { SubjectName } from './subjects/index.js';
import type { Measured } from './worker.js';

/** Row for loading a module in a process that has loaded nothing yet. */
export const IMPORT = { title: 'import', unit: 'ms' } as const;

/** Row for the code that a page loads to create a filesystem, write and read; Node's modules are not counted. */
export const BUNDLE = { title: 'bundle, minified, with gzip', unit: 'KB' } as const;

const PROGRAMS: Partial<Record<SubjectName, string>> = {
  scratchfs: "import { createFileSystem } from 'scratchfs'; const fs = createFileSystem();",
  memfs: "import { fs } from 'memfs';",
  '@zenfs/core':
    "import { configureSingle, InMemory, fs } from '@zenfs/core'; await configureSingle({ backend: InMemory });",
  'just-bash': "import { InMemoryFs } from 'just-bash'; const fs = new InMemoryFs();",
};

/** The floor is an empty module. */
const MODULES: Partial<Record<SubjectName, string>> = {
  'tree floor': './.cache/empty.mjs',
  scratchfs: './.cache/scratchfs.mjs',
  memfs: 'memfs',
  '@zenfs/core': '@zenfs/core',
  'just-bash': 'just-bash',
  '@platformatic/vfs': '@platformatic/vfs',
};

const script = (module: string): string => `
  const before = process.cpuUsage();
  await import(${JSON.stringify(module)});
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) * 1000);
  process.exit();
`;

/** Builds the published package with its modules in one, not minified; and the floor. */
export async function buildModule(): Promise<void> {
  mkdirSync(`${HERE}.cache`, { recursive: true });
  writeFileSync(`${HERE}.cache/empty.mjs`, '');
  await build({
    stdin: { contents: "export * from 'scratchfs';", resolveDir: HERE },
    outfile: `${HERE}.cache/scratchfs.mjs`,
    bundle: true,
    platform: 'neutral',
    format: 'esm',
    target: 'es2022',
    conditions: ['@scratchfs/source'],
    logLevel: 'error',
  });
}

export async function runBundle(name: SubjectName): Promise<Measured | string> {
  const program = PROGRAMS[name];
  if (program === undefined) return '—';
  const { outputFiles } = await build({
    stdin: { contents: `${program} console.log(fs.writeFile('/a', 'b'), fs.readFile('/a'));`, resolveDir: HERE },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@scratchfs/source'],
    external: builtinModules.flatMap((module) => [module, `node:${module}`]),
    logLevel: 'error',
  });
  return { figure: gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length, isSharing: false };
}

export async function runImport(name: SubjectName): Promise<Measured | string> {
  const module = MODULES[name];
  if (module === undefined) return '—';
  const options = ['--no-warnings', '--input-type=module', '--eval', script(module)];
  const { stdout } = await promisify(execFile)(nodeFor(name) as string, options, { cwd: HERE });
  return { figure: Number(stdout), isSharing: false };
}
