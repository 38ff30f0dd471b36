import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { History } from './history.js';

const folder = mkdtempSync(join(tmpdir(), 'merge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };

function git(args: string[], input?: string) {
  return spawnSync('git', args, { cwd: folder, env, input, encoding: 'utf8', maxBuffer: 2 ** 30 });
}

beforeAll(() => void git(['init', '-q', '-b', 'main']));

type Mode = '100644' | '100755' | '120000';
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
  'copy',
  'rename',
  'renameAndEdit',
  'renameDirectory',
  'spread',
] as const;

const STAYING = KINDS.slice(0, KINDS.indexOf('copy')).filter((kind) => kind !== 'addEmpty');

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
    const changed = [...lines.slice(0, n), `changed ${n}`, ...lines.slice(n + 1)].join('\n');
    const inside = names.filter((other) => directory !== '' && other.startsWith(`${directory}/`));
    if (kind === 'add') put(fresh, sample(`fresh ${which % 2}`));
    else if (kind === 'addInside') put(directory === '' ? `n${n}` : `${directory}/n${n % 3}`, sample(`inside ${n}`));
    else if (kind === 'addEmpty') put(fresh, '');
    else if (kind === 'copy') put(fresh, held.text);
    else if (kind === 'link') result.set(name, { text: `to ${n}`, mode: '120000' });
    else if (kind === 'edit') result.set(name, { ...held, text: changed });
    else if (kind === 'append') result.set(name, { ...held, text: `${held.text}tail ${n}\n` });
    else if (kind === 'rewrite') result.set(name, { ...held, text: `all new ${n}\n` });
    else if (kind === 'chmod') {
      if (held.mode !== '120000') result.set(name, { ...held, mode: held.mode === '100644' ? '100755' : '100644' });
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

const editsOf = (kinds: readonly Edit['kind'][]): fc.Arbitrary<Edit[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat(10), n: fc.nat(12) }), { maxLength: 4 });

function stream(files: Files, mark: number, branch: string, from: number | undefined): string {
  let text = `commit refs/heads/${branch}\nmark :${mark}\ncommitter A <a@b> ${1_700_000_000 + mark} +0000\ndata 1\nx`;
  if (from !== undefined) text += `\nfrom :${from}`;
  text += '\ndeleteall\n';
  for (const [path, { mode, text: content }] of files)
    text += `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`;
  return text;
}

interface Case {
  readonly ours: Files;
  readonly theirs: Files;
}

/** What git makes of each: the tree and whether it is clean. */
function mergedByGit(cases: readonly Case[], directoryRenames: string): { tree: string; clean: boolean }[] {
  let input = `feature done\n${stream(BASE, 1, 'base', undefined)}`;
  for (const [i, { ours, theirs }] of cases.entries())
    input += stream(ours, 2 * i + 2, `ours-${i}`, 1) + stream(theirs, 2 * i + 3, `theirs-${i}`, 1);
  const imported = git(['fast-import', '--quiet', '--force'], `${input}done\n`);
  if (imported.status !== 0) throw new Error(imported.stderr);
  const asked = cases.map((_, i) => `ours-${i} theirs-${i}\n`).join('');
  const setting = `merge.directoryRenames=${directoryRenames}`;
  const { stdout, stderr } = git(['-c', setting, 'merge-tree', '--stdin', '--no-messages'], asked);
  const results: { tree: string; clean: boolean }[] = [];
  const fields = stdout.split('\0');
  for (let at = 0; at + 2 < fields.length; at = fields.indexOf('', at) + 1)
    results.push({ clean: fields[at] === '1', tree: fields[at + 1] as string });
  if (results.length !== cases.length) throw new Error(`${results.length} of ${cases.length} results: ${stderr}`);
  return results;
}

async function commitOf(history: History, files: Files, parents: string[]): Promise<string> {
  const fileSystem: FileSystem = await openFileSystem(new MemoryStorage());
  for (const [path, { text, mode }] of files) {
    if (path.includes('/')) await fileSystem.mkdir(`/${path.slice(0, path.lastIndexOf('/'))}`, { recursive: true });
    if (mode === '120000') await fileSystem.symlink(text, `/${path}`);
    else await fileSystem.writeFile(`/${path}`, text, { mode: mode === '100755' ? 0o755 : 0o644 });
  }
  return history.commit(fileSystem, { message: 'x', parents });
}

describe('merge()', () => {
  it.each([
    // This git looks for renames in any case.
    ['where nothing is renamed', STAYING, 'true', { renames: false }],
    ['with renamed files', KINDS, 'false', { directoryRenames: false }],
    ['with renamed directories that are told', KINDS, 'conflict', {}],
    ['with files that go with their directories', KINDS, 'true', { directoryRenames: true }],
  ] as const)(
    'gives the verdict and the tree of git, %s',
    async (_name, kinds, directoryRenames, options) => {
      const cases = fc.sample(
        fc.record({ ours: editsOf(kinds), theirs: editsOf(kinds) }).map(({ ours, theirs }) => ({
          edits: { ours, theirs },
          ours: apply(BASE, ours),
          theirs: apply(BASE, theirs),
        })),
        { numRuns: Number(process.env.TREE_MERGES ?? 250), seed: Number(process.env.TREE_MERGES_SEED ?? 3) },
      );
      const expected = mergedByGit(cases, directoryRenames);
      const wrong: unknown[] = [];
      const history = new History();
      const base = await commitOf(history, BASE, []);
      for (const [i, { edits, ours, theirs }] of cases.entries()) {
        const a = await commitOf(history, ours, [base]);
        const b = await commitOf(history, theirs, [base]);
        const merge = await history.merge(undefined, a, b, options);
        const wanted = expected[i] as { tree: string; clean: boolean };
        if (merge.clean !== wanted.clean || (merge.clean && merge.tree !== wanted.tree))
          wrong.push({ ...edits, wanted, clean: merge.clean, conflicts: merge.conflicts.map((c) => [c.path, c.kind]) });
      }
      const clean = expected.filter((one) => one.clean).length;
      if (process.env.TREE_MERGES !== undefined)
        console.log(cases.length, 'merges,', clean, 'clean,', wrong.length, 'wrong');
      expect(wrong.map((one) => JSON.stringify(one))).toEqual([]);
      expect(clean).toBeGreaterThan(cases.length / 10);
      expect(clean).toBeLessThan(cases.length);
    },
    900_000,
  );

  it('shows a diff that git applies to get from one version to the other', async () => {
    const history = new History();
    const cases = fc.sample(editsOf(KINDS), {
      numRuns: 25,
      seed: 5,
    });
    const base = await commitOf(history, BASE, []);
    git(['fast-import', '--quiet', '--force'], `feature done\n${stream(BASE, 1, 'base', undefined)}done\n`);
    for (const list of cases) {
      const after = await commitOf(history, apply(BASE, list), [base]);
      for (const renames of [false, true]) {
        const text = await history.formatDiff(await history.diff(base, after, { renames }));
        git(['read-tree', 'base']);
        if (text !== '') execFileSync('git', ['apply', '--cached'], { cwd: folder, env, input: text });
        expect(git(['write-tree']).stdout.trim()).toBe(await history.treeOf(after));
      }
    }
  }, 60_000);
});
