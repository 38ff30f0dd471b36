import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type ContentNode, ContentStore } from './content.js';
import { Owner } from './owner.js';

vi.setConfig({ testTimeout: 60_000 });

const node = (): ContentNode => ({ data: null, start: 0, size: 0 });
const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

function from(store: ContentStore, bytes: Uint8Array | string): ContentNode {
  const made = node();
  if (typeof bytes === 'string') store.fromText(made, bytes);
  else store.fromBytes(made, bytes);
  return made;
}

/** `resizable` is not in the types of ES2023. */
function resizable(size: number): ArrayBuffer & { resize(size: number): void } {
  return Reflect.construct(ArrayBuffer, [size, { maxByteLength: size * 2 }]);
}

/** Returns the total size of the buffers that a value refers to. */
function held(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  if (ArrayBuffer.isView(value)) return held(value.buffer, seen);
  if (value instanceof ArrayBuffer) return value.byteLength;
  return Object.values(value).reduce((sum: number, part) => sum + held(part, seen), 0);
}

function pattern(size: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0, x = seed; i < size; i++) bytes[i] = (x = (x * 1103515245 + 12345) & 0x7fffffff) >>> 16;
  return bytes;
}

const SIZES = [0, 1, 100, 4095, 4096, 4097, 65_535, 65_536, 65_537, 131_072, 200_000];
const size = fc.oneof(fc.nat(50), fc.nat(5000), fc.nat(200_000), fc.constantFrom(...SIZES));
const fill = fc.integer({ min: 1, max: 255 });
const which = fc.nat(7);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('patch' as const), which, at: size, count: size, fill }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), which, count: size, fill }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('resize' as const), which, size }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fork' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('share' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('bytes' as const), which, count: size, fill }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('text' as const), which, count: size, wide: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const) }) },
);

