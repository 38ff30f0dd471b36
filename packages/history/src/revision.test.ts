import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { History } from './history.js';
import type { ObjectId } from './object-id.js';
import { GitDirectory } from './stores/git-directory.js';
import { MemoryRepository } from './stores/memory-repository.js';
import { fromDisk, SampleGit, toDisk } from './testing/sample-git.js';

const sample = new SampleGit();
afterAll(() => sample.remove());
const path = join(sample.folder, 'repository');
const git = (...args: string[]): string => sample.run(['-C', path, ...args]);

/** Returns the commit that git finds for each revision, or undefined. One process serves all requests. */
function gitResolves(repository: string, revisions: readonly string[]): (string | undefined)[] {
  const input = revisions.map((revision) => `${revision}^{commit}\n`).join('');
  const output = sample.run(['-C', repository, 'cat-file', '--batch-check'], input);
  return output.split('\n').map((line) => (/^[0-9a-f]{40,} commit /.test(line) ? line.split(' ')[0] : undefined));
}

const NAMES = ['HEAD', '@', 'main', 'side', 'v1', 'light', 'heads/main', 'tags/v1', 'refs/heads/side', 'origin/far'];

async function opened(): Promise<History> {
  const disk = await openFileSystem(new MemoryStorage());
  await fromDisk(join(path, '.git'), disk);
  return new History({ repository: await GitDirectory.open(disk, { path: '/' }) });
}

beforeAll(() => {
  sample.run(['init', '-q', '-b', 'main', path]);
  const commit = (message: string): string => git('commit', '-q', '--allow-empty', '-m', message);
  for (const message of ['one', 'two', 'three']) commit(message);
  git('checkout', '-q', '-b', 'side', 'HEAD~1');
  for (const message of ['left', 'right']) commit(message);
  git('checkout', '-q', 'main');
  git('merge', '-q', '--no-ff', '-m', 'merged', 'side');
  commit('last');
  git('tag', '-a', 'v1', '-m', 'annotated', 'HEAD~1');
  const blob = sample.run(['-C', path, 'hash-object', '-w', '--stdin'], 'a file');
  const tree = sample.run(['-C', path, 'mktree'], `100644 blob ${blob}\tfile\n`);
  git('update-ref', 'refs/heads/full', git('commit-tree', '-m', 'full', tree));
  git('tag', 'light', 'side');
  git('update-ref', 'refs/remotes/origin/far', 'side~1');
  // Names that could be the start of an id.
  git('branch', 'beef', 'side');
  git('branch', git('rev-parse', '--short=6', 'main'), 'side');
});

