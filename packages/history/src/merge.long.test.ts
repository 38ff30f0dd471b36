import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { History } from './history.js';
import type { Merge } from './merge.js';
import type { MergeOptions } from './merge-options.js';
import { objectId } from './object-id.js';

const folder = mkdtempSync(join(tmpdir(), 'merge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };

function git(args: string[], input?: string) {
  return spawnSync('git', args, { cwd: folder, env, input, encoding: 'utf8', maxBuffer: 2 ** 30 });
}

beforeAll(() => void git(['init', '-q', '-b', 'main']));

type Mode = '100644' | '100755' | '120000' | '160000';
type Files = ReadonlyMap<string, { readonly text: string; readonly mode: Mode }>;

const KINDS = [
  'edit',
  'append',
  'remove',
  'chmod',
  'rewrite',
  'add',
  'addInside',
  'addEmpty',
  'link',
  'binary',
  'repository',
  'toDirectory',
  'toFile',
  'copy',
  'rename',
  'renameAndEdit',
  'renameDirectory',
  'spread',
] as const;

const STAYING = KINDS.slice(0, KINDS.indexOf('copy')).filter(
  // This version of git always looks for renames.
  (kind) => kind !== 'addEmpty' && kind !== 'toDirectory' && kind !== 'toFile',
);

interface Edit {
  readonly kind: (typeof KINDS)[number];
  readonly which: number;
  readonly n: number;
}

const NAMES = [
  'a',
  'b.ts',
  'src/a.ts',
  'src/b.ts',
  'src/c.ts',
  'src/deep/c.ts',
  'src/deep/d.ts',
  'docs/x.md',
  'docs/y.md',
  'docs/a.ts',
  'z',
];
const FRESH = ['new', 'src/new.ts', 'docs', 'a/inside', 'src/b2.ts', 'lib/a.ts', 'z.d', 'docs/a.md', 'lib/deep/c.ts'];
const DIRECTORIES = ['lib', 'src/deeper', 'docs', 'src', 'old/src', 'lib/deep'];

function sample(name: string): string {
  return Array.from({ length: 14 }, (_, i) => `${name} line ${i}\n`).join('');
}

const BASE: Files = new Map(
  NAMES.map((name) => [name, { text: sample(name), mode: name === 'z' ? '100755' : '100644' }]),
);

function apply(files: Files, edits: readonly Edit[]): Files {
  const result = new Map(files);
  const isFree = (path: string): boolean =>
    ![...result.keys()].some((other) => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
  const put = (path: string, text: string, mode: Mode = '100644'): void => {
    if (isFree(path)) result.set(path, { text, mode });
  };
  const move = (from: string, to: string, text?: string): void => {
    const held = result.get(from);
    if (held === undefined || from === to) return;
    result.delete(from);
    if (isFree(to)) result.set(to, { ...held, text: text ?? held.text });
    else result.set(from, held);
  };
  for (const { kind, which, n } of edits) {
    const names = [...result.keys()].sort();
    const name = names[which % Math.max(1, names.length)];
    const held = name === undefined ? undefined : result.get(name);
    if (name === undefined || held === undefined) continue;
    const fresh = FRESH[n % FRESH.length] as string;
    const directory = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    const lines = held.text.split('\n');
    const isText = held.mode !== '160000';
    const changed = isText ? [...lines.slice(0, n), `changed ${n}`, ...lines.slice(n + 1)].join('\n') : held.text;
    const inside = names.filter((other) => directory !== '' && other.startsWith(`${directory}/`));
    if (kind === 'add') put(fresh, sample(`fresh ${which % 2}`));
    else if (kind === 'addInside') put(directory === '' ? `n${n}` : `${directory}/n${n % 3}`, sample(`inside ${n}`));
    else if (kind === 'addEmpty') put(fresh, '');
    else if (kind === 'copy') put(fresh, held.text, held.mode);
    else if (kind === 'link') result.set(name, { text: `to ${n}`, mode: '120000' });
    else if (kind === 'binary') result.set(name, { ...held, text: `\0${n % 4}`, mode: '100644' });
    else if (kind === 'repository') result.set(name, { text: `${1 + (n % 4)}`.repeat(40), mode: '160000' });
    else if (kind === 'toDirectory') {
      result.delete(name);
      result.set(`${name}/inside${n % 2}`, held);
    } else if (kind === 'toFile') {
      if (directory === '') continue;
      for (const path of inside) result.delete(path);
      put(directory, n % 2 === 0 ? held.text : changed);
    } else if (kind === 'edit' && isText) result.set(name, { ...held, text: changed });
    else if (kind === 'append' && isText) result.set(name, { ...held, text: `${held.text}tail ${n}\n` });
    else if (kind === 'rewrite' && isText) result.set(name, { ...held, text: `all new ${n}\n` });
    else if (kind === 'chmod') {
      if (held.mode.startsWith('100'))
        result.set(name, { ...held, mode: held.mode === '100644' ? '100755' : '100644' });
    } else if (kind === 'remove') result.delete(name);
    else if (kind === 'rename') move(name, fresh);
    else if (kind === 'renameAndEdit') move(name, fresh, changed);
    else if (kind === 'renameDirectory')
      for (const path of inside) move(path, DIRECTORIES[n % DIRECTORIES.length] + path.slice(directory.length));
    else if (kind === 'spread')
      for (const [i, path] of inside.entries())
        move(path, DIRECTORIES[(n + (i % 2)) % DIRECTORIES.length] + path.slice(directory.length));
  }
  return result;
}

const editsOf = (kinds: readonly Edit['kind'][], maxLength = 4): fc.Arbitrary<Edit[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat(10), n: fc.nat(12) }), { maxLength });

/** A commit. Its parents are indexes into the list that contains it. */
interface Version {
  readonly files: Files;
  readonly parents: readonly number[];
  readonly time: number;
}

/** Versions of which the last two are merged. */
type Versions = readonly Version[];

interface Result {
  readonly tree: string;
  readonly clean: boolean;
}

/**
 * Returns git's result for each case; undefined if git ends in an assertion because one side renamed a link and the
 * other made it a submodule.
 */
function mergedByGit(cases: readonly Versions[], directoryRenames: string): (Result | undefined)[] {
  let input = 'feature done\n';
  let first = 1;
  for (const [i, versions] of cases.entries()) {
    for (const [at, { files, parents, time }] of versions.entries()) {
      const branch = ['theirs', 'ours'][versions.length - 1 - at] ?? `of-${at}`;
      input += `reset refs/heads/${branch}-${i}\n`;
      input += `commit refs/heads/${branch}-${i}\nmark :${first + at}\ncommitter A <a@b> ${time} +0000\ndata 1\nx`;
      for (const [n, parent] of parents.entries()) input += `\n${n === 0 ? 'from' : 'merge'} :${first + parent}`;
      input += '\ndeleteall\n';
      for (const [path, { mode, text }] of files)
        input +=
          mode === '160000'
            ? `M ${mode} ${text} ${path}\n`
            : `M ${mode} inline ${path}\ndata ${text.length}\n${text}\n`;
    }
    first += versions.length;
  }
  const imported = git(['fast-import', '--quiet', '--force'], `${input}done\n`);
  if (imported.status !== 0) throw new Error(imported.stderr);
  const setting = `merge.directoryRenames=${directoryRenames}`;
  const ask = (from: number, to: number): (Result | undefined)[] => {
    const asked = Array.from({ length: to - from }, (_, i) => `ours-${from + i} theirs-${from + i}\n`).join('');
    const { stdout, signal } = git(['-c', setting, 'merge-tree', '--stdin', '--no-messages'], asked);
    if (signal !== null) {
      const middle = (from + to) >> 1;
      return middle === from ? [undefined] : [...ask(from, middle), ...ask(middle, to)];
    }
    const results: Result[] = [];
    const fields = stdout.split('\0');
    for (let at = 0; at + 2 < fields.length; at = fields.indexOf('', at) + 1)
      results.push({ clean: fields[at] === '1', tree: fields[at + 1] as string });
    return results;
  };
  const results = ask(0, cases.length);
  if (results.length !== cases.length) throw new Error(`${results.length} results of ${cases.length}`);
  return results;
}

async function commitAll(history: History, versions: Versions): Promise<string[]> {
  const ids: string[] = [];
  for (const { files, parents, time } of versions) {
    const edits = new Map();
    for (const [path, { mode, text }] of files) {
      if (mode === '160000') edits.set(path, { mode, id: objectId(text, 'sha1') });
      else {
        const body = new TextEncoder().encode(text);
        const id = history.blobId(body);
        await history.repository.write([{ type: 'blob', body, id }]);
        edits.set(path, { mode, id });
      }
    }
    const tree = await history.editTree(undefined, edits);
    const author = { name: 'A', email: 'a@b', timestamp: time };
    ids.push(await history.commitTree(tree, { message: 'x', author, parents: parents.map((at) => ids[at] as string) }));
  }
  return ids;
}

interface Difference {
  readonly i: number;
  readonly wanted: Result;
  readonly merge: Merge;
  readonly onlyOurs: readonly string[];
  readonly onlyGit: readonly string[];
}

interface Comparison {
  readonly merges: number;
  readonly clean: number;
  /** Merges that are clean only here or only in git, or in both with different trees. */
  readonly wrong: readonly Difference[];
  /** Merges that are in conflict here and in git, with different trees. */
  readonly otherTrees: readonly Difference[];
}

/** Returns the paths that only one of two trees has, ours or git's. */
async function differenceOf(history: History, tree: string, wanted: string) {
  const listed = git(['ls-tree', '-r', wanted]).stdout.trim().split('\n');
  const ours: string[] = [];
  for await (const { mode, id, path } of history.list(tree))
    ours.push(`${mode} ${mode === '160000' ? 'commit' : 'blob'} ${id}\t${path}`);
  return {
    onlyOurs: ours.filter((one) => !listed.includes(one)),
    onlyGit: listed.filter((one) => !ours.includes(one)),
  };
}

async function compareWithGit(
  cases: readonly Versions[],
  directoryRenames: string,
  options: MergeOptions,
): Promise<Comparison> {
  const expected = mergedByGit(cases, directoryRenames);
  const wrong: Difference[] = [];
  const otherTrees: Difference[] = [];
  for (const [i, versions] of cases.entries()) {
    const history = new History();
    const ids = await commitAll(history, versions);
    const labels = { ours: `ours-${i}`, theirs: `theirs-${i}` };
    const merge = await history.merge(undefined, ids.at(-2) as string, ids.at(-1) as string, { ...options, labels });
    const wanted = expected[i];
    if (wanted === undefined) continue;
    const isEqual = merge.clean === wanted.clean;
    if (isEqual && merge.tree === wanted.tree) continue;
    const difference = { i, wanted, merge, ...(await differenceOf(history, merge.tree, wanted.tree)) };
    if (isEqual && !merge.clean) otherTrees.push(difference);
    else wrong.push(difference);
  }
  const resolved = expected.filter((one) => one !== undefined);
  const clean = resolved.filter((one) => one.clean).length;
  if (process.env.TREE_MERGES !== undefined)
    console.log(resolved.length, 'merges,', clean, 'clean,', wrong.length, 'wrong,', otherTrees.length, 'other trees');
  return { merges: resolved.length, clean, wrong, otherTrees };
}

const COUNT = Number(process.env.TREE_MERGES ?? 250);
const SEED = Number(process.env.TREE_MERGES_SEED ?? 3);

const version = (files: Files, parents: readonly number[], time = 1_700_000_000): Version => ({ files, parents, time });

/** One line of history and two branches. */
const FORKS = (kinds: readonly Edit['kind'][]): fc.Arbitrary<Versions> =>
  fc
    .tuple(editsOf(kinds), editsOf(kinds))
    .map(([ours, theirs]) => [version(BASE, []), version(apply(BASE, ours), [0]), version(apply(BASE, theirs), [0])]);

/** A merge commit as a person might make it: each path as in one of the parents. */
function picked(sides: readonly Files[], picks: number): Files {
  const result = new Map<string, { readonly text: string; readonly mode: Mode }>();
  const paths = [...new Set(sides.flatMap((files) => [...files.keys()]))].sort();
  for (const [i, path] of paths.entries()) {
    const held = sides[(picks >>> (i % 16)) % sides.length]?.get(path);
    const isFree = ![...result.keys()].some((other) => path.startsWith(`${other}/`) || other.startsWith(`${path}/`));
    if (held !== undefined && isFree) result.set(path, held);
  }
  return result;
}

/** Histories with branches that merged each other, with two or three best common ancestors at one or two levels. */
const CROSSES: fc.Arbitrary<Versions> = fc
  .record({
    edits: fc.array(editsOf(KINDS, 2), { minLength: 12, maxLength: 12 }),
    picks: fc.array(fc.nat(2 ** 16), { minLength: 4, maxLength: 4 }),
    sides: fc.constantFrom(2, 2, 3),
    rounds: fc.constantFrom(1, 1, 2),
    times: fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }),
  })
  .map(({ edits, picks, sides, rounds, times }) => {
    const versions: Version[] = [];
    const add = (files: Files, parents: readonly number[]): number => {
      const at = versions.length;
      const time = 1_700_000_000 + at * 10 * Number(times[0] !== 0) + (times[at % 12] ?? 0);
      return versions.push(version(apply(files, edits[at % 12] ?? []), parents, time)) - 1;
    };
    add(BASE, []);
    let tips = Array.from({ length: sides }, () => add(BASE, [0]));
    for (let round = 0; round < rounds; round++) {
      const files = tips.map((tip) => versions[tip]?.files ?? BASE);
      const last = [...tips];
      const first = add(picked(files, picks[2 * round] ?? 0), last);
      tips = [first, add(picked(files, picks[2 * round + 1] ?? 0), last.toReversed())];
    }
    for (const tip of tips) add(versions[tip]?.files ?? BASE, [tip]);
    return versions;
  });

