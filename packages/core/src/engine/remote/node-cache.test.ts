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
const pathWant = (path: string): LoadRequest => ({ kind: 'path', path, content: 0 });
const listWant: LoadRequest = { kind: 'list', at, after: undefined, limit: 10 };
const listed = (names: readonly string[], complete = true): LoadResult => ({
  kind: 'list',
  directory: directory('d'),
  names,
  nodes: names.map((name) => file(name)),
  complete,
});

/** Knows `/d` with all its names, `a` and `b`. */
function store(): NodeCache {
  const facts = new NodeCache();
  facts.add(pathWant('/d'), { kind: 'path', nodes: [directory('root'), directory('d')] }, 1);
  facts.add(listWant, listed(['a', 'b']), 2);
  return facts;
}

const names = (facts: NodeCache): readonly string[] | undefined => {
  const known = facts.names('d');
  return known?.names.every((name) => known.recordOf(name) !== undefined) ? known.names : undefined;
};
const unloaded = (id: string, version = 1): Unloaded => ({ place: { path: `/d/${id}`, id }, version }) as Unloaded;

describe('what a failed check says is stale is forgotten', () => {
  const forget = (...checks: Check[]): NodeCache => {
    const facts = store();
    facts.forget(checks);
    return facts;
  };

  it('the whole, where the root is another one', () => {
    const facts = forget({ kind: 'entry', path: '/', id: 'root' });
    expect([facts.root, facts.record('a'), names(facts)]).toEqual([undefined, undefined, undefined]);
  });

  it('a node, where it has changed; what is known of its directory stays, as of no load', () => {
    const facts = forget({ kind: 'entry', path: '/d/a', id: 'a', version: 1 });
    expect(facts.record('a')).toBeUndefined();
    expect(facts.entry('d', 'a')).toBeUndefined();
    expect(facts.entry('d', 'b')).toMatchObject({ id: 'b' });
    expect([facts.loadOf('a'), facts.loadOf('b')]).toEqual([0, 2]);
    expect(names(facts)).toBeUndefined();
  });

  it('a name, where it leads elsewhere, and with it that the listing is whole', () => {
    const facts = forget({ kind: 'entry', path: '/d/a', id: 'a' });
    expect([facts.entry('d', 'a'), facts.entry('d', 'c')]).toEqual([undefined, undefined]);
    expect(facts.entry('d', 'b')).toMatchObject({ id: 'b' });
  });

  it('a name that was thought to be absent', () => {
    const facts = store();
    expect(facts.entry('d', 'c')).toBeNull();
    facts.forget([{ kind: 'entry', path: '/d/c', id: null }]);
    expect(facts.entry('d', 'c')).toBeUndefined();
  });

  it('nothing, where the directory of the name is not known', () => {
    const facts = forget(
      { kind: 'entry', path: '/else/where/a', id: 'a' },
      { kind: 'entry', path: '/else/a', id: 'a' },
    );
    expect(names(facts)).toEqual(['a', 'b']);
  });

  it('the totals of a directory, if something under it has changed', () => {
    const facts = forget({ kind: 'tree', path: '/d', id: 'd', version: 1 });
    expect([facts.record('d'), facts.entry('d', 'a')?.id]).toEqual([undefined, 'a']);
    expect(facts.loadOf('d')).toBe(0);
  });

  it.each<Check>([
    { kind: 'listing', path: '/d', id: 'd', version: 1 },
    { kind: 'empty', path: '/d', id: 'd' },
  ])('the names of a directory ($kind)', (check) => {
    const facts = forget(check);
    expect([facts.entry('d', 'a'), names(facts)]).toEqual([undefined, undefined]);
  });
});

