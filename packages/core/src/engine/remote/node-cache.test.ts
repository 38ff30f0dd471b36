import { describe, expect, it } from 'vitest';
import type { Check, LoadRequest, LoadResult, NodeRecord, Write } from '../../backend.js';
import type { Unloaded } from '../../tree/node.js';
import { rootMeta } from '../defaults.js';
import { NodeCache } from './node-cache.js';

const meta = rootMeta(0);
const totals = { size: 0, files: 0, directories: 0, linked: 0 };

function directory(id: string, listing = 1, count = 2): NodeRecord {
  return { id, kind: 'directory', meta, version: 1, size: 0, links: 1, directory: { listing, tree: 1, count, totals } };
}
function file(id: string, size = 0, version = 1): NodeRecord {
  return { id, kind: 'file', meta, version, size, links: 1 };
}

const at = { path: '/d', id: 'd' };
const pathRequest = (path: string): LoadRequest => ({ kind: 'path', path, content: 0 });
const listRequest: LoadRequest = { kind: 'list', at, after: undefined, limit: 10 };
const listed = (names: readonly string[], complete = true): LoadResult => ({
  kind: 'list',
  directory: directory('d'),
  names,
  nodes: names.map((name) => file(name)),
  complete,
});

/** A cache that knows `/d` with all its names, `a` and `b`. */
function store(): NodeCache {
  const cache = new NodeCache();
  cache.add(pathRequest('/d'), { kind: 'path', nodes: [directory('root'), directory('d')] }, 1);
  cache.add(listRequest, listed(['a', 'b']), 2);
  return cache;
}

const names = (cache: NodeCache): readonly string[] | undefined => {
  const known = cache.names('d');
  return known?.names.every((name) => known.recordOf(name) !== undefined) ? known.names : undefined;
};
const unloaded = (id: string, version = 1): Unloaded => ({ address: { path: `/d/${id}`, id }, version }) as Unloaded;

describe('a failed check removes from the cache', () => {
  const forget = (...checks: Check[]): NodeCache => {
    const cache = store();
    cache.forget(checks);
    return cache;
  };

  it('everything, if the root has another id', () => {
    const cache = forget({ kind: 'entry', path: '/', id: 'root' });
    expect([cache.root, cache.record('a'), names(cache)]).toEqual([undefined, undefined, undefined]);
  });

  it("a node that has changed; its directory's other names stay, but no load vouches for them together", () => {
    const cache = forget({ kind: 'entry', path: '/d/a', id: 'a', version: 1 });
    expect(cache.record('a')).toBeUndefined();
    expect(cache.entry('d', 'a')).toBeUndefined();
    expect(cache.entry('d', 'b')).toMatchObject({ id: 'b' });
    expect([cache.loadOf('a'), cache.loadOf('b')]).toEqual([0, 2]);
    expect(names(cache)).toBeUndefined();
  });

  it('a name that leads elsewhere, and that the listing is complete', () => {
    const cache = forget({ kind: 'entry', path: '/d/a', id: 'a' });
    expect([cache.entry('d', 'a'), cache.entry('d', 'c')]).toEqual([undefined, undefined]);
    expect(cache.entry('d', 'b')).toMatchObject({ id: 'b' });
  });

  it('the absence of a name', () => {
    const cache = store();
    expect(cache.entry('d', 'c')).toBeNull();
    cache.forget([{ kind: 'entry', path: '/d/c', id: null }]);
    expect(cache.entry('d', 'c')).toBeUndefined();
  });

  it('nothing, if the directory of the name is unknown', () => {
    const cache = forget(
      { kind: 'entry', path: '/else/where/a', id: 'a' },
      { kind: 'entry', path: '/else/a', id: 'a' },
    );
    expect(names(cache)).toEqual(['a', 'b']);
  });

  it('the totals of a directory, if something under it has changed', () => {
    const cache = forget({ kind: 'tree', path: '/d', id: 'd', version: 1 });
    expect([cache.record('d'), cache.entry('d', 'a')?.id]).toEqual([undefined, 'a']);
    expect(cache.loadOf('d')).toBe(0);
  });

  it.each<Check>([
    { kind: 'listing', path: '/d', id: 'd', version: 1 },
    { kind: 'empty', path: '/d', id: 'd' },
  ])('the names of a directory ($kind)', (check) => {
    const cache = forget(check);
    expect([cache.entry('d', 'a'), names(cache)]).toEqual([undefined, undefined]);
  });
});

