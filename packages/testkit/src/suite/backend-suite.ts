import type {
  Backend,
  Batch,
  Check,
  CommitResult,
  Limits,
  LoadRequest,
  LoadResult,
  Metadata,
  NodeAddress,
  NodeRecord,
  Write,
} from '@scratchfs/core';
import { equal, ok, rejects } from './assert.js';
import { utf8 } from './context.js';
import type { TestRunner } from './runner.js';
import { storedLimitCases } from './stored-limits.js';

export interface BackendSuiteOptions {
  /** `describe` and `it` of any test runner. */
  readonly test: TestRunner;
  /** Creates an empty backend. */
  readonly create: () => Backend | Promise<Backend>;
  /** Name of the group of tests. Default `Backend`. */
  readonly name?: string | undefined;
}

const META: Metadata = { mode: 0o640, uid: 1, gid: 2, atime: 10, mtime: 20, ctime: 30, birthtime: 40 };
const LATER: Metadata = { ...META, mode: 0o600, mtime: 21, ctime: 31 };

/**
 * Tests that every adapter must pass: loads, atomic commits with checks, limits and operation ids, and, if the backend
 * has them, stored limits, checkpoints, forks and watches.
 */
export function backendSuite({ test, create, name = 'Backend' }: BackendSuiteOptions): void {
  const add = (title: string, run: (client: Client) => Promise<void>): void => {
    test.it(title, async () => {
      const backend = await create();
      try {
        await run(new Client(backend));
      } finally {
        await backend.close();
      }
    });
  };
  test.describe(name, () => {
    test.describe('loading', () => loadCases(add));
    test.describe('writes', () => writeCases(add));
    test.describe('checks', () => checkCases(add));
    test.describe('limits', () => limitCases(add));
    test.describe('stored limits', () => storedLimitCases((title, run) => add(title, ({ backend }) => run(backend))));
    test.describe('operation ids', () => outcomeCases(add));
    test.describe('checkpoint store and forks', () => checkpointStoreCases(add));
    test.describe('watching', () => watchCases(add));
  });
}

type Loading = (requests: readonly LoadRequest[]) => Promise<readonly LoadResult[]>;
type AddBackend = (title: string, run: (client: Client) => Promise<void>) => void;

/** A minimal client of a backend: it makes ids, sends batches, and looks nodes up by their paths. */
class Client {
  #ids = 0;
  #operations = 0;
  constructor(
    readonly backend: Backend,
    readonly load: Loading = (requests) => backend.load(requests),
  ) {}