describe('answers', () => {
  it('in pages make a listing where they follow one another', () => {
    const facts = store();
    facts.add(listWant, { ...listed(['a'], false), directory: directory('d', 2) } as LoadResult, 3);
    expect(names(facts)).toBeUndefined();
    facts.add({ ...listWant, after: 'a' }, { ...listed(['b']), directory: directory('d', 2) } as LoadResult, 4);
    expect(names(facts)).toEqual(['a', 'b']);
  });

  it('in pages of different listings make none', () => {
    const facts = store();
    facts.add(listWant, { ...listed(['a'], false), directory: directory('d', 2) } as LoadResult, 3);
    facts.add({ ...listWant, after: 'a' }, { ...listed(['b']), directory: directory('d', 3) } as LoadResult, 4);
    expect(names(facts)).toBeUndefined();
  });

  it('that are a listing where a tree was asked for are taken as the first page', () => {
    const facts = new NodeCache();
    facts.add({ kind: 'tree', at, budget: 1, contents: false }, listed(['a']), 1);
    expect(names(facts)).toEqual(['a']);
  });

  it('to another question change nothing', () => {
    const facts = store();
    facts.add(listWant, { kind: 'path', nodes: [directory('other')] }, 3);
    expect(facts.root?.id).toBe('root');
  });

  it('gone for a path says nothing, for a place that it is not there', () => {
    const facts = store();
    facts.add(pathWant('/d'), { kind: 'gone' }, 3);
    expect(names(facts)).toEqual(['a', 'b']);
    facts.add(listWant, { kind: 'gone' }, 3);
    expect([facts.record('d'), names(facts)]).toEqual([undefined, undefined]);
  });

  it.each([[[]], [[null]]])('without a root (%j) say nothing', (nodes) => {
    const facts = new NodeCache();
    facts.add(pathWant('/'), { kind: 'path', nodes }, 1);
    expect(facts.root).toBeUndefined();
  });

  it('that give a file children believe the nodes, and know no listing', () => {
    const facts = new NodeCache();
    facts.add(pathWant('/f/x'), { kind: 'path', nodes: [directory('root'), file('f'), file('x')] }, 1);
    expect(facts.record('x')).toMatchObject({ id: 'x' });
    expect(facts.names('f')).toBeUndefined();
  });

  it('with a listing of a directory that was not announced leave it out', () => {
    const facts = new NodeCache();
    const listing = (path: string, name: string) => ({ path, names: [name], nodes: [file(name)] });
    const tree: LoadRequest = { kind: 'tree', at, budget: 1, contents: false };
    facts.add(tree, { kind: 'tree', directory: directory('d'), listings: [listing('', 'a'), listing('x', 'b')] }, 1);
    expect([names(facts), facts.record('b')]).toEqual([['a'], undefined]);
  });

  it('with a content of another length than the file has keep no content', () => {
    const facts = new NodeCache();
    const want: LoadRequest = { kind: 'path', path: '/a', content: 10 };
    facts.add(want, { kind: 'path', nodes: [directory('root'), file('a', 3)], content: new Uint8Array(2) }, 1);
    expect(facts.range(unloaded('a'), 0, 2)).toBeUndefined();
    facts.add(want, { kind: 'path', nodes: [directory('root'), file('a', 3)], content: new Uint8Array(3) }, 2);
    expect(facts.range(unloaded('a'), 0, 2)).toEqual(new Uint8Array(2));
  });
});

describe('a directory whose names are not all known', () => {
  it('is found by its path, if it has no more than so many', () => {
    const facts = new NodeCache();
    facts.add(pathWant('/d/a'), { kind: 'path', nodes: [directory('root'), directory('d'), file('a')] }, 1);
    expect(facts.unlisted('/d', 2)).toEqual(at);
    expect(facts.unlisted('/d', 1)).toBeUndefined();
    expect(facts.unlisted('/d/a', 9)).toBeUndefined();
    expect(facts.unlisted('/d/a/b/c', 9)).toBeUndefined();
    facts.add(listWant, listed(['a', 'b']), 2);
    expect(facts.unlisted('/d', 2)).toBeUndefined();
  });
});