describe('load results', () => {
  it('in pages make a complete listing if each page continues the one before', () => {
    const cache = store();
    cache.add(listRequest, { ...listed(['a'], false), directory: directory('d', 2) } as LoadResult, 3);
    expect(names(cache)).toBeUndefined();
    cache.add({ ...listRequest, after: 'a' }, { ...listed(['b']), directory: directory('d', 2) } as LoadResult, 4);
    expect(names(cache)).toEqual(['a', 'b']);
  });

  it('in pages of different versions make no complete listing', () => {
    const cache = store();
    cache.add(listRequest, { ...listed(['a'], false), directory: directory('d', 2) } as LoadResult, 3);
    cache.add({ ...listRequest, after: 'a' }, { ...listed(['b']), directory: directory('d', 3) } as LoadResult, 4);
    expect(names(cache)).toBeUndefined();
  });

  it('of kind listing, for a request of kind tree, count as the first page', () => {
    const cache = new NodeCache();
    cache.add({ kind: 'tree', at, budget: 1, contents: false }, listed(['a']), 1);
    expect(names(cache)).toEqual(['a']);
  });

  it('that do not fit the request change nothing', () => {
    const cache = store();
    cache.add(listRequest, { kind: 'path', nodes: [directory('other')] }, 3);
    expect(cache.root?.id).toBe('root');
  });

  it('of kind gone change nothing for a path, and remove the node for an address', () => {
    const cache = store();
    cache.add(pathRequest('/d'), { kind: 'gone' }, 3);
    expect(names(cache)).toEqual(['a', 'b']);
    cache.add(listRequest, { kind: 'gone' }, 3);
    expect([cache.record('d'), names(cache)]).toEqual([undefined, undefined]);
  });

  it.each([[[]], [[null]]])('without a root (%j) change nothing', (nodes) => {
    const cache = new NodeCache();
    cache.add(pathRequest('/'), { kind: 'path', nodes }, 1);
    expect(cache.root).toBeUndefined();
  });

  it('that put a child under a file keep the nodes, and no listing', () => {
    const cache = new NodeCache();
    cache.add(pathRequest('/f/x'), { kind: 'path', nodes: [directory('root'), file('f'), file('x')] }, 1);
    expect(cache.record('x')).toMatchObject({ id: 'x' });
    expect(cache.names('f')).toBeUndefined();
  });

  it('leave out the listing of a directory that they did not contain', () => {
    const cache = new NodeCache();
    const listing = (path: string, name: string) => ({ path, names: [name], nodes: [file(name)] });
    const tree: LoadRequest = { kind: 'tree', at, budget: 1, contents: false };
    cache.add(tree, { kind: 'tree', directory: directory('d'), listings: [listing('', 'a'), listing('x', 'b')] }, 1);
    expect([names(cache), cache.record('b')]).toEqual([['a'], undefined]);
  });

  it("with content whose length is not the file's keep no content", () => {
    const cache = new NodeCache();
    const request: LoadRequest = { kind: 'path', path: '/a', content: 10 };
    cache.add(request, { kind: 'path', nodes: [directory('root'), file('a', 3)], content: new Uint8Array(2) }, 1);
    expect(cache.range(unloaded('a'), 0, 2)).toBeUndefined();
    cache.add(request, { kind: 'path', nodes: [directory('root'), file('a', 3)], content: new Uint8Array(3) }, 2);
    expect(cache.range(unloaded('a'), 0, 2)).toEqual(new Uint8Array(2));
  });
});

describe('a directory whose names are not all known', () => {
  it('is found by its path, if it has at most the given number of entries', () => {
    const cache = new NodeCache();
    cache.add(pathRequest('/d/a'), { kind: 'path', nodes: [directory('root'), directory('d'), file('a')] }, 1);
    expect(cache.unlisted('/d', 2)).toEqual(at);
    expect(cache.unlisted('/d', 1)).toBeUndefined();
    expect(cache.unlisted('/d/a', 9)).toBeUndefined();
    expect(cache.unlisted('/d/a/b/c', 9)).toBeUndefined();
    cache.add(listRequest, listed(['a', 'b']), 2);
    expect(cache.unlisted('/d', 2)).toBeUndefined();
  });
});