  /** Returns a client that reads a checkpoint; its commits go to the current state. */
  kept(id: string): Client {
    return new Client(this.backend, async (requests) => {
      const results = await this.backend.checkpointStore?.load(id, requests);
      if (results === undefined || results === 'missing') throw new Error(`the state ${id} is kept`);
      return results;
    });
  }
  id(): string {
    this.#ids += 1;
    return `node-${this.#ids}`;
  }
  operation(): string {
    this.#operations += 1;
    return `operation-${this.#operations}`;
  }
  commit(
    writes: readonly Write[],
    checks: readonly Check[] = [],
    limits: Limits = {},
    operationId = this.operation(),
  ): Promise<CommitResult> {
    return this.backend.commit({ operationId, checks, writes, limits });
  }
  async good(writes: readonly Write[], checks: readonly Check[] = [], limits: Limits = {}): Promise<void> {
    equal((await this.commit(writes, checks, limits)).kind, 'ok');
  }
  async one<W extends LoadRequest>(request: W): Promise<Extract<LoadResult, { kind: W['kind'] }>> {
    const [result] = await this.load([request]);
    equal(result?.kind, request.kind, `the result of ${request.kind}`);
    return result as Extract<LoadResult, { kind: W['kind'] }>;
  }
  /** Returns the node at a path, or null if there is none. */
  async node(path: string): Promise<NodeRecord | null> {
    const { nodes } = await this.one({ kind: 'path', path, content: 0 });
    const names = path === '/' ? [] : path.slice(1).split('/');
    return nodes.length === names.length + 1 ? (nodes[names.length] as NodeRecord | null) : null;
  }
  async at(path: string): Promise<NodeAddress> {
    const node = await this.node(path);
    ok(node !== null, `${path} is there`);
    return { path, id: node.id };
  }
  async content(path: string): Promise<Uint8Array> {
    const node = await this.node(path);
    ok(node !== null, `${path} is there`);
    return (await this.one({ kind: 'content', at: { path, id: node.id }, offset: 0, length: node.size })).bytes;
  }
  async list(path: string): Promise<readonly string[]> {
    return (await this.one({ kind: 'list', at: await this.at(path), after: undefined, limit: 1_000 })).names;
  }
  file(path: string, text = '', id = this.id()): Write {
    return { kind: 'create', path, id, type: 'file', meta: META, content: utf8(text) };
  }
  directory(path: string, id = this.id()): Write {
    return { kind: 'create', path, id, type: 'directory', meta: META };
  }
  link(path: string, target: string): Write {
    return { kind: 'create', path, id: this.id(), type: 'symlink', meta: META, target };
  }
  /** Returns all visible state as plain data, without versions. */
  async dump(): Promise<unknown> {
    const rows: unknown[] = [];
    const visit = async (path: string): Promise<void> => {
      const node = (await this.node(path)) as NodeRecord;
      rows.push([
        path,
        node.kind,
        node.meta,
        node.size,
        node.links,
        node.target ?? null,
        node.directory?.totals ?? null,
        node.directory?.count ?? null,
      ]);
      if (node.kind === 'file') rows.push(await this.content(path));
      if (node.kind === 'directory')
        for (const name of await this.list(path)) await visit(path === '/' ? `/${name}` : `${path}/${name}`);
    };
    await visit('/');
    return rows;
  }
  /** Commits a batch that must be refused, and expects that nothing changed. */
  async refused(
    kind: CommitResult['kind'],
    writes: readonly Write[],
    checks: readonly Check[] = [],
    limits: Limits = {},
  ): Promise<CommitResult> {
    const before = await this.dump();
    const result = await this.commit(writes, checks, limits);
    equal(result.kind, kind);
    equal(await this.dump(), before, 'the state after a refused commit');
    return result;
  }
}

