import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { link, rename, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspace } from '@scratchfs/workspace';
import { grep } from 'scratchfs/search';
import { median } from './median.js';

// An attempt on a directory of 50,000 files, 250 MB. The directory is made once and kept in the temporary directory.
// Usage: npm run bench -- workspace [memory:]. Figures are printed with their limits, and two of them with the time of
// the bare system calls that they need.

const DIRECTORIES = 2_500;
const FILES_PER_DIRECTORY = 20;
const FILE_BYTES = 5_000;

const store = process.argv[2];
const directory = join(tmpdir(), 'scratchfs-bench-workspace');
const state = mkdtempSync(join(tmpdir(), 'scratchfs-bench-state-'));
process.env['XDG_STATE_HOME'] = state;

makeDirectory();
try {
  await measure();
} finally {
  rmSync(state, { recursive: true, force: true });
}

function makeDirectory(): void {
  const done = join(directory, 'd0', 'done');
  if (existsSync(done)) return;
  rmSync(directory, { recursive: true, force: true });
  const old = Date.now() / 1000 - 60;
  for (let i = 0; i < DIRECTORIES; i++) {
    const folder = join(directory, `d${i % 50}`, `e${i}`);
    mkdirSync(folder, { recursive: true });
    for (let j = 0; j < FILES_PER_DIRECTORY; j++) {
      const line = `const value${j} = compute(${i}, ${j}); // a line of a source file\n`;
      writeFileSync(join(folder, `f${j}.ts`), line.repeat(Math.ceil(FILE_BYTES / line.length)).slice(0, FILE_BYTES));
      utimesSync(join(folder, `f${j}.ts`), old, old);
    }
  }
  writeFileSync(done, '');
}

/** A duration and the processor time in it, in milliseconds. Other programs change the processor time less. */
interface Span {
  readonly ms: number;
  readonly cpuMs: number;
}

function report(what: string, { ms, cpuMs }: Span, allowed?: number): void {
  const [wall, cpu] = [ms, cpuMs].map((figure) => (figure < 10 ? figure.toFixed(2) : figure.toFixed(0)).padStart(7));
  const limit = allowed === undefined ? '' : `, at most ${allowed}${ms > allowed ? ' (exceeded)' : ''}`;
  console.log(`${what.padEnd(44)} ${wall} ms, processor ${cpu} ms${limit}`);
}

/** Stores a content and a record as an edit does: each written aside, one renamed, one linked exclusively. */
async function bareEdit(i: number): Promise<void> {
  const path = (name: string): string => join(state, `${name}-${i}`);
  await writeFile(path('content-aside'), new Uint8Array(FILE_BYTES), { flag: 'wx', mode: 0o600 });
  await rename(path('content-aside'), path('content'));
  await writeFile(path('record-aside'), new Uint8Array(1_000), { flag: 'wx', mode: 0o600 });
  await link(path('record-aside'), path('record'));
  await unlink(path('record-aside'));
}

/** Looks at each entry under a directory. */
function bareLook(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    lstatSync(inside, { bigint: true });
    if (entry.isDirectory()) bareLook(inside);
  }
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [Span, T]> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return [{ ms: performance.now() - start, cpuMs: (user + system) / 1000 }, value];
}

async function medianOf(times: number, work: (i: number) => Promise<unknown>): Promise<Span> {
  const spans: Span[] = [];
  for (let i = 0; i < times; i++) spans.push((await timed(() => work(i)))[0]);
  return { ms: median(spans.map(({ ms }) => ms)), cpuMs: median(spans.map(({ cpuMs }) => cpuMs)) };
}

async function measure(): Promise<void> {
  const options = store === undefined ? {} : { store };
  const file = (i: number): string => `/d${i % 50}/e${i}/f${i % FILES_PER_DIRECTORY}.ts`;
  const [open, { workspace, attempt }] = await timed(async () => {
    const workspace = await openWorkspace(directory, options);
    const attempt = await workspace.attempt();
    await attempt.fileSystem.readText(file(7));
    return { workspace, attempt };
  });
  report('open and first read', open, 200);
  const fs = attempt.fileSystem;

  report('an edit of a file (median of 200)', await medianOf(200, (i) => fs.appendFile(file(i), 'x')), 5);
  report('  the bare calls of an edit', await medianOf(200, bareEdit));
  report('undo (median of 190)', await medianOf(190, () => attempt.undo()), 5);
  const [diff, { paths }] = await timed(() => attempt.diff());
  report(`diff after ${paths.length} edits`, diff, 50);
  report('rename of a directory of 1,000 files', (await timed(() => fs.rename('/d1', '/moved')))[0], 5);
  report('  bare looks at its entries', (await timed(async () => bareLook(join(directory, 'd2'))))[0]);
  report('its undo', (await timed(() => attempt.undo()))[0], 5);

  const [walk, entries] = await timed(async () => {
    let count = 0;
    for await (const _ of fs.walk('/')) count += 1;
    return count;
  });
  report(`walk of ${entries} entries`, walk, 2_000);
  const [found, matches] = await timed(async () => {
    let count = 0;
    for await (const _ of grep(fs, 'compute(2499, 19)', { maxMatches: 1_000_000 })) count += 1;
    return count;
  });
  report(`grep through all, ${matches} matches`, found, 4_000);
  console.log(`resident memory after it: ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB, at most 300`);

  while ((await attempt.head()) < 1_000) await fs.writeFile('/d0/new', String(await attempt.head()));
  const { name } = attempt;
  if (store !== undefined) return workspace.close();
  await workspace.close();
  const [reopen] = await timed(async () => {
    const again = await openWorkspace(directory, options);
    await (await again.attempt(name)).fileSystem.readText(file(3));
    await again.close();
  });
  report('reopening 1,000 operations', reopen, 100);
  console.log(
    `${readdirSync(directory).length} directories, ${DIRECTORIES * FILES_PER_DIRECTORY} files in ${directory}`,
  );
}