describe('the cache is bounded', () => {
  const read = (cache: NodeCache, offset: number, bytes: Uint8Array, version = 1): void =>
    cache.add(
      { kind: 'content', at: { path: '/d/a', id: 'a' }, offset, length: bytes.length },
      { kind: 'content', file: file('a', 2 ** 30, version), offset, bytes },
      3,
    );

  it('to 64 ranges of a file, and drops the oldest', () => {
    const cache = store();
    for (let i = 0; i < 65; i++) read(cache, i * 2, new Uint8Array([i]));
    expect(cache.range(unloaded('a'), 0, 1)).toBeUndefined();
    expect(cache.range(unloaded('a'), 2, 1)).toEqual(new Uint8Array([1]));
    expect(cache.range(unloaded('a'), 128, 1)).toEqual(new Uint8Array([64]));
  });

  it('to 64 MiB of contents, not counting ranges read twice and those of outdated versions', () => {
    const cache = store();
    const part = new Uint8Array(2 ** 20);
    for (let i = 0; i < 100; i++) read(cache, 0, part, 1 + (i >> 6));
    for (let i = 0; i < 100; i++) read(cache, i * 2 ** 20, part, 2);
    expect(cache.record('b')).toMatchObject({ id: 'b' });
    const other = { kind: 'content', at: { path: '/d/b', id: 'b' }, offset: 0, length: 1 } as const;
    cache.add(other, { kind: 'content', file: file('b', 2 ** 26), offset: 0, bytes: new Uint8Array(2 ** 20) }, 4);
    read(cache, 0, part, 2);
    expect(cache.record('b')).toBeUndefined();
    expect(cache.record('a')).toMatchObject({ id: 'a' });
  });

  it('to 200,000 names', () => {
    const cache = store();
    const many = Array.from({ length: 200_001 }, (_, i) => `n${i}`);
    cache.add(listRequest, { ...listed(many), directory: directory('d', 2) } as LoadResult, 3);
    expect(names(cache)?.length).toBe(200_001);
    cache.add(pathRequest('/d'), { kind: 'path', nodes: [directory('root'), directory('d', 2)] }, 4);
    expect([cache.root?.id, names(cache)]).toEqual(['root', undefined]);
  });
});

describe('isSince() reports that the record of one node is at least as new as that of another', () => {
  const request = pathRequest('/f');
  const loaded = (load: number, sent = load): NodeCache => {
    const cache = new NodeCache();
    cache.add(pathRequest('/d'), { kind: 'path', nodes: [directory('root'), directory('d')] }, load, sent);
    return cache;
  };
  const f: LoadResult = { kind: 'path', nodes: [directory('root'), file('f')] };

  it('if one load returned both, or if a load was sent after the reply with the other', () => {
    const cache = loaded(1);
    cache.add(request, f, 2);
    expect([cache.isSince('root', 'f'), cache.isSince('f', 'd'), cache.isSince('d', 'f')]).toEqual([true, true, false]);
    expect([cache.isSince('f', 'unknown'), cache.isSince('unknown', 'f')]).toEqual([false, false]);
  });

  it('also if the load may have returned an older state than when it was sent, but none older than the cache', () => {
    const cache = loaded(1);
    cache.add(request, f, -2);
    expect([cache.isSince('root', 'f'), cache.isSince('f', 'd'), cache.isSince('d', 'f')]).toEqual([true, true, false]);
  });

  it('and not if the two loads were in flight together, or if that is no longer known', () => {
    const together = loaded(1, 2);
    together.add(request, f, 2);
    expect(together.isSince('f', 'd')).toBe(false);
    const long = loaded(1);
    for (let load = 2; load < 10_000; load++) long.add(request, f, load);
    expect([long.isSince('f', 'd'), long.isSince('d', 'd')]).toEqual([false, true]);
  });
});

