import { describe, expect, it, vi } from 'vitest';
import { FileNode } from '../tree/node.js';
import { ByteReader, ByteWriter } from './bytes.js';
import { Cache } from './cache.js';
import { compactionStart, progressAfter } from './compaction.js';
import { type Copying, isCopyingId, seenThrough } from './copies.js';
import { planRanges } from './fetcher.js';
import type { Head } from './head.js';
import { decodeHead, encodeHead } from './head-format.js';
import { objectOfPart, parseObjectName, partName, printObjectName } from './object-name.js';
import { encodeInodes } from './page-format.js';
import { RangeCache } from './range-cache.js';
import { hashOf, type Ref } from './ref.js';
import { Pages } from './stored-page.js';

const HEAD: Head = {
  filesystem: 'f',
  nonce: 'n',
  epoch: 3,
  commit: 100,
  state: {
    id: 1,
    meta: { mode: 0o755, uid: 0, gid: 0, atime: 1.5, mtime: 2, ctime: 3, birthtime: -4 },
    version: 1,
    listing: 2,
    tree: 3,
    size: 4,
    files: 5,
    directories: 6,
    linked: 0,
    height: 1,
    reach: 2,
    count: 3,
    levels: 0,
    page: { object: 'objects/1-2-3-a', offset: 0, length: 3, hash: 4_000_000_000 },
    inodes: null,
    linkedSize: 0,
    inodesVersion: 1,
  },
  kept: [],
  forks: [],
  clients: [{ client: 'c', flight: 7, commit: 99 }],
  limits: { maxTotalSize: 5 },
  gathered: { small: 64, large: 1 },
};

describe('encoded values', () => {
  it('are decoded to the values that were written', () => {
    const writer = new ByteWriter();
    const numbers = [0, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER];
    for (const number of numbers) writer.number(number);
    writer.word(4_000_000_000);
    writer.double(-0.5);
    writer.text('𝒳 é');
    writer.raw(new Uint8Array(5_000));
    const reader = new ByteReader(writer.done());
    expect(numbers.map(() => reader.number())).toEqual(numbers);
    expect([reader.word(), reader.double(), reader.text()]).toEqual([4_000_000_000, -0.5, '𝒳 é']);
    expect(() => reader.end()).toThrow('too long');
  });

  it('that end too soon, or contain wrong lengths, are refused', () => {
    for (const bytes of [[], [0x80], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]])
      expect(() => new ByteReader(new Uint8Array(bytes)).number()).toThrow('damaged');
    expect(() => new ByteReader(new Uint8Array([9, 65])).text()).toThrow('too short');
    expect(() => new ByteReader(new Uint8Array([1, 0xff])).text()).toThrow('not UTF-8');
    expect(() => new ByteReader(new Uint8Array([100])).count()).toThrow('longer than its page');
  });
});

describe('the head', () => {
  it('is decoded to the value that was encoded', () => {
    expect(decodeHead(encodeHead(HEAD))).toEqual(HEAD);
  });

  it('is refused with any bit flipped, cut anywhere, or with other content', () => {
    const bytes = encodeHead(HEAD);
    for (let at = 0; at < bytes.length; at++) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] as number) ^ 4;
      expect(() => decodeHead(flipped)).toThrow();
      expect(() => decodeHead(bytes.slice(0, at))).toThrow();
    }
    expect(() => decodeHead(new TextEncoder().encode('<html>'))).toThrow('something else');
    const later = new TextEncoder().encode('scratchfs object tree 2 2 0\n{}');
    expect(() => decodeHead(later)).toThrow('format 2');
  });
});