describe('a revision', () => {
  it('leads to the commit that git finds, loose and packed', async () => {
    const main = git('rev-parse', 'main');
    const ids = [main, main.toUpperCase(), main.slice(0, 4), main.slice(0, 6), main.slice(0, 12), main.slice(0, 3)];
    const names = [...NAMES, ...ids, 'beef', 'nowhere', git('rev-parse', '--short=8', 'v1'), 'ffffffff'];
    const suffixes = [
      '',
      '~',
      '^',
      '~0',
      '^0',
      '~1',
      '~2',
      '~3',
      '~9',
      '^1',
      '^2',
      '^3',
      '^^',
      '~1^2',
      '~1^2~1',
      '^2^',
    ];
    const revisions = names.flatMap((name) => suffixes.map((suffix) => name + suffix));
    for (const isPacked of [false, true]) {
      if (isPacked) git('gc', '-q');
      const expected = gitResolves(path, revisions);
      const history = await opened();
      const found = await Promise.all(
        revisions.map((revision) =>
          history.resolve(revision).catch((error) => {
            expect(error).toMatchObject({ code: 'not-found' });
            return undefined;
          }),
        ),
      );
      expect(Object.fromEntries(revisions.map((revision, i) => [revision, found[i]]))).toEqual(
        Object.fromEntries(revisions.map((revision, i) => [revision, expected[i]])),
      );
      expect(expected.filter((id) => id !== undefined).length).toBeGreaterThan(120);
      expect(await history.shortId('main~1')).toBe(git('rev-parse', '--short=7', 'main~1'));
    }
  });

  it.each(['show', 'treeOf', 'log', 'list', 'diff', 'checkout', 'branch', 'mergeBases', 'commitTree', 'verify'])(
    'is accepted by %s()',
    async (method) => {
      const history = await opened();
      const fileSystem = await openFileSystem(new MemoryStorage());
      const short = (await history.resolve('main~2')).slice(0, 10);
      const id = await history.resolve(short);
      expect(id).toBe(git('rev-parse', 'main~2'));
      const calls: Record<string, (version: string) => Promise<unknown>> = {
        show: (version) => history.show(version),
        treeOf: (version) => history.treeOf(version),
        log: async (version) => (await history.log(version).next()).value,
        list: async (version) => (await history.list(version).next()).value,
        diff: (version) => history.diff(version, 'main'),
        checkout: (version) => history.checkout(version, fileSystem),
        branch: (version) => history.branch(`at-${version.replaceAll(/\W/g, '-')}`, version),
        mergeBases: (version) => history.mergeBases(version, 'side'),
        commitTree: (tree) =>
          history.commitTree(tree, { message: 'x', parents: [tree], author: { name: 'a', email: 'b', timestamp: 0 } }),
        verify: (version) => history.verify(version),
      };
      const call = calls[method] as (version: string) => Promise<unknown>;
      const expected = await call(id);
      for (const version of [short, 'main~2', '@^^', 'main^1~1']) expect(await call(version)).toEqual(expected);
    },
  );

  it('of a commit, tree or blob gets the annotated tag that git tag -a creates', async () => {
    const targets = ['main', 'main^{tree}', 'full:file'].map((revision) => git('rev-parse', revision));
    for (const [index, target] of targets.entries()) {
      const name = `annotated-${index}`;
      git('tag', '-a', name, '-m', 'of anything', target);
      const [, timestamp, sign, hours, minutes] =
        /^tagger .* (\d+) ([+-])(\d\d)(\d\d)$/m.exec(git('cat-file', 'tag', name)) ?? [];
      const timezone = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
      const tagger = { name: 'A', email: 'a@example.com', timestamp: Number(timestamp), timezone };
      const id = git('rev-parse', name);
      git('tag', '-d', name);
      expect(await (await opened()).tag(name, target, { message: 'of anything', tagger })).toBe(id);
    }
  });

  it.each(['~1', '^', 'main~x', 'main^{commit}', 'main~1..side', 'main@{1}', 'HEAD~1 ', 'main^-1'])(
    'is refused if it is %j',
    async (version) => {
      await expect((await opened()).resolve(version)).rejects.toThrow(TypeError);
    },
  );

  it('says which ids begin with ambiguous digits, and prefers commits to other objects', async () => {
    const repository = new MemoryRepository();
    const history = new History({ repository, clock: () => 0 });
    const tree = await history.editTree(undefined, new Map());
    const seen = new Map<string, ObjectId>();
    let pair: readonly [ObjectId, ObjectId] | undefined;
    for (let i = 0; pair === undefined; i++) {
      const id = await history.commitTree(tree, { message: `commit ${i}`, parents: [] });
      const other = seen.get(id.slice(0, 4));
      if (other !== undefined) pair = [other, id];
      seen.set(id.slice(0, 4), id);
    }
    const digits = pair[0].slice(0, 4);
    const refused = history.resolve(digits);
    await expect(refused).rejects.toMatchObject({ code: 'ambiguous', ref: digits });
    for (const id of pair) await expect(refused).rejects.toThrow(`${id} (commit)`);
    const short = await history.shortId(pair[0], { minDigits: 4 });
    expect(short.length).toBeGreaterThan(4);
    expect(await history.resolve(short)).toBe(pair[0]);
    await expect(history.shortId(pair[0], { minDigits: 3 })).rejects.toThrow(RangeError);
    // git agrees about the same objects, and both prefer the commit to a blob.
    const disk = await openFileSystem(new MemoryStorage());
    const written = await GitDirectory.init(disk, { path: '/' });
    for (const id of pair) for await (const object of history.missingIn(written, id)) await written.write([object]);
    let blob: ObjectId | undefined;
    for (let i = 0; blob === undefined; i++) {
      const body = new TextEncoder().encode(`blob ${i}`);
      const id = history.blobId(body);
      const commit = seen.get(id.slice(0, 4));
      if (commit === undefined || pair.includes(commit)) continue;
      blob = id;
      await written.write([{ type: 'blob', body, id }]);
      for await (const object of history.missingIn(written, commit)) await written.write([object]);
    }
    const target = join(sample.folder, 'ambiguous');
    await toDisk(disk, target);
    const revisions = [digits, short, blob.slice(0, 4)];
    const ours = new History({ repository: written });
    const found = await Promise.all(revisions.map((revision) => ours.resolve(revision).catch(() => undefined)));
    expect(found).toEqual(gitResolves(target, revisions));
    expect(found[2]).toBe(seen.get(blob.slice(0, 4)));
  });
});
