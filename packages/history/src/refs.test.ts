import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { History } from './history.js';
import { checkRefName } from './refs.js';
import type { Repository } from './repository.js';
import { GitDirectory } from './stores/git-directory.js';
import { MemoryRepository } from './stores/memory-repository.js';

const repositories: readonly (readonly [string, () => Promise<Repository>])[] = [
  ['in memory', async () => new MemoryRepository()],
  ["in git's layout", async () => GitDirectory.init(await openFileSystem(new MemoryStorage()))],
];

describe.each(repositories)('references %s', (_name, open) => {
  it('move by compare-and-swap: of two concurrent moves, one succeeds', async () => {
    const history = new History({ repository: await open(), clock: () => 0 });
    const fileSystem = await openFileSystem(new MemoryStorage());
    const first = await history.commit(fileSystem, { message: 'first' });
    const [a, b] = await Promise.all(
      ['a', 'b'].map((message) => history.commitTree(first, { message, parents: [first] })),
    );
    const outcomes = await Promise.allSettled([
      history.moveRef('refs/heads/main', first, a),
      history.moveRef('refs/heads/main', first, b),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect([a, b]).toContain(await history.readRef('refs/heads/main'));
    await expect(history.moveRef('refs/heads/main', first, first)).rejects.toMatchObject({ code: 'ref-changed' });
  });

  it('of a branch with several committers lose no commit', async () => {
    const history = new History({ repository: await open() });
    const fileSystems = await Promise.all(Array.from({ length: 4 }, () => openFileSystem(new MemoryStorage())));
    await Promise.all(
      fileSystems.map(async (fileSystem, i) => {
        for (let n = 0; n < 5; n++) await history.commit(fileSystem, { message: `${i} ${n}`, branch: 'shared' });
      }),
    );
    const messages = new Set<string>();
    for await (const { message } of history.log('shared')) messages.add(message);
    expect(messages.size).toBe(20);
  });

  it('name branches and tags, annotated ones too, and can be listed and removed', async () => {
    const history = new History({ repository: await open(), clock: () => 0 });
    const fileSystem = await openFileSystem(new MemoryStorage());
    const id = await history.commit(fileSystem, { message: 'first' });
    await history.branch('topic/a');
    await history.tag('light');
    const tag = await history.tag('v1', 'main', { message: 'annotated' });
    expect(tag).not.toBe(id);
    expect(await history.resolve('v1')).toBe(id);
    expect(await history.refs()).toEqual(['refs/heads/main', 'refs/heads/topic/a', 'refs/tags/light', 'refs/tags/v1']);
    await history.moveRef('refs/tags/light', id, undefined);
    expect(await history.refs('refs/tags/')).toEqual(['refs/tags/v1']);
    await expect(history.branch('topic/a')).rejects.toMatchObject({ code: 'ref-changed' });
    await expect(history.resolve('nowhere')).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe.each(repositories)('names of references %s', (_name, open) => {
  const started = async () => {
    const history = new History({ repository: await open(), clock: () => 0 });
    const fileSystem = await openFileSystem(new MemoryStorage());
    const id = await history.commit(fileSystem, { message: 'first' });
    return { history, fileSystem, id };
  };

  it('are files or directories, never both', async () => {
    const { history, id } = await started();
    await history.branch('a');
    const conflict = { code: 'ref-conflict', ref: 'refs/heads/a/b' };
    await expect(history.branch('a/b')).rejects.toMatchObject(conflict);
    await expect(history.branch('a/b/c')).rejects.toMatchObject({ ...conflict, ref: 'refs/heads/a/b/c' });
    await history.moveRef('refs/heads/a', id, undefined);
    await history.branch('a/b');
    await expect(history.branch('a')).rejects.toMatchObject({ ...conflict, ref: 'refs/heads/a' });
    await history.moveRef('refs/heads/a/b', id, undefined);
    await history.branch('a');
    expect(await history.refs('refs/heads/')).toEqual(['refs/heads/a', 'refs/heads/main']);
  });

  it('may be in capitals', async () => {
    const { history, id } = await started();
    for (const name of ['WIP', 'TODO']) await history.branch(name);
    await history.tag('RELEASE');
    for (const name of ['WIP', 'TODO', 'RELEASE', 'HEAD']) expect(await history.resolve(name)).toBe(id);
  });

  it('move to a commit with given parents only from one of these', async () => {
    const { history, fileSystem, id } = await started();
    const attempt = (message: string) => history.commit(fileSystem, { message, parents: [id], branch: 'main' });
    const first = await attempt('first agent');
    await expect(attempt('second agent')).rejects.toMatchObject({ code: 'ref-changed' });
    expect(await history.resolve('main')).toBe(first);
    const both = await history.commit(fileSystem, { message: 'both', parents: [id, first], branch: 'main' });
    expect(await history.resolve('main')).toBe(both);
    const fresh = await history.commit(fileSystem, { message: 'new', parents: [id], branch: 'fresh' });
    expect(await history.resolve('fresh')).toBe(fresh);
  });
});

describe.each(repositories)('symbolic references %s', (_name, open) => {
  it('are followed by a commit and stay', async () => {
    const repository = await open();
    const history = new History({ repository, clock: () => 0 });
    const fileSystem = await openFileSystem(new MemoryStorage());
    const first = await history.commit(fileSystem, { message: 'first' });
    await repository.swapRef('refs/heads/sym', undefined, { ref: 'refs/heads/main' });
    await repository.swapRef('HEAD', { ref: 'refs/heads/main' }, { ref: 'refs/heads/sym' });
    const second = await history.commit(fileSystem, { message: 'second' });
    const third = await history.commit(fileSystem, { message: 'third', branch: 'sym' });
    const seen: string[] = [];
    for await (const { id } of history.log('main')) seen.push(id);
    expect(seen).toEqual([third, second, first]);
    expect(await repository.readRef('refs/heads/sym')).toEqual({ ref: 'refs/heads/main' });
    await repository.swapRef('refs/heads/loop', undefined, { ref: 'refs/heads/loop' });
    const into = history.commit(fileSystem, { message: 'nowhere', branch: 'loop' });
    await expect(into).rejects.toMatchObject({ code: 'corrupt' });
  });
});

describe('checkRefName()', () => {
  it.each([
    'refs/heads/a b',
    'refs/heads/..',
    'refs/heads/a.lock',
    'refs/heads/',
    'heads/main',
    'refs/heads/a//b',
    'refs/heads/.x',
    'refs/heads/a~1',
    'refs/heads/a@{1}',
    'refs/heads/\0',
    '',
    'refs/heads/x.',
    '../HEAD',
  ])('refuses %j, as git check-ref-format does', (name) => expect(() => checkRefName(name)).toThrow(TypeError));
  it.each(['HEAD', 'refs/heads/main', 'refs/heads/ünï', 'refs/heads/a/b', 'refs/heads/__proto__'])(
    'accepts %j',
    (name) => {
      expect(checkRefName(name)).toBe(name);
    },
  );
});