describe('own writes', () => {
  it('make a file without content an empty one', () => {
    const cache = store();
    cache.apply([{ kind: 'create', path: '/d/new', id: 'new', type: 'file', meta }], 7, []);
    expect(cache.entry('d', 'new')).toMatchObject({ id: 'new', size: 0, version: 7 });
    expect(cache.range(unloaded('new', 7), 0, 0)).toEqual(new Uint8Array(0));
  });

  it('of one batch have one version: content cached between them is not taken for the content at the end', () => {
    const cache = store();
    const create = {
      kind: 'create',
      path: '/d/new',
      id: 'new',
      type: 'file',
      meta,
      content: Uint8Array.of(1, 2),
    } as const;
    const part = { offset: 1, bytes: Uint8Array.of(9) };
    const write = { kind: 'write', path: '/d/new', size: 2, parts: [part], meta } as const;
    cache.apply([create, write], 7, []);
    expect(cache.range(unloaded('new', 7), 0, 2)).toBeUndefined();
    const at = (version: number): Check[] => [{ kind: 'entry', path: '/d/new', id: 'new', version }];
    const whole = { ...write, parts: [{ offset: 0, bytes: Uint8Array.of(5, 6) }] };
    cache.apply([{ kind: 'meta', path: '/d/new', meta }, write, whole], 8, at(7));
    expect(cache.range(unloaded('new', 8), 0, 2)).toEqual(Uint8Array.of(5, 6));
    cache.apply([{ kind: 'meta', path: '/d/new', meta }, write], 9, at(8));
    expect(cache.range(unloaded('new', 9), 0, 2)).toBeUndefined();
    const linked = { ...create, path: '/d/linked', id: 'linked' };
    const link = { kind: 'link', from: '/d/linked', path: '/d/again' } as const;
    cache.apply([linked, link, { ...write, path: '/d/again' }], 10, []);
    expect(cache.range(unloaded('linked', 10), 0, 2)).toBeUndefined();
  });

  it('to a node that others changed before the reply, or that a late load returned again, leave it unknown', () => {
    const touch: Write = { kind: 'meta', path: '/d/a', meta };
    const part = { offset: 0, bytes: Uint8Array.of(9) };
    const append: Write = { kind: 'write', path: '/d/a', size: 2, parts: [part], meta };
    const move: Write = { kind: 'move', from: '/d/a', to: '/d/z', time: 1 };
    for (const write of [touch, append, move]) {
      const cache = store();
      cache.add(pathRequest('/d/a'), { kind: 'content', file: file('a'), offset: 0, bytes: Uint8Array.of(1) }, 2);
      cache.apply([write], 7, [{ kind: 'entry', path: '/d/a', id: 'a', version: 3 }]);
      expect([cache.record('a'), cache.range(unloaded('a', 7), 0, 1)]).toEqual([undefined, undefined]);
    }
  });

  it.each(['at first', 'after a move', 'after a link'])(
    'to a file that is not found by its name %s drop what an earlier write of the same batch made of it',
    (when) => {
      const cache = store();
      const from = when === 'at first' ? '/x/f' : '/d/new';
      const create = { kind: 'create', path: from, id: 'f', type: 'file', meta, content: Uint8Array.of(1) } as const;
      const way = {
        'at first': [],
        'after a move': [{ kind: 'move', from, to: '/x/f', time: 1 } as const],
        'after a link': [{ kind: 'link', from, path: '/x/f' } as const],
      }[when];
      const part = { offset: 0, bytes: Uint8Array.of(2) };
      const write = { kind: 'write', path: '/x/f', size: 1, parts: [part], meta } as const;
      cache.apply([create, ...(way ?? []), write], 7, []);
      expect([cache.record('f'), cache.range(unloaded('f', 7), 0, 1)]).toEqual([undefined, undefined]);
      cache.apply([{ kind: 'create', path: '/d/g', id: 'g', type: 'file', meta }], 7, []);
      expect(cache.record('g')).toMatchObject({ version: 7 });
    },
  );

  it('that are applied in steps become visible together', () => {
    const cache = store();
    const steps = cache.applySteps([{ kind: 'create', path: '/d/new', id: 'new', type: 'file', meta }], 7, []);
    steps.next();
    expect([cache.root, cache.record('new'), cache.entry('d', 'a')]).toEqual([undefined, undefined, undefined]);
    steps.next();
    expect([cache.entry('d', 'new'), cache.entry('d', 'a')]).toMatchObject([{ version: 7 }, { id: 'a' }]);
  });

  it('that are applied in steps count as one change each, however many there have been', () => {
    const cache = store();
    const write: Write = { kind: 'meta', path: '/d/a', meta };
    const at = (version: number): Check[] => [{ kind: 'entry', path: '/d/a', id: 'a', version }];
    const before = cache.changes;
    for (let version = 1; version <= 60; version++)
      for (const _ of cache.applySteps([write], version + 1, at(version)));
    expect(cache.changes - before).toBeGreaterThanOrEqual(60);
    expect(cache.changes - before).toBeLessThan(300);
  });

  it('that are applied in steps are dropped by clear()', () => {
    const cache = store();
    const steps = cache.applySteps([{ kind: 'create', path: '/d/new', id: 'new', type: 'file', meta }], 7, []);
    steps.next();
    cache.clear();
    steps.next();
    expect([cache.root, cache.record('new')]).toEqual([undefined, undefined]);
  });

  it('under an unknown node leave it unknown, and mark all directories above it as changed', () => {
    const cache = store();
    cache.apply(
      [
        { kind: 'meta', path: '/d/x/y', meta },
        { kind: 'move', from: '/d/x/y', to: '/d/x/z', time: 1 },
        { kind: 'link', from: '/d/x/y', path: '/d/x/l' },
      ],
      7,
      [],
    );
    expect(cache.record('d')?.directory?.tree).toBe('?');
    expect(names(cache)).toEqual(['a', 'b']);
  });

  it('into a new directory leave a copied node unknown, because the storage creates it', () => {
    const cache = store();
    const copy = { kind: 'copy', from: '/d/a', to: '/d/new/x', id: 'x', meta, time: 1, keepTimes: false } as const;
    cache.apply([{ kind: 'create', path: '/d/new', id: 'new', type: 'directory', meta }, copy], 7, []);
    expect(cache.entry('new', 'x')).toBeUndefined();
    cache.apply(
      [
        { kind: 'create', path: '/d/new/y', id: 'y', type: 'file', meta },
        { ...copy, to: '/d/new/y' },
      ],
      8,
      [],
    );
    expect(cache.entry('new', 'y')).toBeUndefined();
  });

  it('move a name even if its node is no longer known', () => {
    const cache = store();
    cache.forget([{ kind: 'entry', path: '/d/a', id: 'a', version: 1 }]);
    cache.apply([{ kind: 'move', from: '/d/a', to: '/d/z', time: 1 }], 7, []);
    expect([cache.entry('d', 'a'), cache.entry('d', 'z')]).toEqual([null, undefined]);
    cache.add(pathRequest('/d/z'), { kind: 'path', nodes: [directory('root'), directory('d', 1), file('a')] }, 8);
    expect(cache.entry('d', 'z')).toMatchObject({ id: 'a' });
  });
});

it('content larger than the cache is not evicted and loaded again while an operation needs it', () => {
  const cache = new NodeCache();
  const size = 65 * 2 ** 20;
  const bytes = new Uint8Array(size);
  const load = (id: string): void => {
    const request: LoadRequest = { kind: 'content', at: { path: `/d/${id}`, id }, offset: 0, length: size };
    cache.add(request, { kind: 'content', file: file(id, size), offset: 0, bytes }, 1);
  };
  const isKnown = (id: string): boolean => cache.range(unloaded(id), 0, size) !== undefined;
  const use = cache.use();
  for (const id of ['a', 'b', 'a']) {
    use.goOn();
    load(id);
  }
  expect([isKnown('a'), isKnown('b')]).toEqual([true, true]);
  use.end();
  load('c');
  expect([isKnown('a'), isKnown('c')]).toEqual([false, true]);
  // However many operations are active, one eviction makes room for twice as much, not twice as much for each of them.
  const others = Array.from({ length: 8 }, () => cache.use());
  load('d');
  for (const other of others) other.goOn();
  for (const id of ['e', 'f', 'g']) load(id);
  expect(['d', 'e', 'f', 'g'].filter(isKnown)).toEqual(['f', 'g']);
  for (const other of others) other.end();
});