describe('what is remembered is bounded', () => {
  const read = (facts: NodeCache, offset: number, bytes: Uint8Array, version = 1): void =>
    facts.add(
      { kind: 'content', at: { path: '/d/a', id: 'a' }, offset, length: bytes.length },
      { kind: 'content', file: file('a', 2 ** 30, version), offset, bytes },
      3,
    );

  it('to 64 ranges of a file, the oldest of which are forgotten', () => {
    const facts = store();
    for (let i = 0; i < 65; i++) read(facts, i * 2, new Uint8Array([i]));
    expect(facts.range(unloaded('a'), 0, 1)).toBeUndefined();
    expect(facts.range(unloaded('a'), 2, 1)).toEqual(new Uint8Array([1]));
    expect(facts.range(unloaded('a'), 128, 1)).toEqual(new Uint8Array([64]));
  });

  it('to 64 MiB of contents, counted without what was read again or has another version by now', () => {
    const facts = store();
    const part = new Uint8Array(2 ** 20);
    for (let i = 0; i < 100; i++) read(facts, 0, part, 1 + (i >> 6));
    for (let i = 0; i < 100; i++) read(facts, i * 2 ** 20, part, 2);
    expect(facts.record('b')).toMatchObject({ id: 'b' });
    const other = { kind: 'content', at: { path: '/d/b', id: 'b' }, offset: 0, length: 1 } as const;
    facts.add(other, { kind: 'content', file: file('b', 2 ** 26), offset: 0, bytes: new Uint8Array(2 ** 20) }, 4);
    read(facts, 0, part, 2);
    expect(facts.record('b')).toBeUndefined();
    expect(facts.record('a')).toMatchObject({ id: 'a' });
  });

  it('to 200,000 names', () => {
    const facts = store();
    const many = Array.from({ length: 200_001 }, (_, i) => `n${i}`);
    facts.add(listWant, { ...listed(many), directory: directory('d', 2) } as LoadResult, 3);
    expect(names(facts)?.length).toBe(200_001);
    facts.add(pathWant('/d'), { kind: 'path', nodes: [directory('root'), directory('d', 2)] }, 4);
    expect([facts.root?.id, names(facts)]).toEqual(['root', undefined]);
  });
});

describe('what is known of a node is since what is known of another', () => {
  const want = pathWant('/f');
  const loaded = (load: number, sent = load): NodeCache => {
    const facts = new NodeCache();
    facts.add(pathWant('/d'), { kind: 'path', nodes: [directory('root'), directory('d')] }, load, sent);
    return facts;
  };
  const f: LoadResult = { kind: 'path', nodes: [directory('root'), file('f')] };

  it('if one load returned both, or a load that was sent after the reply to the other', () => {
    const facts = loaded(1);
    facts.add(want, f, 2);
    expect([facts.isSince('root', 'f'), facts.isSince('f', 'd'), facts.isSince('d', 'f')]).toEqual([true, true, false]);
    expect([facts.isSince('f', 'unknown'), facts.isSince('unknown', 'f')]).toEqual([false, false]);
  });

  it('also where it may have brought what is older than itself, which is never older than what was known', () => {
    const facts = loaded(1);
    facts.add(want, f, -2);
    expect([facts.isSince('root', 'f'), facts.isSince('f', 'd'), facts.isSince('d', 'f')]).toEqual([true, true, false]);
  });

  it('and not where the two loads were under way together, or where that is no longer known', () => {
    const together = loaded(1, 2);
    together.add(want, f, 2);
    expect(together.isSince('f', 'd')).toBe(false);
    const long = loaded(1);
    for (let load = 2; load < 10_000; load++) long.add(want, f, load);
    expect([long.isSince('f', 'd'), long.isSince('d', 'd')]).toEqual([false, true]);
  });
});