describe('ContentStore', () => {
  test('any operations give the content of a plain array, in every fork and every shared copy', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const store = new ContentStore();
        const files = [{ node: node(), model: new Uint8Array(0), owner: new Owner() }];
        for (const action of steps) {
          if (action.kind === 'compact') {
            store.compact(files.map((file) => file.node));
            continue;
          }
          const file = files[action.which % files.length]!;
          const target = node();
          if (action.kind === 'fork') {
            // As a checkpoint does: both sides hold the same node, under new owners.
            files.push({ node: file.node, model: file.model, owner: new Owner() });
            file.owner = new Owner();
            continue;
          }
          if (action.kind === 'share') {
            // As a copy of a file in the same tree: the owner stays the same.
            store.share(target, file.node);
            files.push({ node: target, model: file.model, owner: file.owner });
            continue;
          }
          if (action.kind === 'patch' || action.kind === 'append') {
            const at = action.kind === 'append' ? file.model.length : action.at;
            const bytes = new Uint8Array(action.count).fill(action.fill);
            store.patch(target, file.node, file.owner, at, bytes);
            if (bytes.length > 0) {
              const model = new Uint8Array(Math.max(file.model.length, at + bytes.length));
              model.set(file.model);
              model.set(bytes, at);
              file.model = model;
            }
          } else if (action.kind === 'resize') {
            store.resize(target, file.node, file.owner, action.size);
            const model = new Uint8Array(action.size);
            model.set(file.model.subarray(0, action.size));
            file.model = model;
          } else if (action.kind === 'bytes') {
            file.model = new Uint8Array(action.count).fill(action.fill);
            store.fromBytes(target, file.model);
          } else {
            const text = (action.wide ? 'ünï😀' : '') + 'x'.repeat(action.count);
            file.model = new TextEncoder().encode(text);
            store.fromText(target, text);
            expect(store.text(target)).toBe(text);
          }
          file.node = target;
        }
        for (const file of files) {
          expect(file.node.size).toBe(file.model.length);
          if (!same(store.bytes(file.node), file.model)) expect.fail('the content differs from the model');
          for (const other of files) expect(store.equal(file.node, other.node)).toBe(same(file.model, other.model));
        }
      }),
      { numRuns: 150 },
    );
  });

  test('bytes come back the same at every size, as a fresh copy', () => {
    const store = new ContentStore();
    for (const count of SIZES) {
      const bytes = pattern(count);
      const file = from(store, bytes);
      expect(file.size).toBe(count);
      const given = bytes.slice();
      bytes.fill(0);
      const first = store.bytes(file);
      expect(same(first, given)).toBe(true);
      first.fill(1);
      expect(same(store.bytes(file), given)).toBe(true);
    }
  });

  test('text is UTF-8: sizes count bytes, lone surrogates become U+FFFD, a byte order mark stays', () => {
    const store = new ContentStore();
    for (const text of ['', 'a', 'grün', '😀', '\ufeffmark', 'x'.repeat(70_000), `${'y'.repeat(70_000)}é`]) {
      const file = from(store, text);
      expect(file.size).toBe(Buffer.byteLength(text));
      expect(store.text(file)).toBe(text);
      expect(same(store.bytes(file), Buffer.from(text))).toBe(true);
    }
    expect([...store.bytes(from(store, 'a\ud800b'))]).toEqual([0x61, 0xef, 0xbf, 0xbd, 0x62]);
    expect(store.text(from(store, 'a\udc00'))).toBe('a\ufffd');
    expect(store.text(from(store, new Uint8Array([0xff, 0x41])))).toBe('\ufffdA');
  });

  test('a multi-byte character that crosses a chunk is decoded whole', () => {
    const store = new ContentStore();
    const text = `${'a'.repeat(65_535)}€${'b'.repeat(70_000)}`;
    expect(store.text(from(store, new TextEncoder().encode(text)))).toBe(text);
  });

  test('read and slice return only existing bytes', () => {
    const store = new ContentStore();
    for (const content of [pattern(100), pattern(10_000), pattern(150_000), 'q'.repeat(100)]) {
      const file = from(store, content);
      const all = store.bytes(file);
      const into = new Uint8Array(50).fill(9);
      expect(store.read(file, into, file.size - 20)).toBe(20);
      expect(same(into.subarray(0, 20), all.subarray(-20))).toBe(true);
      expect([...into.subarray(20)]).toEqual(new Array(30).fill(9));
      expect(store.read(file, into, file.size)).toBe(0);
      expect(store.read(file, into, 1e15)).toBe(0);
      expect(same(store.slice(file, 10, 60), all.subarray(10, 60))).toBe(true);
      expect(store.slice(file, 60, 10).length).toBe(0);
      expect(store.slice(file, file.size - 1, Number.MAX_SAFE_INTEGER).length).toBe(1);
    }
  });

  test('a claimed tail does not change what its sharers see', () => {
    const store = new ContentStore();
    const base = from(store, pattern(70_000));
    const a = node();
    const b = node();
    const grown = node();
    store.patch(a, base, new Owner(), 70_000, new Uint8Array([1, 2, 3]));
    store.patch(b, base, new Owner(), 70_000, new Uint8Array([4, 5]));
    store.resize(grown, base, new Owner(), 70_010);
    expect([...store.slice(a, 69_999, 80_000)].slice(1)).toEqual([1, 2, 3]);
    expect([...store.slice(b, 69_999, 80_000)].slice(1)).toEqual([4, 5]);
    expect([...store.slice(grown, 70_000, 80_000)]).toEqual(new Array(10).fill(0));
    expect(same(store.bytes(base), pattern(70_000))).toBe(true);
  });

  test('small content grows in place only for the first append', () => {
    const store = new ContentStore();
    const base = from(store, pattern(100));
    const a = node();
    const b = node();
    store.patch(a, base, new Owner(), 100, new Uint8Array([1, 2, 3]));
    store.patch(b, base, new Owner(), 100, new Uint8Array([4, 5]));
    expect(a.start).toBe(base.start);
    expect(same(store.bytes(a), Buffer.from([...pattern(100), 1, 2, 3]))).toBe(true);
    expect(same(store.bytes(b), Buffer.from([...pattern(100), 4, 5]))).toBe(true);
    expect(same(store.bytes(base), pattern(100))).toBe(true);
  });

  test('a node that compaction visits twice moves once', () => {
    const store = new ContentStore();
    from(store, pattern(150));
    const nodes = [1, 2, 3].map((seed) => from(store, pattern(100, seed)));
    store.compact([...nodes, ...nodes.toReversed()]);
    for (const [i, file] of nodes.entries()) expect(same(store.bytes(file), pattern(100, i + 1))).toBe(true);
  });

  test('a tail of zeros is claimed too', () => {
    const store = new ContentStore();
    const base = from(store, pattern(70_000));
    const grown = node();
    const appended = node();
    store.resize(grown, base, new Owner(), 70_010);
    store.patch(appended, base, new Owner(), 70_000, new Uint8Array([7, 7]));
    expect([...store.slice(grown, 70_000, 80_000)]).toEqual(new Array(10).fill(0));
    expect([...store.slice(appended, 70_000, 80_000)]).toEqual([7, 7]);
  });

  test('cut-off bytes do not come back when the file grows again', () => {
    const store = new ContentStore();
    for (const count of [1000, 10_000, 100_000]) {
      const owner = new Owner();
      const file = from(store, pattern(count).fill(9));
      store.patch(file, file, owner, 0, new Uint8Array([9]));
      store.resize(file, file, owner, count / 2);
      store.resize(file, file, owner, count / 2 + 5);
      store.patch(file, file, owner, count / 2 + 10, new Uint8Array([8]));
      expect([...store.slice(file, count / 2 - 1, count)]).toEqual([9, ...new Array(10).fill(0), 8]);
    }
  });

  test('a petabyte of zeros takes no memory', () => {
    const store = new ContentStore();
    const owner = new Owner();
    const file = from(store, 'head');
    store.resize(file, file, owner, 1e15);
    store.patch(file, file, owner, 5e14, new Uint8Array([7]));
    expect(file.size).toBe(1e15);
    expect([...store.slice(file, 5e14 - 1, 5e14 + 2)]).toEqual([0, 7, 0]);
    expect(new TextDecoder().decode(store.slice(file, 0, 5))).toBe('head\0');
    expect(() => store.bytes(file)).toThrow(RangeError);
    const copy = node();
    store.share(copy, file);
    store.patch(copy, copy, new Owner(), 9e14, new Uint8Array(1));
    expect(store.equal(copy, file)).toBe(true);
    store.patch(copy, copy, new Owner(), 9e14, new Uint8Array([1]));
    expect(store.equal(copy, file)).toBe(false);
    store.resize(file, file, owner, 5e14 + 1);
    store.resize(file, file, owner, Number.MAX_SAFE_INTEGER);
    expect([...store.slice(file, 5e14, 5e14 + 2)]).toEqual([7, 0]);
  });

  test('single bytes far apart take the same memory at any distance', () => {
    const room = (stride: number): number => {
      const store = new ContentStore();
      const file = node();
      const owner = new Owner();
      for (let i = 0; i < 50; i++) store.patch(file, file, owner, i * stride, new Uint8Array([1]));
      return held(file.data);
    };
    expect(room(16_384)).toBeLessThanOrEqual(room(16_385));
    expect(room(16_384)).toBeLessThan(50 * 5_000);
  });

  test('shared and resizable buffers are copied immediately', () => {
    const store = new ContentStore();
    for (const count of [10, 5000, 70_000]) {
      const shared = new Uint8Array(new SharedArrayBuffer(count)).fill(1);
      const file = from(store, shared);
      shared.fill(2);
      expect(same(store.bytes(file), new Uint8Array(count).fill(1))).toBe(true);
      const buffer = resizable(count);
      const view = new Uint8Array(buffer).fill(3);
      store.patch(file, file, new Owner(), count, view);
      buffer.resize(0);
      expect(store.slice(file, count, count * 2)).toEqual(new Uint8Array(count).fill(3));
    }
  });

  test('content that is not loaded is an error, not zeros', () => {
    expect(() => new ContentStore().bytes({ data: null, start: 0, size: 3 })).toThrow('not loaded');
  });

  test('compaction keeps every content, keeps sharing, and frees sparsely used slabs', () => {
    const store = new ContentStore();
    const kept: ContentNode[] = [];
    for (let i = 0; i < 200_000; i++) {
      const file = from(store, pattern(100, i));
      if (i % 100 === 0) {
        const copy = node();
        store.share(copy, file);
        kept.push(file, copy);
      } else store.noteReleased(file);
    }
    expect(store.slabBytes).toBeGreaterThan(20_000_000);
    expect(store.shouldCompact()).toBe(true);
    store.compact(kept.values());
    expect(store.slabBytes).toBeLessThan(300_000);
    expect(store.shouldCompact()).toBe(false);
    expect(new Set(kept.map((file) => file.data)).size).toBeLessThan(20);
    for (let i = 0; i < kept.length; i += 2) {
      expect(same(store.bytes(kept[i]!), pattern(100, i * 50))).toBe(true);
      expect(kept[i]!.data).toBe(kept[i + 1]!.data);
      expect(kept[i]!.start).toBe(kept[i + 1]!.start);
    }
  });
});
