import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { History } from '@scratchfs/history';
import { HostHistory, nodePrimitives } from '@scratchfs/host';
import isomorphic from 'isomorphic-git';
import { createFsFromVolume, Volume } from 'memfs';
import { createFileSystem, type SyncFileSystem } from 'scratchfs';
import { median } from '../bench/median.js';
import { type Measured, measure } from './cpu.js';
import { git } from './git-cli.js';

/**
 * `npm run bench -- history`: versions beside isomorphic-git on memfs and git itself on the disk, in one run. Medians
 * of CPU time; that of git includes its child processes. Arguments: `small` for a tenth of the size, names of parts to
 * run only those.
 */
const wanted = process.argv.slice(2);
const scale = wanted.includes('small') ? 10 : 1;
const ROUNDS = 5;
/** Rounds that are not counted: until the code is compiled and the garbage of building 100,000 files is collected. */
const WARM_UPS = 40;
/** Repetitions per round of work that takes milliseconds, among work that takes seconds. */
const SHORT_ONES = 5;
const AUTHOR = { name: 'A', email: 'a@example.com' };
const top = mkdtempSync(join(tmpdir(), 'scratchfs-bench-git-'));

type Contender = 'scratchfs' | 'isomorphic-git' | 'git';
const rows: { readonly title: string; readonly figures: Partial<Record<Contender, Measured[]>> }[] = [];

function record(title: string, contender: Contender, measured: Measured): void {
  let row = rows.find((one) => one.title === title);
  if (row === undefined) rows.push((row = { title, figures: {} }));
  (row.figures[contender] ??= []).push(measured);
}

function filesOf(count: number, directories: number): Map<string, string> {
  const files = new Map<string, string>();
  for (let i = 0; i < count; i++)
    files.set(`dir-${i % directories}/file-${i}.txt`, `${i} ${'some words '.repeat(80)}\n`);
  return files;
}

function writeOurs(fs: SyncFileSystem, files: ReadonlyMap<string, string>): void {
  for (const [path, content] of files) {
    fs.mkdirSync(`/${dirname(path)}`, { recursive: true });
    fs.writeFileSync(`/${path}`, content);
  }
}

function writeDisk(folder: string, files: ReadonlyMap<string, string>): void {
  for (const path of new Set([...files.keys()].map((path) => dirname(path))))
    mkdirSync(join(folder, path), { recursive: true });
  for (const [path, content] of files) writeFileSync(join(folder, path), content);
}

function memfs() {
  const volume = new Volume();
  const fs = createFsFromVolume(volume);
  return { fs, volume, call: { fs: fs as unknown as Parameters<typeof isomorphic.add>[0]['fs'], dir: '/' } };
}

/** Copies a git repository into memory for isomorphic-git: `.git` alone, or with its files. */
function intoMemory(folder: string, volume: InstanceType<typeof Volume>, at = ''): void {
  for (const name of readdirSync(join(folder, at))) {
    const path = join(folder, at, name);
    if (statSync(path).isDirectory()) {
      volume.mkdirSync(`/${at}/${name}`, { recursive: true });
      intoMemory(folder, volume, join(at, name));
    } else volume.writeFileSync(`/${at}/${name}`, readFileSync(path));
  }
}

function newRepository(files: ReadonlyMap<string, string>): string {
  const folder = mkdtempSync(join(top, 'repository-'));
  git(folder, ['init', '-q', '-b', 'main']);
  writeDisk(folder, files);
  git(folder, ['add', '-A']);
  git(folder, ['commit', '-q', '-m', 'first']);
  return folder;
}

function edited(
  files: ReadonlyMap<string, string>,
  count: number,
  step: number,
  word: string,
  first = 0,
): Map<string, string> {
  const paths = [...files.keys()].filter((_, i) => i % step === first).slice(0, count);
  return new Map(paths.map((path, i) => [path, `${word} ${i}\n${files.get(path)}`]));
}