describe('a head with a correct hash', () => {
  function decode(json: string | undefined): Head {
    const body = new TextEncoder().encode(json);
    const line = `scratchfs object tree 1 ${body.length} ${hashOf(body).toString(16)}\n`;
    return decodeHead(new Uint8Array([...new TextEncoder().encode(line), ...body]));
  }

  const full = {
    ...HEAD,
    kept: [{ id: 'k', name: 'kept', createdAt: 1.5, state: HEAD.state }],
    forks: [{ id: 'f', createdAt: 2, state: { ...HEAD.state, page: null, inodes: HEAD.state.page } }],
  };

  it('is accepted with all fields', () => {
    expect(decode(JSON.stringify(full))).toEqual(full);
    const limitless = { ...full, limits: {}, kept: [{ id: 'k', createdAt: 1, state: HEAD.state }] };
    expect(decode(JSON.stringify(limitless))).toEqual(limitless);
  });

  it.each(['', 'hello', 'null', '[]', '{}', '"x"', '1', '{"filesystem":"x","commit":3}', '{"length":1}'])(
    'is refused as damaged if it is %j',
    (json) => {
      expect(() => decode(json)).toThrow(expect.objectContaining({ name: 'StorageError', kind: 'corrupt' }));
    },
  );

  it('is refused as damaged if any field has a value of another type', () => {
    /** Returns the fields that may also have this value. */
    const taking = (other: unknown): Set<string> => {
      const taken = new Set<string>();
      for (let at = 0, parts = 1; at < parts; at++) {
        let name = '';
        parts = 0;
        const changed = JSON.parse(JSON.stringify(full), (key, part: unknown) => {
          if (parts++ !== at) return part;
          name = key;
          return other;
        });
        try {
          decode(JSON.stringify(changed));
          taken.add(name);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'corrupt' });
        }
      }
      return taken;
    };
    expect(taking(true)).toEqual(new Set());
    expect(taking({})).toEqual(new Set(['limits']));
    expect(taking([])).toEqual(new Set(['kept', 'forks', 'clients']));
    expect(taking(null)).toEqual(new Set(['page', 'inodes']));
    expect(taking(undefined)).toEqual(new Set(['name', 'maxTotalSize']));
    for (const number of [-1, 0.5, 2 ** 60])
      expect(taking(number)).toEqual(new Set(['atime', 'mtime', 'ctime', 'birthtime', 'createdAt']));
    expect(taking('x')).toEqual(new Set(['filesystem', 'nonce', 'id', 'client', 'object', 'name']));
  });
});

describe('the name of an object', () => {
  it('contains epoch, commit and page bytes', () => {
    for (const partBytes of [2 ** 16, 100_000, 2 ** 23]) {
      const name = { epoch: 3, commit: 2 ** 40, pages: 512, id: 'abc123', partBytes };
      const printed = printObjectName('forks/x/', name);
      expect(parseObjectName(printed)).toEqual(name);
      expect(parseObjectName(partName(printed, 17))).toEqual(name);
      for (const part of [0, 1, 17]) expect(objectOfPart(partName(printed, part))).toBe(printed);
    }
  });

  it.each([
    '',
    'objects/1-2-3',
    'objects/1-2-x-a',
    'head',
    'objects/1-2-3-A',
    'objects/-1-2-3-a',
    'objects/1-2-3-a-65535',
  ])('is not %j', (name) => {
    expect(() => parseObjectName(name)).toThrow('damaged');
  });
});

describe('composed subtree copies', () => {
  const copying = (id: string, commit: number, touched?: number): Copying => ({
    id: id.repeat(20),
    commit,
    time: commit * 10,
    touched,
  });
  const [a, b, c] = [copying('z', 1, 5), copying('2', 2), copying('0', 3)];

  it('are one copy, whatever the order of composition', () => {
    const all = seenThrough(seenThrough(a, b), c);
    expect(all).toEqual(seenThrough(a, seenThrough(b, c)));
    expect(all).toEqual({ id: '1'.repeat(20), commit: 3, time: 30, touched: 5 });
    expect(seenThrough(b, copying('0', 3, 7))?.touched).toBe(7);
    expect([seenThrough(a, undefined), seenThrough(undefined, b)]).toEqual([a, b]);
  });

  it('have ids that can be added', () => {
    expect(isCopyingId(a.id)).toBe(true);
    for (const id of ['', 'a'.repeat(19), 'A'.repeat(20), `${'a'.repeat(19)}\n`]) expect(isCopyingId(id)).toBe(false);
  });
});

describe('ranges', () => {
  const ref = (object: string, offset: number, length: number) => ({ object, offset, length, hash: 0 });

  it('of pages take all pages of a small object and what directly follows', () => {
    expect(planRanges([ref('objects/1-2-1000-a', 100, 50)])).toEqual([
      { object: 'objects/1-2-1000-a', offset: 0, end: 1000 + 32 * 1024 },
    ]);
  });

  it('that are close together are one request; distant ones and those of other objects are not', () => {
    const object = 'objects/1-2-0-a';
    const plan = planRanges([
      ref(object, 500_000, 10),
      ref(object, 50, 10),
      ref(object, 0, 10),
      ref('objects/1-2-0-b', 0, 5),
    ]);
    expect(plan.map(({ offset, end }) => [offset, end])).toEqual([
      [0, 60],
      [500_000, 500_010],
      [0, 5],
    ]);
    expect(planRanges([ref(object, 50, 10), ref(object, 0, 10)], true).length).toBe(2);
  });
});