function loadCases(add: AddBackend): void {
  add('a new backend has an empty root', async (client) => {
    const root = (await client.node('/')) as NodeRecord;
    equal(
      [root.kind, root.links, root.directory?.count, root.directory?.totals],
      ['directory', 1, 0, { size: 0, files: 0, directories: 0, linked: 0 }],
    );
  });

  add('a path returns its nodes from the root, ending with null at an absent name', async (client) => {
    await client.good([client.directory('/d'), client.file('/d/f', 'text'), client.link('/l', 'd')]);
    const kinds = async (path: string): Promise<unknown[]> =>
      (await client.one({ kind: 'path', path, content: 0 })).nodes.map((node) => node?.kind ?? null);
    equal(await kinds('/'), ['directory']);
    equal(await kinds('/d/f'), ['directory', 'directory', 'file']);
    equal(await kinds('/d/x'), ['directory', 'directory', null]);
    equal(await kinds('/x/y/z'), ['directory', null]);
    const through = await kinds('/l/f');
    equal(through.slice(0, 2), ['directory', 'symlink'], 'links are not followed');
  });

  add('a node record has id, kind, metadata, size, links and target as given', async (client) => {
    await client.good([client.file('/f', 'héllo', 'my-id'), client.link('/l', '../é')]);
    const [f, l] = [await client.node('/f'), await client.node('/l')];
    equal([f?.id, f?.kind, f?.meta, f?.size, f?.links, f?.target], ['my-id', 'file', META, 6, 1, undefined]);
    equal([l?.kind, l?.size, l?.target], ['symlink', 5, '../é']);
  });

  add('a path returns the content too if it is small enough', async (client) => {
    await client.good([client.file('/f', '12345')]);
    equal((await client.one({ kind: 'path', path: '/f', content: 5 })).content, utf8('12345'));
    equal((await client.one({ kind: 'path', path: '/f', content: 4 })).content, undefined);
  });

  add('a listing is sorted by UTF-8 bytes and comes in pages', async (client) => {
    const names = ['B', 'a', 'a b', 'aa', 'é', '\ue000', '\uffee', '😀', '𝒳'];
    await client.good([client.directory('/d'), ...[...names].reverse().map((name) => client.file(`/d/${name}`, name))]);
    const sorted = ['B', 'a', 'a b', 'aa', 'é', '\ue000', '\uffee', '𝒳', '😀'];
    equal(await client.list('/d'), sorted);
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < 20; page++) {
      const result = await client.one({ kind: 'list', at: await client.at('/d'), after, limit: 2 });
      equal(result.names.length, result.nodes.length);
      ok(result.names.length <= 2, 'a page is no longer than asked for');
      seen.push(...result.names);
      if (result.complete) break;
      after = result.names.at(-1);
    }
    equal(seen, sorted);
  });

  add('a tree returns complete listings, parents first, with contents if requested', async (client) => {
    await client.good([
      client.directory('/d'),
      client.directory('/d/e'),
      client.file('/d/e/f', 'deep'),
      client.file('/d/x', 'flat'),
    ]);
    const result = await client.one({ kind: 'tree', at: await client.at('/d'), budget: 1_000_000, contents: true });
    equal(
      result.listings.map((listing) => [listing.path, listing.names]),
      [
        ['', ['e', 'x']],
        ['e', ['f']],
      ],
    );
    const contents = result.listings[1]?.contents?.[0];
    ok(contents === undefined || contents.length === 4, 'a content that comes along is whole');
    const small = await client.one({ kind: 'tree', at: await client.at('/d'), budget: 1, contents: false });
    ok(small.listings.length <= 2, 'a small budget brings less');
  });

  add('a range of content ends at the end of the file', async (client) => {
    await client.good([client.file('/f', '0123456789')]);
    const at = await client.at('/f');
    const range = async (offset: number, length: number): Promise<Uint8Array> =>
      (await client.one({ kind: 'content', at, offset, length })).bytes;
    equal([await range(2, 3), await range(8, 100), await range(10, 5)], [utf8('234'), utf8('89'), utf8('')]);
  });

  add('an address whose path no longer leads to its id is gone', async (client) => {
    await client.good([client.directory('/d'), client.file('/f', 'x')]);
    const [d, f] = [await client.at('/d'), await client.at('/f')];
    await client.good([
      { kind: 'remove', path: '/d', time: 50 } as Write,
      { kind: 'remove', path: '/f', time: 50 } as Write,
      client.directory('/d'),
      client.file('/f', 'y'),
    ]);
    const results = await client.backend.load([
      { kind: 'list', at: d, after: undefined, limit: 10 },
      { kind: 'tree', at: d, budget: 10, contents: false },
      { kind: 'content', at: f, offset: 0, length: 1 },
    ]);
    equal(
      results.map((result) => result.kind),
      ['gone', 'gone', 'gone'],
    );
  });

  add('results are in the order of the requests', async (client) => {
    await client.good([client.file('/a', '1'), client.file('/b', '22')]);
    const results = await client.backend.load(
      ['/b', '/missing', '/a'].map((path) => ({ kind: 'path', path, content: 10 }) as const),
    );
    equal(
      results.map((result) => (result.kind === 'path' ? (result.nodes[1]?.size ?? null) : result.kind)),
      [2, null, 1],
    );
    equal(await client.backend.load([]), []);
  });

  add('loaded and committed data is not shared with the backend', async (client) => {
    const bytes = utf8('before');
    await client.good([{ kind: 'create', path: '/f', id: client.id(), type: 'file', meta: META, content: bytes }]);
    bytes.fill(0x78);
    equal(await client.content('/f'), utf8('before'));
    (await client.content('/f')).fill(0x78);
    (await client.one({ kind: 'path', path: '/f', content: 100 })).content?.fill(0x78);
    equal(await client.content('/f'), utf8('before'));
  });

  add('an aborted signal rejects and changes nothing', async (client) => {
    const signal = AbortSignal.abort(new Error('stop'));
    const before = await client.dump();
    await rejects(() => client.backend.load([{ kind: 'path', path: '/', content: 0 }], { signal }), 'Error');
    await rejects(
      () =>
        client.backend.commit({ operationId: 'x', checks: [], writes: [client.file('/f')], limits: {} }, { signal }),
      'Error',
    );
    equal(await client.dump(), before);
  });
}