async function onboarding(): Promise<void> {
  const count = 5_000 / scale;
  const title = `first commit of ${count} files`;
  const files = filesOf(count, 100);
  for (let round = 0; round < ROUNDS; round++) {
    const fs = createFileSystem();
    writeOurs(fs, files);
    const history = new History({ primitives: nodePrimitives });
    record(title, 'scratchfs', await measure(() => history.commit(fs, { message: 'first' })));
    const { volume, call } = memfs();
    for (const [path, content] of files) {
      volume.mkdirSync(`/${dirname(path)}`, { recursive: true });
      volume.writeFileSync(`/${path}`, content);
    }
    await isomorphic.init(call);
    record(
      title,
      'isomorphic-git',
      await measure(async () => {
        await isomorphic.add({ ...call, filepath: [...files.keys()] });
        await isomorphic.commit({ ...call, message: 'first', author: AUTHOR });
      }),
    );
    const folder = mkdtempSync(join(top, 'onboard-'));
    writeDisk(folder, files);
    const versions = new HostHistory();
    record(`a folder of ${count} files on the disk`, 'scratchfs', await measure(() => versions.onboardRepo(folder)));
    git(folder, ['init', '-q']);
    const commit = await measure(() => {
      git(folder, ['add', '-A']);
      git(folder, ['commit', '-q', '-m', 'first']);
    });
    record(title, 'git', commit);
    record(`a folder of ${count} files on the disk`, 'git', commit);
    const known = new HostHistory();
    record(`a repository of ${count} files on the disk`, 'scratchfs', await measure(() => known.onboardRepo(folder)));
    record(
      `a repository of ${count} files on the disk`,
      'git',
      await measure(() => git(top, ['clone', '-q', '--shared', folder, `${folder}-clone`])),
    );
    await Promise.all([versions.close(), known.close()]);
  }
}

async function smallCommits(): Promise<void> {
  const count = 100_000 / scale;
  const title = `commit after 10 edits in ${count} files`;
  const files = filesOf(count, 1_000 / scale);
  const fs = createFileSystem();
  writeOurs(fs, files);
  const history = new History({ primitives: nodePrimitives });
  await history.commit(fs, { message: 'first' });
  const folder = newRepository(files);
  const { volume, call } = memfs();
  volume.mkdirSync('/.git', { recursive: true });
  intoMemory(folder, volume, '.git');
  const touched = new Map(edited(files, 10, Math.floor(count / 11), ''));
  const editsOf = (what: string) => new Map([...touched].map(([path, content]) => [path, `${what}${content}`]));
  const commit = async (what: string) => {
    writeOurs(fs, editsOf(what));
    return measure(() => history.commit(fs, { message: 'edits' }));
  };
  for (let round = 0; round < WARM_UPS; round++) await commit(`before ${round}`);
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < SHORT_ONES; i++) record(title, 'scratchfs', await commit(`round ${round} ${i}`));
    const edits = editsOf(`round ${round}`);
    writeDisk(folder, edits);
    record(
      title,
      'git',
      await measure(() => {
        git(folder, ['add', ...edits.keys()]);
        git(folder, ['commit', '-q', '-m', 'edits']);
      }),
    );
    for (const [path, content] of edits) {
      volume.mkdirSync(`/${dirname(path)}`, { recursive: true });
      volume.writeFileSync(`/${path}`, content);
    }
    record(
      title,
      'isomorphic-git',
      await measure(async () => {
        await isomorphic.add({ ...call, filepath: [...edits.keys()] });
        await isomorphic.commit({ ...call, message: 'edits', author: AUTHOR });
      }),
    );
  }
}