describe('the caches', () => {
  it('evict the oldest entries first, and none that is held', () => {
    const cache = new Cache<string>(10);
    cache.set('a', 'A', 6);
    cache.set('b', 'B', 6);
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'B']);
    const release = cache.hold();
    cache.set('c', 'C', 6);
    cache.set('d', 'D', 6);
    expect([cache.get('c'), cache.get('d')]).toEqual(['C', 'D']);
    release();
    expect([cache.get('c'), cache.get('d')]).toEqual([undefined, 'D']);
  });

  it('find a range inside a cached one', () => {
    const ranges = new RangeCache(1_000);
    ranges.add('o', 10, new Uint8Array([1, 2, 3, 4]));
    const find = (offset: number, length: number) => ranges.find({ object: 'o', offset, length, hash: 0 });
    expect(find(11, 2)).toEqual(new Uint8Array([2, 3]));
    expect([find(9, 2), find(13, 2)]).toEqual([undefined, undefined]);
    ranges.drop({ object: 'o', offset: 11, length: 1, hash: 0 });
    expect(find(11, 2)).toBeUndefined();
  });

  it('find every range that is cached; adding takes constant time, however many objects there are', () => {
    const ranges = new RangeCache(30_000);
    const isHere = (i: number) => ranges.find({ object: `o${i}`, offset: 0, length: 1, hash: 0 }) !== undefined;
    for (let i = 0; i < 40_000; i++) ranges.add(`o${i}`, 0, new Uint8Array(1));
    expect([isHere(9_999), isHere(10_000), isHere(39_999)]).toEqual([false, true, true]);
    const looked = (['get', 'has', 'set', 'delete'] as const).map((name) => vi.spyOn(Cache.prototype, name));
    for (let i = 0; i < 10; i++) ranges.add(`more${i}`, 0, new Uint8Array(1));
    const times = looked.map(({ mock }) => mock.calls.length).reduce((sum, calls) => sum + calls);
    vi.restoreAllMocks();
    expect(times).toBeLessThan(100);
  });
});

describe('inode tables of files with several names', () => {
  const nowhere = { object: undefined, offset: 0, length: 0, hash: 0 };
  const context = { versionOf: () => 1, pageOf: () => nowhere, pieceOf: () => nowhere, extentsOf: () => [] };

  /** Prepares `states` pages of `files` files each. `decode` caches the bytes of one as far as `maxBytes` allows. */
  function read(files: number, states: number, maxBytes: number) {
    const inodes = new Map(
      Array.from({ length: files }, (_, id) => [id, { node: new FileNode(id, HEAD.state.meta), links: 2 }]),
    );
    const bytes = encodeInodes(inodes, context);
    const ranges = new RangeCache(maxBytes);
    const pages = new Pages(ranges, new WeakMap());
    const refs = Array.from({ length: states }, (_, i): Ref => {
      const object = `objects/1-${i}-${bytes.length}-a`;
      return { object, offset: 0, length: bytes.length, hash: hashOf(bytes) };
    });
    const decode = (ref: Ref) => {
      ranges.add(ref.object, 0, bytes);
      return pages.inodes(ref);
    };
    return { ranges, pages, refs, decode };
  }

  it('stay decoded for up to eight states, for fewer if they are large, and always for the newest', () => {
    const kept = (files: number, states: number): number => {
      const { pages, refs, decode } = read(files, states, Infinity);
      const decoded = refs.map((ref) => ({ ref, inodes: decode(ref) }));
      // The newest first: decoding one again evicts others.
      return decoded.reverse().filter(({ ref, inodes }) => pages.inodes(ref) === inodes).length;
    };
    expect([kept(1, 40), kept(3_000, 10), kept(20_000, 3)]).toEqual([8, 2, 1]);
  });

  it('stay decoded after their bytes were evicted, as long as one of their ranges is held', () => {
    const { ranges, pages, refs, decode } = read(1, 40, 0);
    const [first, ...others] = refs as [Ref, ...Ref[]];
    const releaseFirst = ranges.hold();
    const inodes = decode(first);
    releaseFirst();
    const releases = [ranges.hold(), pages.hold()];
    expect(pages.inodes(first)).toBe(inodes);
    for (const ref of others) decode(ref);
    expect(pages.inodes(first)).toBe(inodes);
    for (const release of releases) release();
    expect(() => pages.inodes(first)).toThrow();
  });
});

describe('compaction', () => {
  it('is due after 64 commits, a large one after 1,024, however many were missed', () => {
    const at = (commit: number, small: number, large: number) =>
      compactionStart({ ...HEAD, commit, gathered: { small, large } });
    expect([at(62, 1, 1), at(64, 1, 1), at(200, 1, 1), at(1_024, 1_000, 1), at(1_024, 1_000, 900)]).toEqual([
      undefined,
      1,
      1,
      1,
      undefined,
    ]);
    const head = { ...HEAD, commit: 1_024, gathered: { small: 1_000, large: 1 } };
    expect(progressAfter(head, 1)).toEqual({ small: 1_025, large: 1_025 });
    expect(progressAfter(head, 1_000)).toEqual({ small: 1_025, large: 1 });
    expect(progressAfter(head, undefined)).toEqual(head.gathered);
  });
});
