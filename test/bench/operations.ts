import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { median } from './median.js';

/**
 * `npm run bench -- operations <commit>`: single operations in memory and through the layers, beside those of a commit.
 * Each round starts a process for each group on the commit, on the commit again, and on the working tree, in turns.
 * A row is slower if its median is above the commit's by more than 5 % or twice the difference between the two runs of
 * the commit, whichever is larger. `--rounds 5` sets the number of rounds, `--only text` selects groups.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string', default: '' } },
});
const [commit] = positionals;
if (commit === undefined) {
  console.error('Name the commit to compare with: npm run bench -- operations <commit>');
  process.exit(2);
}

const TOLERANCE = 0.05;
const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..', '..');
const run = promisify(execFile);

/** Resolves our packages to the sources of a tree, and their dependencies to what is installed here. */
const sourcesOf = (tree: string): Plugin => ({
  name: 'sources',
  setup({ onResolve }) {
    onResolve({ filter: /^(@scratchfs\/|scratchfs(\/|$))/ }, ({ path }) => {
      const [, name, entry = ''] = /^(?:@scratchfs\/)?([^/]+)(\/.*)?$/.exec(path) as RegExpExecArray;
      const folder = join(tree, 'packages', name as string);
      const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return { path: join(folder, exports[`.${entry}`]['@scratchfs/source']) };
    });
  },
});

async function bundle(tree: string, name: string): Promise<string> {
  const outfile = join(here, '.cache', `operations-${name}.mjs`);
  await build({
    entryPoints: [join(here, 'operations-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [sourcesOf(tree)],
    nodePaths: readdirSync(join(root, 'packages')).map((folder) => join(root, 'packages', folder, 'node_modules')),
    logLevel: 'error',
  });
  return outfile;
}

/** Bundles the benchmark with the sources of the commit. */
async function bundleCommit(): Promise<string> {
  const tree = join(here, '.cache', 'commit');
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  try {
    await run('sh', ['-c', 'git archive "$1" packages | tar -x -C "$2"', 'sh', commit as string, tree], { cwd: root });
    return await bundle(tree, 'commit');
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const before = await bundleCommit();
const after = await bundle(root, 'now');

type Figures = Record<string, number>;
const measure = async (worker: string, group: string): Promise<Figures> =>
  JSON.parse((await run(process.execPath, ['--no-warnings', worker, group])).stdout);

const { stdout } = await run(process.execPath, [after]);
const groups = (JSON.parse(stdout) as string[]).filter((group) => group.includes(values.only));
const rows = new Map<string, { before: number[]; again: number[]; after: number[] }>();
const rounds = Number(values.rounds);
for (let round = 0; round < rounds; round++) {
  for (const group of groups) {
    process.stderr.write(`round ${round + 1} of ${rounds}: ${group}\n`);
    const turns = [
      ['before', before],
      ['after', after],
      ['again', before],
    ] as const;
    for (let turn = 0; turn < turns.length; turn++) {
      const [column, worker] = turns[(turn + round) % turns.length] as (typeof turns)[number];
      for (const [row, figure] of Object.entries(await measure(worker, group))) {
        if (!rows.has(row)) rows.set(row, { before: [], again: [], after: [] });
        rows.get(row)?.[column].push(figure);
      }
    }
  }
}

const percent = (ratio: number): string => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
let slower = 0;
console.log('row'.padEnd(30), commit.padStart(9), 'again'.padStart(9), 'now'.padStart(9), 'change'.padStart(9));
for (const [row, figures] of rows) {
  const first = median(figures.before);
  const again = median(figures.again);
  const now = median(figures.after);
  const base = median([...figures.before, ...figures.again]);
  const allowed = Math.max(TOLERANCE, 2 * Math.abs(first / again - 1));
  const isSlower = now / base - 1 > allowed;
  if (isSlower) slower += 1;
  const cells = [first, again, now].map((figure) => figure.toFixed(0).padStart(9));
  console.log(row.padEnd(30), ...cells, percent(now / base).padStart(9), isSlower ? ' slower' : '');
}
console.log(
  `\nNanoseconds of CPU per call, medians of ${rounds} interleaved rounds; ${slower} of ${rows.size} rows slower.`,
);