async function betweenVersions(): Promise<void> {
  const count = 5_000 / scale;
  const files = filesOf(count, 100 / scale);
  const folder = newRepository(files);
  const versions = new Map<string, string>([['main', 'main']]);
  for (const [branch, edits] of [
    ['some', edited(files, 100 / scale, 50, 'some')],
    ['many', edited(files, 1_000 / scale, 5, 'many')],
    ['other', edited(files, 100 / scale, 50, 'other', 7)],
  ] as const) {
    git(folder, ['checkout', '-q', '-b', branch, 'main']);
    writeDisk(folder, edits);
    git(folder, ['commit', '-qam', branch]);
    versions.set(branch, git(folder, ['rev-parse', 'HEAD']));
  }
  git(folder, ['checkout', '-q', 'main']);
  const { volume, call } = memfs();
  intoMemory(folder, volume);
  const host = new HostHistory();
  const main = await host.onboardRepo(folder);
  const history = host.historyOf(main);
  const fs = createFileSystem();
  await history.checkout(main, fs);
  const id = (branch: string): string => (branch === 'main' ? main : (versions.get(branch) as string));
  const switching = `checkout switching ${100 / scale} files of ${count}`;
  const diffing = `diff of two commits ${1_000 / scale} files apart`;
  const merging = `merge of ${100 / scale} files on each side`;
  for (let round = 0; round < ROUNDS; round++) {
    for (const branch of ['some', 'main']) {
      record(switching, 'scratchfs', await measure(() => history.checkout(id(branch), fs)));
      record(switching, 'isomorphic-git', await measure(() => isomorphic.checkout({ ...call, ref: branch })));
      record(switching, 'git', await measure(() => git(folder, ['checkout', '-q', branch])));
    }
    record(diffing, 'scratchfs', await measure(() => history.diff(main, id('many'))));
    record(diffing, 'isomorphic-git', await measure(() => walkTrees(call, 'main', 'many')));
    record(diffing, 'git', await measure(() => git(folder, ['diff-tree', '-r', 'main', 'many'])));
    record(merging, 'scratchfs', await measure(() => history.merge(undefined, id('some'), id('other'))));
    record(merging, 'git', await measure(() => git(folder, ['merge-tree', '--write-tree', 'some', 'other'])));
    record(
      merging,
      'isomorphic-git',
      await measure(() =>
        isomorphic.merge({
          ...call,
          ours: 'some',
          theirs: 'other',
          author: AUTHOR,
          dryRun: true,
          abortOnConflict: true,
        }),
      ),
    );
  }
  await host.close();
}

/** Measures a large folder: progress reports and the time to stop. */
async function large(): Promise<void> {
  const count = 50_000 / scale;
  const folder = mkdtempSync(join(top, 'large-'));
  writeDisk(folder, filesOf(count, 500));
  for (let round = 0; round < 3; round++) {
    await using versions = new HostHistory();
    const told: number[] = [];
    const onProgress = ({ done }: { readonly done: number }) => void told.push(done);
    record(
      `a folder of ${count} files on the disk`,
      'scratchfs',
      await measure(() => versions.onboardRepo(folder, { onProgress })),
    );
    const repository = mkdtempSync(join(top, 'large-git-'));
    const measured = await measure(() => {
      git(repository, ['init', '-q']);
      git(repository, ['--work-tree', folder, 'add', '-A']);
      git(repository, ['--work-tree', folder, 'commit', '-q', '-m', 'first']);
    });
    record(`a folder of ${count} files on the disk`, 'git', measured);
    const stop = new AbortController();
    let stopped = 0;
    const halfway = ({ done }: { readonly done: number }) => {
      if (stopped > 0 || done < count / 2) return;
      stopped = performance.now();
      stop.abort();
    };
    await using others = new HostHistory();
    await others.onboardRepo(folder, { onProgress: halfway, signal: stop.signal }).catch(() => undefined);
    console.log(
      `${told.length} times told up to ${told.at(-1)}; over ${(performance.now() - stopped).toFixed(0)} ms after the signal`,
    );
  }
}

async function walkTrees(call: ReturnType<typeof memfs>['call'], from: string, to: string): Promise<void> {
  await isomorphic.walk({
    ...call,
    trees: [isomorphic.TREE({ ref: from }), isomorphic.TREE({ ref: to })],
    map: async (path, [a, b]) => {
      const [one, two] = await Promise.all([a?.oid(), b?.oid()]);
      return one === two ? null : path;
    },
  });
}

function print(): void {
  const names: Contender[] = ['scratchfs', 'isomorphic-git', 'git'];
  console.log(`${'CPU ms, medians'.padEnd(44)}${names.map((name) => name.padStart(16)).join('')}   of isomorphic-git`);
  for (const { title, figures } of rows) {
    const cells = names.map((name) => median((figures[name] ?? []).map(({ cpu }) => cpu)));
    const [ours = Number.NaN, theirs = Number.NaN] = cells;
    const shown = cells.map((value) => (Number.isNaN(value) ? '' : value.toFixed(1)).padStart(16)).join('');
    console.log(
      `${title.padEnd(44)}${shown}${Number.isNaN(theirs) ? '' : `${(theirs / ours).toFixed(1)} x`.padStart(12)}`,
    );
  }
}

try {
  const parts = { onboarding, large, betweenVersions, smallCommits };
  const named = Object.entries(parts).filter(([name]) => wanted.includes(name));
  for (const [, part] of named.length > 0 ? named : Object.entries(parts)) {
    await part();
    print();
    rows.length = 0;
  }
} finally {
  rmSync(top, { recursive: true, force: true });
}