function writeCases(add: AddBackend): void {
  add('write shortens or extends with zeros, then writes its parts', async (client) => {
    await client.good([client.file('/f', '0123456789')]);
    await client.good([{ kind: 'write', path: '/f', size: 6, parts: [{ offset: 1, bytes: utf8('ab') }], meta: LATER }]);
    equal(await client.content('/f'), utf8('0ab345'));
    equal((await client.node('/f'))?.meta, LATER);
    await client.good([{ kind: 'write', path: '/f', size: 9, parts: [{ offset: 8, bytes: utf8('!') }], meta: LATER }]);
    equal(await client.content('/f'), Uint8Array.from([...utf8('0ab345'), 0, 0, 0x21]));
    await client.good([{ kind: 'write', path: '/f', size: 0, parts: [], meta: LATER }]);
    equal(await client.content('/f'), utf8(''));
  });

  add('writes are applied in order, each to the result of those before', async (client) => {
    await client.good([
      client.directory('/a'),
      client.file('/a/f', 'x'),
      { kind: 'move', from: '/a', to: '/b', time: 5 },
      { kind: 'write', path: '/b/f', size: 1, parts: [{ offset: 0, bytes: utf8('y') }], meta: LATER },
      { kind: 'meta', path: '/b', meta: LATER },
      client.file('/b/g', 'z'),
    ]);
    equal(await client.list('/'), ['b']);
    equal(await client.list('/b'), ['f', 'g']);
    equal([await client.content('/b/f'), (await client.node('/b'))?.meta], [utf8('y'), LATER]);
  });

  add('move keeps all ids', async (client) => {
    await client.good([
      client.directory('/a', 'A'),
      client.directory('/a/b', 'B'),
      client.file('/a/b/f', 'x', 'F'),
      client.directory('/t'),
    ]);
    await client.good([{ kind: 'move', from: '/a', to: '/t/z', time: 5 }]);
    equal(
      [(await client.node('/t/z'))?.id, (await client.node('/t/z/b'))?.id, (await client.node('/t/z/b/f'))?.id],
      ['A', 'B', 'F'],
    );
    equal(await client.node('/a'), null);
  });

  add('remove removes a directory with everything under it', async (client) => {
    await client.good([
      client.directory('/a'),
      client.directory('/a/b'),
      client.file('/a/b/f', '12345'),
      client.file('/ab', 'kept'),
    ]);
    await client.good([{ kind: 'remove', path: '/a', time: 50 } as Write]);
    equal(await client.list('/'), ['ab']);
    equal((await client.node('/'))?.directory?.totals, { size: 4, files: 1, directories: 0, linked: 0 });
  });

  add('link adds a name to a node; totals count it once', async (client) => {
    await client.good([client.directory('/d'), client.file('/f', '12345', 'F')]);
    await client.good([{ kind: 'link', from: '/f', path: '/d/g' }]);
    const [f, g] = [await client.node('/f'), await client.node('/d/g')];
    equal([f?.id, g?.id, f?.links, g?.links], ['F', 'F', 2, 2]);
    await client.good([{ kind: 'write', path: '/d/g', size: 3, parts: [], meta: LATER }]);
    equal([await client.content('/f'), (await client.node('/'))?.directory?.totals.size], [utf8('123'), 3]);
    await client.good([{ kind: 'remove', path: '/f', time: 50 } as Write]);
    equal([await client.content('/d/g'), (await client.node('/d/g'))?.links], [utf8('123'), 1]);
  });

  add('totals and counts follow every write', async (client) => {
    await client.good([
      client.directory('/d'),
      client.directory('/d/e'),
      client.file('/d/e/f', '12345'),
      client.link('/d/l', 'xx'),
      client.file('/g', '1'),
    ]);
    const countsOf = async (path: string): Promise<unknown> => {
      const directory = (await client.node(path))?.directory;
      return [directory?.count, directory?.totals];
    };
    equal(await countsOf('/d'), [2, { size: 7, files: 2, directories: 1, linked: 0 }]);
    equal(await countsOf('/'), [2, { size: 8, files: 3, directories: 2, linked: 0 }]);
    await client.good([{ kind: 'move', from: '/d/e', to: '/e', time: 5 }]);
    equal(await countsOf('/d'), [1, { size: 2, files: 1, directories: 0, linked: 0 }]);
    equal(await countsOf('/'), [3, { size: 8, files: 3, directories: 2, linked: 0 }]);
  });

  add('a version changes with every change of its node, a tree version with every change under it', async (client) => {
    await client.good([
      client.directory('/d'),
      client.directory('/d/e'),
      client.file('/d/e/f', 'x'),
      client.directory('/other'),
    ]);
    const versions = async (): Promise<unknown[]> => {
      const [d, e, f, other] = [
        await client.node('/d'),
        await client.node('/d/e'),
        await client.node('/d/e/f'),
        await client.node('/other'),
      ];
      return [
        d?.directory?.tree,
        d?.directory?.listing,
        e?.directory?.tree,
        e?.directory?.listing,
        f?.version,
        other?.directory?.tree,
      ];
    };
    const compare = async (change: Write, expected: readonly boolean[], what: string): Promise<void> => {
      const before = await versions();
      await client.good([change]);
      const after = await versions();
      equal(
        after.map((version, i) => version !== before[i]),
        expected,
        what,
      );
    };
    await compare(
      { kind: 'write', path: '/d/e/f', size: 0, parts: [], meta: LATER },
      [true, false, true, false, true, false],
      'a write',
    );
    await compare({ kind: 'meta', path: '/d/e/f', meta: META }, [true, false, true, false, true, false], 'metadata');
    await compare(client.file('/d/e/g'), [true, false, true, true, false, false], 'a new name');
    await compare(
      { kind: 'move', from: '/d/e/g', to: '/d/e/h', time: 5 },
      [true, false, true, true, false, false],
      'a move',
    );
    await compare(
      { kind: 'remove', path: '/d/e/h', time: 50 } as Write,
      [true, false, true, true, false, false],
      'a removal',
    );
  });
}

