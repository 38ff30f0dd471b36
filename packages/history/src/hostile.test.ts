import { openFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { History } from './history.js';
import { type ObjectId, putId } from './object-id.js';
import { idOf, type ObjectType } from './objects/git-object.js';
import { concat, portablePrimitives } from './primitives.js';
import { MemoryRepository } from './stores/memory-repository.js';
import { SampleGit } from './testing/sample-git.js';

const git = new SampleGit();
beforeAll(() => void git.run(['init', '-q']));
afterAll(() => git.remove());

const encoder = new TextEncoder();
const nameBytes = (name: string | Uint8Array): Uint8Array => (typeof name === 'string' ? encoder.encode(name) : name);

function rawTree(entries: readonly (readonly [mode: string, name: string | Uint8Array, id: ObjectId])[]): Uint8Array {
  return concat(
    entries.map(([mode, name, id]) => {
      const bytes = new Uint8Array(20);
      putId(bytes, 0, id);
      return concat([encoder.encode(`${mode} `), nameBytes(name), Uint8Array.of(0), bytes]);
    }),
  );
}

/** Creates a history whose only version has the given tree. */
async function historyOf(tree: Uint8Array) {
  const repository = new MemoryRepository();
  const write = async (type: ObjectType, body: Uint8Array): Promise<ObjectId> => {
    const id = idOf({ type, body }, 'sha1', portablePrimitives);
    await repository.write([{ type, body, id }]);
    return id;
  };
  await write('blob', encoder.encode('x'));
  await write('tree', rawTree([['100644', 'file', BLOB]]));
  const id = await write('tree', tree);
  return { history: new History({ repository }), tree: id };
}

const BLOB = idOf({ type: 'blob', body: encoder.encode('x') }, 'sha1', portablePrimitives);
const SUBTREE = idOf({ type: 'tree', body: rawTree([['100644', 'file', BLOB]]) }, 'sha1', portablePrimitives);

const DOT_GITS = [
  '.git',
  '.GIT',
  '.gIt',
  '.git ',
  '.git.',
  '.git...',
  '.git . .',
  'git~1',
  'GIT~1',
  '.g\u200cit',
  '.gi\u200dt',
  '\u200e.git',
  '.git\u200f',
  '.\u202agit',
  '.gi\u206ft',
  '.git\ufeff',
  '.GIT::$INDEX_ALLOCATION',
  '.git:stream',
  'git~1.',
  'git~1 ',
];
const FINE = [
  '.gitignore',
  '.gitx',
  'git',
  '.github',
  'git~2',
  'x.git',
  '.git_',
  '__proto__',
  'constructor',
  'ünï',
  '.gitattributes',
  '~',
  'a:b',
];
const ELSEWHERE = ['', '.', '..', 'a/b', '..\\x', 'a\\b', 'x'.repeat(256)];

describe('a tree with the name', () => {
  it.each(DOT_GITS)('%j is refused, as by git', async (name) => {
    const tree = rawTree([['40000', name, SUBTREE]]);
    const { history, tree: id } = await historyOf(tree);
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fileSystem.writeFile('/kept', 'kept');
    await expect(history.checkout(id, fileSystem)).rejects.toMatchObject({ code: 'hostile' });
    expect(fileSystem.toJSON()).toEqual({ '/kept': 'kept' });
    git.run(['hash-object', '-w', '-t', 'blob', '--stdin'], 'x');
    git.run(['hash-object', '-w', '-t', 'tree', '--stdin', '--literally'], rawTree([['100644', 'file', BLOB]]));
    git.run(['hash-object', '-w', '-t', 'tree', '--stdin', '--literally'], tree);
    const protect = ['-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true'];
    expect(git.try([...protect, 'read-tree', id]).status).not.toBe(0);
  });

  it.each(ELSEWHERE)('%j is refused, because no filesystem can hold it', async (name) => {
    const { history, tree } = await historyOf(rawTree([['100644', name, BLOB]]));
    await expect(history.checkout(tree, await openFileSystem(new MemoryStorage()))).rejects.toMatchObject({
      code: 'hostile',
    });
  });

  it.each(FINE)('%j is accepted, as by git', async (name) => {
    const { history, tree } = await historyOf(rawTree([['100644', name, BLOB]]));
    const fileSystem = await openFileSystem(new MemoryStorage());
    await history.checkout(tree, fileSystem);
    expect(await fileSystem.readdir('/')).toEqual([name]);
    expect(await history.writeTree(fileSystem)).toBe(tree);
  });
});

describe('a tree', () => {
  const refused: readonly (readonly [string, Uint8Array, string])[] = [
    [
      'with a name twice',
      rawTree([
        ['100644', 'a', BLOB],
        ['100644', 'a', BLOB],
      ]),
      'hostile',
    ],
    [
      'with a file and a directory of one name',
      rawTree([
        ['100644', 'a', BLOB],
        ['40000', 'a', SUBTREE],
      ]),
      'hostile',
    ],
    [
      'that is not sorted',
      rawTree([
        ['100644', 'b', BLOB],
        ['100644', 'a', BLOB],
      ]),
      'corrupt',
    ],
    ['with a name that is not UTF-8', rawTree([['100644', Uint8Array.of(0xff, 0xfe), BLOB]]), 'hostile'],
    ['with an unknown mode', rawTree([['100600', 'a', BLOB]]), 'hostile'],
    ['with a padded mode', rawTree([['040000', 'a', SUBTREE]]), 'hostile'],
    ['that makes .gitmodules a link', rawTree([['120000', '.gitmodules', BLOB]]), 'hostile'],
    ['that makes .gitmodules a link under another name', rawTree([['120000', 'GITMOD~1', BLOB]]), 'hostile'],
    ['that is cut off', rawTree([['100644', 'a', BLOB]]).subarray(0, 20), 'corrupt'],
    ['whose file is a tree', rawTree([['100644', 'a', SUBTREE]]), 'wrong-type'],
    ['whose directory is a file', rawTree([['40000', 'a', BLOB]]), 'wrong-type'],
    ['whose file is missing', rawTree([['100644', 'a', 'f'.repeat(40) as ObjectId]]), 'not-found'],
  ];

  it.each(refused)('%s is refused and nothing changes', async (_name, tree, code) => {
    const { history, tree: id } = await historyOf(tree);
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fileSystem.writeFile('/kept', 'kept');
    await expect(history.checkout(id, fileSystem)).rejects.toMatchObject({ name: 'HistoryError', code });
    expect(fileSystem.toJSON()).toEqual({ '/kept': 'kept' });
  });

  it('cannot write through a link that it contains itself', async () => {
    const link = encoder.encode('/etc');
    const repository = new MemoryRepository();
    const target = idOf({ type: 'blob', body: link }, 'sha1', portablePrimitives);
    await repository.write([{ type: 'blob', body: link, id: target }]);
    const tree = rawTree([
      ['120000', 'a', target],
      ['40000', 'a', SUBTREE],
    ]);
    const { history, tree: id } = await historyOf(tree);
    await expect(history.checkout(id, await openFileSystem(new MemoryStorage()))).rejects.toMatchObject({
      code: 'hostile',
    });
  });

  it('is not made of a filesystem with names that git refuses', async () => {
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fileSystem.mkdir('/sub/.git', { recursive: true });
    await fileSystem.writeFile('/sub/.git/config', 'x');
    await expect(new History().commit(fileSystem, { message: 'x' })).rejects.toMatchObject({ code: 'hostile' });
  });
});

/**
 * Stores twelve nested trees around `last`, each with `width` names of the next one. Returns the id of the outermost.
 */
async function bomb(repository: MemoryRepository, width: number, last: Uint8Array): Promise<ObjectId> {
  let body = last;
  for (let level = 1; ; level++) {
    const id = idOf({ type: 'tree', body }, 'sha1', portablePrimitives);
    await repository.write([{ type: 'tree', body, id }]);
    if (level === 12) return id;
    const names = Array.from({ length: width }, (_, i) => `d${String(i).padStart(5, '0')}`);
    body = rawTree(names.map((name) => ['40000', name, id] as const));
  }
}

describe('a few trees that contain each other many times', () => {
  const EMPTY = new Uint8Array();
  const storages = { memory: () => new MemoryStorage(), 'async memory': () => asyncMemoryStorage() };

  const bombs = async (maxEntries?: number) => {
    const repository = new MemoryRepository();
    const history = new History({ repository, maxEntries });
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fileSystem.writeFile('/file', 'x');
    const plain = await history.writeTree(fileSystem);
    const file = rawTree([['100644', 'file', BLOB]]);
    const ids = [
      await bomb(repository, 10, file),
      await bomb(repository, 10, EMPTY),
      await bomb(repository, 1_500, file),
    ];
    return { history, plain, ids };
  };

  it.each(Object.entries(storages))(
    'stop a checkout at the limit of a filesystem in %s, which stays unchanged',
    async (_name, storage) => {
      const { history, ids } = await bombs();
      const fileSystem = await openFileSystem(storage(), { limits: { maxNodeCount: 1_000 } });
      await fileSystem.writeFile('/kept', 'kept');
      for (const id of ids) {
        const refused = expect(history.checkout(id, fileSystem)).rejects;
        await refused.toMatchObject({ code: 'ENOSPC', limit: 'maxNodeCount', allowed: 1_000 });
      }
      expect(await fileSystem.readdir('/')).toEqual(['kept']);
    },
  );

  it('stop a checkout without limits at the default of maxEntries, within 512 MiB', async () => {
    const {
      history,
      ids: [, , wide],
    } = await bombs();
    const fileSystem = await openFileSystem(new MemoryStorage());
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().heapUsed)), 20);
    const before = process.memoryUsage().heapUsed;
    try {
      await expect(history.checkout(wide as ObjectId, fileSystem)).rejects.toMatchObject({ code: 'too-large' });
    } finally {
      clearInterval(timer);
    }
    expect(peak - before).toBeLessThan(512 * 2 ** 20);
    expect(fileSystem.toJSON()).toEqual({});
  });

  it('stop every method that lists them at maxEntries', async () => {
    const { history, ids, plain } = await bombs(2_000);
    const fileSystem = await openFileSystem(new MemoryStorage());
    const tooLarge = { name: 'HistoryError', code: 'too-large', message: expect.stringContaining('maxEntries') };
    const options = { parents: [], message: 'x' };
    const commit = await history.commitTree(plain, options);
    for (const id of ids) {
      const list = async () => {
        for await (const _ of history.list(id));
      };
      await expect(list()).rejects.toMatchObject(tooLarge);
      await expect(history.checkout(id, fileSystem)).rejects.toMatchObject(tooLarge);
      await expect(history.restore(id, '/d00000', fileSystem)).rejects.toMatchObject(tooLarge);
      await expect(history.diff(undefined, id)).rejects.toMatchObject(tooLarge);
      await expect(history.diff(id, plain, { renames: true })).rejects.toMatchObject(tooLarge);
      const theirs = await history.commitTree(id, { ...options, parents: [commit] });
      await expect(history.merge(undefined, commit, theirs)).rejects.toMatchObject(tooLarge);
      await expect(history.merge(plain, id, plain)).rejects.toMatchObject(tooLarge);
      expect((await history.verify(theirs)).problems).toEqual([]);
    }
  });

  it('are listed up to exactly maxEntries', async () => {
    const repository = new MemoryRepository();
    const tree = await bomb(repository, 1, rawTree([['100644', 'file', BLOB]]));
    const listed = async (maxEntries: number) => {
      const paths: string[] = [];
      for await (const { path } of new History({ repository, maxEntries }).list(tree)) paths.push(path);
      return paths.length;
    };
    expect(await listed(12)).toBe(1);
    await expect(listed(11)).rejects.toMatchObject({ code: 'too-large' });
    for (const wrong of [0, 1.5, Number.NaN]) expect(() => new History({ maxEntries: wrong })).toThrow(RangeError);
  });

  it('count once more for each 256 characters of a path', async () => {
    const repository = new MemoryRepository();
    let body = rawTree([['100644', 'file', BLOB]]);
    let id = BLOB;
    for (let depth = 0; depth <= 100; depth++) {
      id = idOf({ type: 'tree', body }, 'sha1', portablePrimitives);
      await repository.write([{ type: 'tree', body, id }]);
      body = rawTree([['40000', 'x'.repeat(255), id]]);
    }
    const list = async () => {
      for await (const _ of new History({ repository, maxEntries: 1_000 }).list(id));
    };
    await expect(list()).rejects.toMatchObject({ code: 'too-large' });
  });
});

describe('every object', () => {
  it('is reported as damaged if any byte of it changes', async () => {
    const repository = new MemoryRepository();
    const history = new History({ repository, clock: () => 0 });
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fileSystem.mkdir('/dir');
    await fileSystem.writeFile('/dir/file', 'content');
    const id = await history.commit(fileSystem, { message: 'x' });
    const ids: ObjectId[] = [id, await history.treeOf(id)];
    for await (const entry of history.list(id)) ids.push(entry.id);
    let flips = 0;
    for (const wanted of ids) {
      const held = await repository.read(wanted);
      for (let at = 0; at < (held?.body.length ?? 0); at++) {
        const body = held?.body.slice() as Uint8Array;
        body[at] = (body[at] as number) ^ 1;
        const broken = Object.assign(new MemoryRepository(), {
          read: async (other: ObjectId) => (other === wanted ? { type: held?.type, body } : repository.read(other)),
        });
        const { problems } = await new History({ repository: broken as unknown as MemoryRepository })
          .verify(id)
          .catch((error: { code: string }) => ({ problems: [error.code] }));
        expect(problems.length, `byte ${at} of ${wanted}`).toBeGreaterThan(0);
        flips += 1;
      }
    }
    expect(flips).toBeGreaterThan(150);
  });
});
