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
  return spawnSync('git', args, { cwd: folder, env, input, encoding: 'utf8' });
}

beforeAll(() => void git(['init', '-q', '-b', 'main']));

type Files = ReadonlyMap<string, { readonly text: string; readonly executable: boolean }>;

type Edit =
  | { readonly kind: 'edit' | 'append' | 'remove' | 'chmod' | 'rewrite'; readonly which: number; readonly n: number }
  | { readonly kind: 'add' | 'rename' | 'renameAndEdit'; readonly which: number; readonly n: number };

const NAMES = ['a', 'b.ts', 'src/a.ts', 'src/b.ts', 'src/deep/c.ts', 'docs/x.md', 'docs/y.md', 'z'];
const FRESH = ['new', 'src/new.ts', 'docs', 'a/inside', 'src/b2.ts', 'lib/a.ts', 'z.d'];

function sample(name: string): string {
  return Array.from({ length: 14 }, (_, i) => `${name} line ${i}\n`).join('');
}

const BASE: Files = new Map(NAMES.map((name) => [name, { text: sample(name), executable: name === 'z' }]));

function apply(files: Files, edits: readonly Edit[]): Files {
  const result = new Map(files);
  for (const { kind, which, n } of edits) {
    const names = [...result.keys()].sort();
    const name = names[which % Math.max(1, names.length)];
    const held = name === undefined ? undefined : result.get(name);
    const fresh = FRESH[n % FRESH.length] as string;
    const lines = held?.text.split('\n') ?? [];
    const changed = [...lines.slice(0, n), `changed ${n}`, ...lines.slice(n + 1)].join('\n');
    const isFree = ![...result.keys()].some(
      (other) => other === fresh || other.startsWith(`${fresh}/`) || fresh.startsWith(`${other}/`),
    );
    if (kind === 'add') {
      if (isFree) result.set(fresh, { text: sample(`fresh ${which % 2}`), executable: false });
    } else if (name === undefined || held === undefined) continue;
    else if (kind === 'edit') result.set(name, { ...held, text: changed });
    else if (kind === 'append') result.set(name, { ...held, text: `${held.text}tail ${n}\n` });
    else if (kind === 'rewrite') result.set(name, { ...held, text: `all new ${n}\n` });
    else if (kind === 'chmod') result.set(name, { ...held, executable: !held.executable });
    else if (kind === 'remove') result.delete(name);
    else if (isFree) {
      result.delete(name);
      result.set(fresh, kind === 'rename' ? held : { ...held, text: changed });
    }
  }
  return result;
}

const edits = (kinds: readonly Edit['kind'][]): fc.Arbitrary<Edit[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat(7), n: fc.nat(12) }) as fc.Arbitrary<Edit>, {
    maxLength: 4,
  });

function stream(files: Files, mark: number, branch: string, from: number | undefined): string {
  let text = `commit refs/heads/${branch}\nmark :${mark}\ncommitter A <a@b> ${1_700_000_000 + mark} +0000\ndata 1\nx`;
  if (from !== undefined) text += `\nfrom :${from}`;
  text += '\ndeleteall\n';
  for (const [path, file] of files)
    text += `M ${file.executable ? '100755' : '100644'} inline ${path}\ndata ${file.text.length}\n${file.text}\n`;
  return text;
}

/** What git makes of it: the tree and whether it is clean. */
function mergedByGit(ours: Files, theirs: Files, renames: boolean): { tree: string; clean: boolean } {
  const input = [stream(BASE, 1, 'base', undefined), stream(ours, 2, 'ours', 1), stream(theirs, 3, 'theirs', 1)].join(
    '',
  );
  const imported = git(['fast-import', '--quiet', '--force'], `feature done\n${input}done\n`);
  if (imported.status !== 0) throw new Error(imported.stderr);
  const config = ['-c', `merge.renames=${renames}`, '-c', 'merge.directoryRenames=false'];
  const { stdout, status } = git([...config, 'merge-tree', '--write-tree', '--no-messages', 'ours', 'theirs']);
  return { tree: stdout.split('\n')[0] as string, clean: status === 0 };
}

async function commitOf(history: History, files: Files, parents: string[]): Promise<string> {
  const fileSystem: FileSystem = await openFileSystem(new MemoryStorage());
  for (const [path, { text, executable }] of files) {
    if (path.includes('/')) await fileSystem.mkdir(`/${path.slice(0, path.lastIndexOf('/'))}`, { recursive: true });
    await fileSystem.writeFile(`/${path}`, text, { mode: executable ? 0o755 : 0o644 });
  }
  return history.commit(fileSystem, { message: 'x', parents });
}

describe('merge()', () => {
  it.each([
    ['without renames', false, ['edit', 'append', 'remove', 'chmod', 'rewrite', 'add'] as const],
    ['with files that one side renamed', true, ['edit', 'append', 'chmod', 'rename', 'renameAndEdit'] as const],
  ])(
    'gives the verdict and the tree of git, %s',
    async (_name, renames, kinds) => {
      const cases = fc.sample(fc.record({ ours: edits(kinds), theirs: edits(kinds) }), {
        numRuns: Number(process.env.TREE_MERGES ?? 60),
        seed: 3,
      });
      const wrong: unknown[] = [];
      let clean = 0;
      for (const { ours, theirs } of cases) {
        const [left, right] = [apply(BASE, ours), apply(BASE, theirs)];
        const expected = mergedByGit(left, right, renames);
        const history = new History();
        const base = await commitOf(history, BASE, []);
        const a = await commitOf(history, left, [base]);
        const b = await commitOf(history, right, [base]);
        const merge = await history.merge(undefined, a, b, { renames });
        if (expected.clean) clean += 1;
        if (merge.clean !== expected.clean || (merge.clean && merge.tree !== expected.tree))
          wrong.push({
            ours,
            theirs,
            expected,
            clean: merge.clean,
            conflicts: merge.conflicts.map((c) => [c.path, c.kind]),
          });
      }
      expect(wrong).toEqual([]);
      expect(clean).toBeGreaterThan(cases.length / 10);
      expect(clean).toBeLessThan(cases.length);
    },
    900_000,
  );

  it('shows a diff that git applies to get from one version to the other', async () => {
    const history = new History();
    const cases = fc.sample(edits(['edit', 'append', 'remove', 'chmod', 'rewrite', 'add', 'rename', 'renameAndEdit']), {
      numRuns: 15,
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