function checkCases(add: AddBackend): void {
  add('a batch whose checks hold is applied', async (client) => {
    await client.good([client.directory('/d', 'D'), client.file('/d/f', 'x', 'F'), client.directory('/empty', 'E')]);
    const [d, f] = [(await client.node('/d')) as NodeRecord, (await client.node('/d/f')) as NodeRecord];
    await client.good(
      [client.file('/d/g')],
      [
        { kind: 'entry', path: '/d', id: 'D' },
        { kind: 'entry', path: '/d/f', id: 'F', version: f.version },
        { kind: 'entry', path: '/d/g', id: null },
        { kind: 'empty', path: '/empty', id: 'E' },
        { kind: 'listing', path: '/d', id: 'D', version: d.directory?.listing as string },
        { kind: 'tree', path: '/d', id: 'D', version: d.directory?.tree as string },
      ],
    );
    equal(await client.list('/d'), ['f', 'g']);
  });

  add('a failed check is reported as a conflict, and nothing is written', async (client) => {
    await client.good([client.directory('/d', 'D'), client.file('/d/f', 'x', 'F')]);
    const [d, f] = [(await client.node('/d')) as NodeRecord, (await client.node('/d/f')) as NodeRecord];
    await client.good([
      { kind: 'write', path: '/d/f', size: 1, parts: [{ offset: 0, bytes: utf8('y') }], meta: LATER },
      client.file('/d/new'),
    ]);
    const failing: readonly Check[] = [
      { kind: 'entry', path: '/d', id: 'other' },
      { kind: 'entry', path: '/d/f', id: 'F', version: f.version },
      { kind: 'entry', path: '/d/new', id: null },
      { kind: 'entry', path: '/missing', id: 'D' },
      { kind: 'entry', path: '/missing/deep', id: 'D' },
      { kind: 'empty', path: '/d', id: 'D' },
      { kind: 'listing', path: '/d', id: 'D', version: d.directory?.listing as string },
      { kind: 'tree', path: '/d', id: 'D', version: d.directory?.tree as string },
      { kind: 'tree', path: '/d', id: 'other', version: d.directory?.tree as string },
    ];
    const good: Check = { kind: 'entry', path: '/d', id: 'D' };
    for (const check of failing) {
      const result = await client.refused('conflict', [client.file('/x'), client.file('/d/y')], [good, check, good]);
      if (result.kind === 'conflict')
        equal(result.checks.includes(1), true, `the failed check ${JSON.stringify(check)} is named`);
    }
  });

  add('of two writers with the same checks one wins', async (client) => {
    await client.good([client.file('/f', '0', 'F')]);
    const { version } = (await client.node('/f')) as NodeRecord;
    const attempts = await Promise.all(
      ['1', '2', '3', '4'].map((text) =>
        client.commit(
          [{ kind: 'write', path: '/f', size: 1, parts: [{ offset: 0, bytes: utf8(text) }], meta: LATER }],
          [{ kind: 'entry', path: '/f', id: 'F', version }],
        ),
      ),
    );
    equal(attempts.filter((result) => result.kind === 'ok').length, 1);
  });

  add('checks apply to the state before the batch', async (client) => {
    await client.good([client.file('/f')], [{ kind: 'entry', path: '/f', id: null }]);
    await client.refused('conflict', [client.file('/g')], [{ kind: 'entry', path: '/f', id: null }]);
  });
}