describe('own writes', () => {
  it('make a file without content an empty one', () => {
    const facts = store();
    facts.apply([{ kind: 'create', path: '/d/new', id: 'new', type: 'file', meta }], 7, []);
    expect(facts.entry('d', 'new')).toMatchObject({ id: 'new', size: 0, version: 7 });
    expect(facts.range(unloaded('new', 7), 0, 0)).toEqual(new Uint8Array(0));
  });

  it('of one batch have one version: what was known of a content between them is not what it is at the end', () => {
    const facts = store();
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
    facts.apply([create, write], 7, []);
    expect(facts.range(unloaded('new', 7), 0, 2)).toBeUndefined();
    const at = (version: number): Check[] => [{ kind: 'entry', path: '/d/new', id: 'new', version }];
    const whole = { ...write, parts: [{ offset: 0, bytes: Uint8Array.of(5, 6) }] };
    facts.apply([{ kind: 'meta', path: '/d/new', meta }, write, whole], 8, at(7));
    expect(facts.range(unloaded('new', 8), 0, 2)).toEqual(Uint8Array.of(5, 6));
    facts.apply([{ kind: 'meta', path: '/d/new', meta }, write], 9, at(8));
    expect(facts.range(unloaded('new', 9), 0, 2)).toBeUndefined();
    const linked = { ...create, path: '/d/linked', id: 'linked' };
    const link = { kind: 'link', from: '/d/linked', path: '/d/again' } as const;
    facts.apply([linked, link, { ...write, path: '/d/again' }], 10, []);
    expect(facts.range(unloaded('linked', 10), 0, 2)).toBeUndefined();
  });

  it('to something that others changed before the reply, or that a late load returned again, leave it unknown', () => {
    const touch: Write = { kind: 'meta', path: '/d/a', meta };
    const part = { offset: 0, bytes: Uint8Array.of(9) };
    const append: Write = { kind: 'write', path: '/d/a', size: 2, parts: [part], meta };
    const move: Write = { kind: 'move', from: '/d/a', to: '/d/z', time: 1 };
    for (const write of [touch, append, move]) {
      const facts = store();
      facts.add(pathWant('/d/a'), { kind: 'content', file: file('a'), offset: 0, bytes: Uint8Array.of(1) }, 2);
      facts.apply([write], 7, [{ kind: 'entry', path: '/d/a', id: 'a', version: 3 }]);
      expect([facts.record('a'), facts.range(unloaded('a', 7), 0, 1)]).toEqual([undefined, undefined]);
    }
  });

  it.each(['at first', 'after a move', 'after a link'])(
    'to a file that is not found by its name %s leave nothing known of what the same batch made of it before',
    (when) => {
      const facts = store();
      const from = when === 'at first' ? '/x/f' : '/d/new';
      const create = { kind: 'create', path: from, id: 'f', type: 'file', meta, content: Uint8Array.of(1) } as const;
      const way = {
        'at first': [],
        'after a move': [{ kind: 'move', from, to: '/x/f', time: 1 } as const],
        'after a link': [{ kind: 'link', from, path: '/x/f' } as const],
      }[when];
      const part = { offset: 0, bytes: Uint8Array.of(2) };
      const write = { kind: 'write', path: '/x/f', size: 1, parts: [part], meta } as const;
      facts.apply([create, ...(way ?? []), write], 7, []);
      expect([facts.record('f'), facts.range(unloaded('f', 7), 0, 1)]).toEqual([undefined, undefined]);
      facts.apply([{ kind: 'create', path: '/d/g', id: 'g', type: 'file', meta }], 7, []);
      expect(facts.record('g')).toMatchObject({ version: 7 });
    },
  );

  it('that are followed in steps are seen when all of them are', () => {
    const facts = store();
    const steps = facts.applySteps([{ kind: 'create', path: '/d/new', id: 'new', type: 'file', meta }], 7, []);
    steps.next();
    expect([facts.root, facts.record('new'), facts.entry('d', 'a')]).toEqual([undefined, undefined, undefined]);
    steps.next();
    expect([facts.entry('d', 'new'), facts.entry('d', 'a')]).toMatchObject([{ version: 7 }, { id: 'a' }]);
  });

  it('that are followed in steps count once each, however many there have been', () => {
    const facts = store();
    const write: Write = { kind: 'meta', path: '/d/a', meta };
    const at = (version: number): Check[] => [{ kind: 'entry', path: '/d/a', id: 'a', version }];
    const before = facts.changes;
    for (let version = 1; version <= 60; version++)
      for (const _ of facts.applySteps([write], version + 1, at(version)));
    expect(facts.changes - before).toBeGreaterThanOrEqual(60);
    expect(facts.changes - before).toBeLessThan(300);
  });

  it('that are followed in steps are forgotten with all else', () => {
    const facts = store();
    const steps = facts.applySteps([{ kind: 'create', path: '/d/new', id: 'new', type: 'file', meta }], 7, []);
    steps.next();
    facts.clear();
    steps.next();
    expect([facts.root, facts.record('new')]).toEqual([undefined, undefined]);
  });

  it('under an unknown node say nothing of it, and everything above has changed', () => {
    const facts = store();
    facts.apply(
      [
        { kind: 'meta', path: '/d/x/y', meta },
        { kind: 'move', from: '/d/x/y', to: '/d/x/z', time: 1 },
        { kind: 'link', from: '/d/x/y', path: '/d/x/l' },
      ],
      7,
      [],
    );
    expect(facts.record('d')?.directory?.tree).toBe('?');
    expect(names(facts)).toEqual(['a', 'b']);
  });

  it('into a directory that was just made say nothing of a copy, whose node is the storage’s to make', () => {
    const facts = store();
    const copy = { kind: 'copy', from: '/d/a', to: '/d/new/x', id: 'x', meta, time: 1, keepTimes: false } as const;
    facts.apply([{ kind: 'create', path: '/d/new', id: 'new', type: 'directory', meta }, copy], 7, []);
    expect(facts.entry('new', 'x')).toBeUndefined();
    facts.apply(
      [
        { kind: 'create', path: '/d/new/y', id: 'y', type: 'file', meta },
        { ...copy, to: '/d/new/y' },
      ],
      8,
      [],
    );
    expect(facts.entry('new', 'y')).toBeUndefined();
  });

  it('move a name also where it is not known any more what is under it', () => {
    const facts = store();
    facts.forget([{ kind: 'entry', path: '/d/a', id: 'a', version: 1 }]);
    facts.apply([{ kind: 'move', from: '/d/a', to: '/d/z', time: 1 }], 7, []);
    expect([facts.entry('d', 'a'), facts.entry('d', 'z')]).toEqual([null, undefined]);
    facts.add(pathWant('/d/z'), { kind: 'path', nodes: [directory('root'), directory('d', 1), file('a')] }, 8);
    expect(facts.entry('d', 'z')).toMatchObject({ id: 'a' });
  });
});

it('what does not fit is not forgotten again and again while an operation needs it', () => {
  const facts = new NodeCache();
  const size = 65 * 2 ** 20;
  const bytes = new Uint8Array(size);
  const load = (id: string): void => {
    const want: LoadRequest = { kind: 'content', at: { path: `/d/${id}`, id }, offset: 0, length: size };
    facts.add(want, { kind: 'content', file: file(id, size), offset: 0, bytes }, 1);
  };
  const isKnown = (id: string): boolean => facts.range(unloaded(id), 0, size) !== undefined;
  const use = facts.use();
  for (const id of ['a', 'b', 'a']) {
    use.goOn();
    load(id);
  }
  expect([isKnown('a'), isKnown('b')]).toEqual([true, true]);
  use.end();
  load('c');
  expect([isKnown('a'), isKnown('c')]).toEqual([false, true]);
  // However many are at work, one forgetting makes room for twice as much, and not for twice as much again for each of them.
  const others = Array.from({ length: 8 }, () => facts.use());
  load('d');
  for (const other of others) other.goOn();
  for (const id of ['e', 'f', 'g']) load(id);
  expect(['d', 'e', 'f', 'g'].filter(isKnown)).toEqual(['f', 'g']);
  for (const other of others) other.end();
});