describe('merge()', () => {
  it.each([
    ['where nothing is renamed', STAYING, 'true', { renames: false }],
    ['with renamed files', KINDS, 'false', { directoryRenames: false }],
    ['with renamed directories that are told', KINDS, 'conflict', {}],
    ['with files that go with their directories', KINDS, 'true', { directoryRenames: true }],
  ] as const)(
    'has the verdict and the tree of git, %s',
    async (_name, kinds, directoryRenames, options) => {
      const cases = fc.sample(FORKS(kinds), { numRuns: COUNT, seed: SEED });
      const { merges, clean, wrong, otherTrees } = await compareWithGit(cases, directoryRenames, options);
      expect(wrong).toEqual([]);
      // In conflicts, this version of git loses files of a directory into which other files are moved.
      expect(otherTrees.length).toBeLessThanOrEqual(merges / 100);
      expect(clean).toBeGreaterThan(merges / 10);
      expect(clean).toBeLessThan(merges);
    },
    900_000,
  );

  it('has the verdict and the tree of git for branches that merged each other', async () => {
    const cases = fc.sample(CROSSES, { numRuns: Math.ceil(COUNT / 2), seed: SEED });
    const { merges, clean, wrong, otherTrees } = await compareWithGit(cases, 'conflict', {});
    expect(wrong.filter(({ merge }) => merge.clean)).toEqual([]);
    // A few merges that are clean in git are in conflict here: git has dropped a change of one side there, under the old
    // name of a file that the other side has renamed.
    expect(wrong.length).toBeLessThanOrEqual(merges / 100);
    expect(otherTrees.length).toBeLessThanOrEqual(merges / 100);
    expect(clean).toBeGreaterThan(merges / 10);
    expect(clean).toBeLessThan(merges);
  }, 900_000);

  it('prints a diff that git applies to get from one version to the other', async () => {
    const history = new History();
    // A diff does not contain the bytes of binary files.
    const textual = KINDS.filter((kind) => kind !== 'binary');
    const cases = fc
      .sample(editsOf(textual), { numRuns: 25, seed: 5 })
      .map((list) => [version(BASE, []), version(apply(BASE, list), [0])]);
    mergedByGit(cases, 'false');
    for (const [i, versions] of cases.entries()) {
      const [before, after] = (await commitAll(history, versions)) as [string, string];
      for (const renames of [false, true]) {
        const text = await history.formatDiff(await history.diff(before, after, { renames }));
        git(['read-tree', `ours-${i}`]);
        if (text !== '') execFileSync('git', ['apply', '--cached'], { cwd: folder, env, input: text });
        expect(git(['write-tree']).stdout.trim()).toBe(await history.treeOf(after));
      }
    }
  }, 60_000);
});