function limitCases(add: AddBackend): void {
  add('a batch over a limit is refused completely, with limit, used and requested', async (client) => {
    await client.good([client.directory('/d'), client.file('/d/f', '12345')]);
    const cases: readonly [Limits, Write[], unknown][] = [
      [{ maxTotalSize: 9 }, [client.file('/a', '12'), client.file('/b', '345')], ['maxTotalSize', 9, 5, 10]],
      [{ maxNodeCount: 3 }, [client.file('/a'), client.file('/b')], ['maxNodeCount', 3, 2, 4]],
    ];
    for (const [limits, writes, expected] of cases) {
      const result = await client.refused('limit', writes, [], limits);
      if (result.kind === 'limit') equal([result.limit, result.allowed, result.used, result.requested], expected);
    }
    const big = await client.refused('limit', [client.file('/a', '123456')], [], { maxFileSize: 5 });
    if (big.kind === 'limit') equal([big.limit, big.allowed, big.requested], ['maxFileSize', 5, 6]);
  });

  add('a batch exactly at a limit passes, and one that shrinks always does', async (client) => {
    const limits = { maxTotalSize: 5, maxNodeCount: 1, maxFileSize: 5 };
    await client.good([client.file('/f', '12345')], [], limits);
    await client.good([{ kind: 'write', path: '/f', size: 3, parts: [], meta: LATER }], [], {
      maxTotalSize: 1,
      maxFileSize: 1,
    });
    await client.good([{ kind: 'remove', path: '/f', time: 50 } as Write, client.file('/g', '54321')], [], limits);
  });
}

function outcomeCases(add: AddBackend): void {
  add('a batch that is sent again changes nothing and returns the same result', async (client) => {
    const batch: Batch = {
      operationId: 'once',
      checks: [{ kind: 'entry', path: '/f', id: null }],
      writes: [client.file('/f', 'x', 'F')],
      limits: {},
    };
    const first = await client.backend.commit(batch);
    await client.good([{ kind: 'write', path: '/f', size: 0, parts: [], meta: LATER }]);
    const before = await client.dump();
    equal(await client.backend.commit(batch), first);
    equal(await client.dump(), before);
  });

  add('outcome returns the result of a batch', async (client) => {
    const writes = [client.file('/f', 'x', 'F')];
    const result = await client.commit(writes, [], {}, 'done');
    equal(await client.backend.outcome('done'), result);
    const conflict = await client.commit(writes, [{ kind: 'entry', path: '/f', id: null }], {}, 'lost');
    equal(conflict.kind, 'conflict');
    const known = await client.backend.outcome('lost');
    ok(known === 'absent' || known === 'unknown' || known.kind === 'conflict', 'a conflict changed nothing');
  });

  add('an operation that was reported as absent is never applied later', async (client) => {
    equal(await client.backend.outcome('never'), 'absent');
    const before = await client.dump();
    try {
      const late = await client.commit([client.file('/f')], [], {}, 'never');
      ok(late.kind !== 'ok', 'a late arrival is not applied');
    } catch (error) {
      ok(error instanceof Error, 'a late arrival is refused');
    }
    equal(await client.dump(), before);
  });
}

function watchCases(add: AddBackend): void {
  add('a function that is passed twice is called for each watch that has not ended', async (client) => {
    const { backend } = client;
    if (backend.watch === undefined) return;
    let calls = 0;
    const tell = (): void => {
      calls += 1;
    };
    const failures: unknown[] = [];
    const fail = (error: unknown): void => void failures.push(error);
    const [first, second] = [backend.watch(tell, fail), backend.watch(tell, fail)];
    try {
      await client.node('/');
      const callsOf = async (path: string): Promise<number> => {
        const before = calls;
        const batch = { operationId: client.operation(), checks: [], writes: [client.file(path)], limits: {} };
        equal((await backend.commit({ ...batch, changes: [{ type: 'create', path }] })).kind, 'ok');
        return calls - before;
      };
      equal(await callsOf('/both'), 2, 'calls for two watches');
      first();
      equal(await callsOf('/one'), 1, 'calls for the second watch');
      first();
      equal(await callsOf('/same'), 1, 'calls after the first watch was ended again');
      second();
      equal(await callsOf('/none'), 0, 'calls after both');
      equal(failures, [], 'failures');
    } finally {
      first();
      second();
    }
  });
}

