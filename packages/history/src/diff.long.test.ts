import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { afterAll, describe, expect, it } from 'vitest';
import { History } from './history.js';
import type { ObjectFormat } from './object-id.js';
import { MemoryRepository } from './stores/memory-repository.js';
import { SampleGit } from './testing/sample-git.js';

type Files = Record<string, Uint8Array | string | { readonly link: string }>;

const gits = new Map<ObjectFormat, SampleGit>();
afterAll(() => {
  for (const git of gits.values()) git.remove();
});

function gitOf(format: ObjectFormat): SampleGit {
  let git = gits.get(format);
  if (git === undefined) {
    gits.set(format, (git = new SampleGit()));
    git.run(['init', '-q', `--object-format=${format}`]);
  }
  return git;
}

/** Commits the states to a history. The first one is also in git's index, with its contents in git's store. */
async function versionsOf(format: ObjectFormat, ...states: Files[]): Promise<{ history: History; ids: string[] }> {
  const history = new History({ repository: new MemoryRepository(format), clock: () => 0 });
  const ids: string[] = [];
  for (const [i, files] of states.entries()) {
    const fs = await openFileSystem(new MemoryStorage());
    for (const [path, content] of Object.entries(files)) {
      if (content instanceof Uint8Array || typeof content === 'string') await fs.writeFile(`/${path}`, content);
      else await fs.symlink(content.link, `/${path}`);
    }
    const id = await history.commit(fs, { message: 'x', parents: [] });
    ids.push(id);
    if (i > 0) continue;
    const git = gitOf(format);
    git.run(['read-tree', '--empty']);
    for await (const { path, mode, id: blob } of history.list(id)) {
      git.run(['hash-object', '-w', '--stdin'], await history.readBlob(blob));
      git.run(['update-index', '--add', '--cacheinfo', `${mode},${blob},${path}`]);
    }
  }
  return { history, ids };
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const noise = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (Math.imul(i + seed, 2_654_435_761) >>> 13) & 0xff);

const withNul = (size: number, seed: number): Uint8Array => noise(size, seed).fill(0, 0, 1);

const BEFORE: Files = {
  'a text.txt': 'one\n',
  latin1: latin1('Gr\xf6\xdfe\nzwei\n'),
  'becomes text': latin1('\xf6'),
  zeros: new Uint8Array(100_000),
  gone: withNul(5_000, 1),
  moved: noise(3_000, 2),
  empty: '',
  'late NUL': `${'x'.repeat(8_100)}\0`,
  kind: noise(60, 3),
};
const AFTER: Files = {
  'a text.txt': 'two\n',
  latin1: latin1('Gr\xf6\xdfer\nzwei\n'),
  'becomes text': 'text\n',
  zeros: new Uint8Array(100_001).fill(1, 99_999),
  'new ö "q"': noise(53, 4),
  'moved away': Buffer.concat([noise(3_000, 2), new Uint8Array([0, 1])]),
  'empty too': '',
  'late NUL': `${'y'.repeat(8_100)}\0`,
  kind: { link: 'empty too' },
};

describe.each(['sha1', 'sha256'] as const)('a diff of %s versions with binary contents', (format) => {
  it.each([false, true])('is accepted by git apply in both directions (renames: %s)', async (renames) => {
    const { history, ids } = await versionsOf(format, BEFORE, AFTER);
    const git = gitOf(format);
    const diff = await history.diff(ids[0], ids[1], { renames });
    const patch = await history.formatDiff(diff, { binary: true });
    expect(patch).not.toContain('Binary files');
    git.run(['apply', '--cached'], patch);
    expect(git.run(['write-tree'])).toBe(await history.treeOf(ids[1] as string));
    git.run(['apply', '--cached', '-R'], patch);
    expect(git.run(['write-tree'])).toBe(await history.treeOf(ids[0] as string));
  });
});

it('prints contents without a short delta as git diff --binary does', async () => {
  const { history, ids } = await versionsOf('sha1', { 'a b': withNul(100, 1) }, { 'a b': withNul(30, 7_000) });
  const text = await history.formatDiff(await history.diff(ids[0], ids[1]), { binary: true });
  const git = gitOf('sha1');
  const before = git.run(['write-tree']);
  git.run(['apply', '--cached'], text);
  const printed = git.run(['diff', '--binary', '--full-index', before, git.run(['write-tree'])]);
  expect(text.trim().split('\n').map(withoutData)).toEqual(printed.split('\n').map(withoutData));
});

it('reports only that binary files differ unless asked for their contents, and colors what it prints', async () => {
  const { history, ids } = await versionsOf('sha1', { a: latin1('\xf6\n') }, { a: latin1('\xe4\n') });
  const diff = await history.diff(ids[0], ids[1]);
  expect(await history.formatDiff(diff)).toBe('diff --git a/a b/a\nBinary files a/a and b/a differ\n');
  const colored = await history.formatDiff(diff, { binary: true, color: true });
  expect(colored.split('\n').slice(0, 3)).toEqual([
    '\u001b[1mdiff --git a/a b/a\u001b[m',
    expect.stringMatching(/^index [0-9a-f]{40}\.\.[0-9a-f]{40} 100644$/),
    'GIT binary patch',
  ]);
});

/**
 * Hides lines of compressed data, because compressors differ: only their number and the lines around them are compared.
 */
function withoutData(line: string): string {
  return /^[A-Za-z]\S{5,}$/.test(line) ? '(data)' : line;
}
