import { basename, dirname, join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { run } from './lib.mjs';

/**
 * The benchmarks. Further arguments go to the script; `needsBuild` marks those that measure the built packages, and
 * `isCompiledFirst` those that are compiled before, so that their process holds neither the sources nor a compiler.
 */
export const benchmarks = [
  {
    name: 'memory',
    measures: 'the filesystem in memory beside memfs, @zenfs/core, just-bash, node:fs on tmpfs and two floors',
    options: '--only <row>, --subjects <a,b>, --rounds <n>, --large, --keep <file>, --markdown <file>, --seconds <n>',
    script: 'test/bench/main.ts',
  },
  {
    name: 'growth',
    measures: 'single operations against the size of the tree, as a picture',
    options: '<file.svg>, --keep <file>',
    script: 'test/bench/growth.ts',
  },
  {
    name: 'operations',
    measures: 'single operations in memory and through the layers, beside those of a commit',
    options: '<commit>, --rounds <n>, --only <group>',
    script: 'test/bench/operations.ts',
  },
  {
    name: 'remote',
    measures: 'the disk, Redis and S3 beside raw clients and unstorage, on the built packages',
    options: 'disk | redis | s3, <rounds>',
    script: 'test/bench/remote.ts',
    needsBuild: true,
  },
  {
    name: 'browser',
    measures: 'IndexedDB in Chromium beside plain transactions, private files and unstorage',
    options: '<operations>',
    script: 'test/browser/bench.ts',
  },
  {
    name: 'workspace',
    measures: 'an attempt on a directory of 50,000 files, beside what its design allows, on the built packages',
    options: '<store>',
    script: 'test/bench/workspace.ts',
    needsBuild: true,
    isCompiledFirst: true,
  },
  {
    name: 'startup',
    measures: 'the start of the built programs scratchfs and scratchfs-mcp, in processor time',
    options: '<directory>, default that of workspace, <rounds>',
    script: 'test/bench/startup.ts',
    needsBuild: true,
  },
  {
    name: 'mcp',
    measures: 'the built MCP server on 50,000 files: first result, reads, writes, grep, memory',
    options: '<directory>, default that of workspace, <starts>',
    script: 'test/bench/mcp.ts',
    needsBuild: true,
  },
  {
    name: 'commands',
    measures: 'commands on an attempt: the first, later ones, one that removes half of the tree, and its undo',
    options: '<files>, default 50,000',
    script: 'test/bench/commands.ts',
  },
  {
    name: 's3',
    measures: 'requests and prices of S3 beside one object per file and unstorage',
    options: '',
    script: 'test/s3/bench/main.ts',
  },
  {
    name: 'azure',
    measures: 'requests of Azure Blob Storage beside one blob per file and unstorage, on azurite',
    options: '',
    script: 'test/azure/bench.ts',
  },
  {
    name: 'dynamodb',
    measures: 'requests and capacity units of DynamoDB beside one item per file, on dynalite',
    options: '',
    script: 'test/dynamodb/bench.ts',
  },
  {
    name: 'sql',
    measures: 'SQLite and PostgreSQL beside one row for each file',
    options: '<operations>',
    script: 'test/sql/bench.ts',
  },
  {
    name: 'cloudflare',
    measures: 'what R2 and Durable Objects charge for, beside the raw store and unstorage',
    options: '',
    script: 'test/cloudflare/bench/main.ts',
  },
  {
    name: 'history',
    measures: 'versions beside isomorphic-git and git',
    options: '<part>',
    script: 'test/git/bench.ts',
  },
];

const [wanted, ...rest] = process.argv.slice(2);
const benchmark = benchmarks.find(({ name }) => name === wanted);
if (benchmark === undefined) {
  const rows = benchmarks.map(
    ({ name, measures, options }) => `  ${name.padEnd(8)}  ${measures}${options && `\n            ${options}`}`,
  );
  console.log(`npm run bench -- <benchmark> [options]\n\n${rows.join('\n')}`);
  process.exit(wanted === undefined ? 0 : 1);
}
await install();
if (benchmark.needsBuild) {
  const code = await build();
  if (code !== 0) process.exit(code);
}
const { script } = benchmark;
const isCompiled = benchmark.isCompiledFirst === true;
const args = isCompiled ? [await compiled(script)] : ['--conditions=@scratchfs/source', '--import', 'tsx', script];
process.exit((await run(process.execPath, [...args, ...rest])).code);

/** Compiles a script into a folder beside it, so that it finds the same packages, and returns its path. */
async function compiled(script) {
  const { build: bundle } = await import('esbuild');
  const outfile = join(dirname(script), 'dist', basename(script).replace(/\.ts$/, '.mjs'));
  await bundle({ entryPoints: [script], outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' });
  return outfile;
}