function checkpointStoreCases(add: AddBackend): void {
  add('the checkpoint store keeps a state and restores it', async (client) => {
    const { checkpointStore } = client.backend;
    equal(
      checkpointStore !== undefined,
      client.backend.capabilities.checkpoints,
      'a checkpoint store exists if declared',
    );
    if (checkpointStore === undefined) return;
    await client.good([client.directory('/d'), client.file('/d/f', 'one')]);
    const before = await client.dump();
    equal(await checkpointStore.create('r1', 'first', 5, undefined), 'ok');
    equal(await checkpointStore.create('r2', 'first', 6, undefined), 'exists');
    equal(await checkpointStore.create('r2', 'r1', 6, undefined), 'exists');
    equal(await checkpointStore.create('r2', undefined, 6, 1), 'limit');
    await client.good([{ kind: 'remove', path: '/d', time: 50 } as Write, client.file('/g', 'two')]);
    equal(
      (await checkpointStore.list()).map(({ id, name, createdAt }) => [id, name, createdAt]),
      [['r1', 'first', 5]],
    );
    equal(await checkpointStore.restore('r1', {}), 'ok');
    equal(await client.dump(), before);
    equal(await checkpointStore.restore('missing', {}), 'missing');
    equal(await checkpointStore.drop('r1'), true);
    equal(await checkpointStore.drop('r1'), false);
    equal(await client.dump(), before);
  });

  add('a restore that exceeds a limit is refused', async (client) => {
    const { checkpointStore } = client.backend;
    if (checkpointStore === undefined) return;
    await client.good([client.file('/f', '12345')]);
    await checkpointStore.create('r', undefined, 0, undefined);
    await client.good([{ kind: 'remove', path: '/f', time: 50 } as Write]);
    const answer = await checkpointStore.restore('r', { maxTotalSize: 4 });
    equal(typeof answer === 'object' && answer.limit, 'maxTotalSize');
    equal(await client.list('/'), []);
  });

  add('a checkpoint is loaded as it was, whatever was written since', async (client) => {
    const { checkpointStore } = client.backend;
    if (checkpointStore === undefined) return;
    await client.good([client.directory('/d', 'D'), client.file('/d/f', 'before', 'F'), client.file('/gone', '', 'G')]);
    const before = await client.dump();
    const d = await client.at('/d');
    await checkpointStore.create('r', undefined, 0, undefined);
    await client.good([
      { kind: 'write', path: '/d/f', size: 5, parts: [{ offset: 0, bytes: utf8('after') }], meta: LATER },
      { kind: 'meta', path: '/d', meta: LATER },
      client.file('/d/new', 'x', 'N'),
      { kind: 'remove', path: '/gone', time: 50 } as Write,
      { kind: 'move', from: '/d', to: '/moved', time: 60 },
    ]);
    const kept = client.kept('r');
    equal(await kept.dump(), before);
    const tree = await kept.one({ kind: 'tree', at: d, budget: 1_000_000, contents: true });
    equal(
      tree.listings.map((listing) => [listing.path, listing.names]),
      [['', ['f']]],
    );
    const results = await kept.load([
      { kind: 'list', at: { path: '/moved', id: 'D' }, after: undefined, limit: 10 },
      { kind: 'content', at: { path: '/d/new', id: 'N' }, offset: 0, length: 1 },
      { kind: 'path', path: '/d/f', content: 100 },
    ]);
    equal(
      results.map((result) => (result.kind === 'path' ? result.content : result.kind)),
      ['gone', 'gone', utf8('before')],
    );
    equal(await client.list('/'), ['moved']);
  });

  add('an unknown or dropped checkpoint is missing', async (client) => {
    const { checkpointStore } = client.backend;
    if (checkpointStore === undefined) return;
    const root: LoadRequest = { kind: 'path', path: '/', content: 0 };
    await checkpointStore.create('r', undefined, 0, undefined);
    equal(typeof (await checkpointStore.load('r', [root])), 'object');
    equal(await checkpointStore.load('never', [root]), 'missing');
    await checkpointStore.drop('r');
    equal(await checkpointStore.load('r', [root]), 'missing');
  });

  add('unchanged nodes have the same ids and versions in all states, changed ones do not', async (client) => {
    const { checkpointStore } = client.backend;
    if (checkpointStore === undefined) return;
    await client.good([
      client.directory('/same'),
      client.directory('/same/deep'),
      client.file('/same/deep/f', 'x'),
      client.directory('/changed'),
      client.file('/changed/f', 'x'),
      client.directory('/linked'),
      client.file('/l', 'x'),
      { kind: 'link', from: '/l', path: '/linked/l' },
    ]);
    await checkpointStore.create('r', undefined, 0, undefined);
    await client.good([
      { kind: 'write', path: '/changed/f', size: 0, parts: [], meta: LATER },
      { kind: 'write', path: '/l', size: 0, parts: [], meta: LATER },
    ]);
    const versions = async (at: Client): Promise<unknown[]> => {
      const paths = ['/', '/same', '/same/deep', '/same/deep/f', '/changed', '/changed/f', '/linked', '/linked/l'];
      const nodes = await Promise.all(paths.map((path) => at.node(path)));
      return nodes.map((node) => [node?.id, node?.version, node?.directory?.listing, node?.directory?.tree]);
    };
    const [then, now] = [await versions(client.kept('r')), await versions(client)];
    const isEqual = then.map((version, i) => JSON.stringify(version) === JSON.stringify(now[i]));
    equal(isEqual, [false, true, true, true, false, false, false, false]);
    equal(await checkpointStore.restore('r', {}), 'ok');
    equal((await versions(client)).slice(1), then.slice(1), 'what was restored is what was kept');
  });

  add('a fork is independent, and has no checkpoints', async (client) => {
    const { fork } = client.backend;
    equal(fork !== undefined, client.backend.capabilities.forks, 'fork is there where declared');
    if (fork === undefined) return;
    await client.good([client.file('/f', 'x')]);
    const other = new Client(await fork.call(client.backend));
    equal(await other.dump(), await client.dump());
    await other.good([{ kind: 'remove', path: '/f', time: 50 } as Write]);
    await client.good([client.file('/g', 'y')]);
    equal([await other.list('/'), await client.list('/')], [[], ['f', 'g']]);
    if (client.backend.checkpointStore !== undefined) {
      await client.backend.checkpointStore.create('r', undefined, 0, undefined);
      const later = await fork.call(client.backend);
      equal(await later.checkpointStore?.list(), []);
      await later.close();
      const forkOf = client.backend.checkpointStore.fork?.bind(client.backend.checkpointStore);
      equal(forkOf !== undefined, true, 'a checkpoint can be forked where forks are declared');
      if (forkOf === undefined) return;
      const kept = await client.dump();
      await client.good([client.file('/h', 'z')]);
      const fromKept = await forkOf('r');
      equal(await forkOf('never'), 'missing');
      await client.backend.checkpointStore.drop('r');
      if (fromKept === 'missing') throw new Error('the checkpoint is missing');
      const third = new Client(fromKept);
      equal(await third.dump(), kept, 'a fork of a checkpoint has its state, also when it was dropped');
      await third.good([client.file('/i', '1')]);
      equal(
        [await third.list('/'), await client.list('/')],
        [
          ['f', 'g', 'i'],
          ['f', 'g', 'h'],
        ],
      );
      await third.backend.checkpointStore?.create('own', undefined, 0, undefined);
      await third.good([{ kind: 'remove', path: '/f', time: 50 } as Write]);
      const fourth = await third.backend.checkpointStore?.fork?.('own');
      if (fourth === undefined || fourth === 'missing') throw new Error('a fork keeps checkpoints to fork from');
      await third.backend.close();
      equal(await new Client(fourth).list('/'), ['f', 'g', 'i']);
      await fourth.close();
      await client.good([{ kind: 'remove', path: '/h', time: 50 } as Write]);
    }
    await other.backend.close();
    equal(await client.list('/'), ['f', 'g']);
  });
}
