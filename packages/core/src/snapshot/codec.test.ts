import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Metadata } from '../backend.js';
import { directory, entriesOf, file, META, plain, type SampleNode, sourceOf, symlink } from '../testing/sample-tree.js';
import { decodeSnapshot, decodeSteps } from './decode.js';
import { encodeSnapshot, SnapshotEncoder } from './encode.js';
import type { DecodedEntry, SourceEntry } from './snapshot-entry.js';
import { xxh32 } from './xxh32.js';

const time = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const owner = fc.oneof(fc.constant(0), fc.nat(2), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
const meta: fc.Arbitrary<Metadata> = fc.oneof(
  fc.constant(META),
  fc.record({
    mode: fc.nat(0o7777),
    uid: owner,
    gid: owner,
    atime: time,
    mtime: time,
    ctime: time,
    birthtime: time,
  }),
);
const text = (maxLength: number) =>
  fc.oneof(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      '\ufeffx',
      '\u{1f600}',
      '\uffff',
      'a',
      'a.b',
      '...',
      '~',
      '\n',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength }),
  );
const name = text(20).map((raw) => {
  const clean = raw.replace(/[\0/\\]/gu, '_').toWellFormed();
  return clean === '.' || clean === '..' ? '_' : clean;
});
const target = text(40).map((raw) => raw.replaceAll('\0', '_').toWellFormed());

const leaf: fc.Arbitrary<SampleNode> = fc.oneof(
  fc.record({ meta, content: fc.uint8Array({ maxLength: 100 }) }),
  fc.record({ meta, target }),
);
const { tree } = fc.letrec<{ tree: SampleNode; node: SampleNode }>((tie) => ({
  node: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('tree')),
  tree: fc
    .tuple(meta, fc.array(fc.tuple(name, tie('node')), { maxLength: 6 }))
    .map(([meta, children]) => ({ meta, children: new Map(children) })),
}));

/** A tree in which some leaves have further names. */
const linkedTree = fc
  .tuple(tree, fc.array(fc.tuple(name, fc.nat(20), fc.nat(20)), { maxLength: 5 }))
  .map(([root, more]) => {
    const leaves: SampleNode[] = [];
    const directories: Map<string, SampleNode>[] = [];
    const visit = (node: SampleNode): void => {
      if (node.children instanceof Map) {
        directories.push(node.children);
        for (const child of node.children.values()) visit(child);
      } else leaves.push(node);
    };
    visit(root);
    for (const [name, which, where] of more) {
      const node = leaves[which % leaves.length];
      const into = directories[where % directories.length] as Map<string, SampleNode>;
      if (node !== undefined && !into.has(name)) into.set(name, node);
    }
    return root;
  });

function normalized(entry: SourceEntry | DecodedEntry): unknown {
  return JSON.parse(JSON.stringify(plain(entry)));
}

describe('a snapshot', () => {
  it('restores every tree exactly', () => {
    fc.assert(
      fc.property(linkedTree, (root) => {
        const entries = entriesOf(root);
        const snapshot = decodeSnapshot(encodeSnapshot(entries));
        expect(snapshot.count).toBe(entries.length);
        expect([...snapshot.entries()].map(normalized)).toEqual(entries.map(normalized));
      }),
      { numRuns: 300 },
    );
  });

  it('has the same bytes when the entries read from it are written again', () => {
    fc.assert(
      fc.property(linkedTree, (root) => {
        const bytes = encodeSnapshot(entriesOf(root));
        expect(encodeSnapshot([...decodeSnapshot(bytes).entries()].map(sourceOf))).toEqual(bytes);
      }),
      { numRuns: 300 },
    );
  });

  it('has the same bytes whether metadata objects are shared or not', () => {
    const shared = directory({ a: file('1'), b: file('2') });
    const own = directory({ a: file('1', { ...META }), b: file('2', { ...META }) }, { ...META, mode: 0o755 });
    expect(encodeSnapshot(entriesOf(shared))).toEqual(encodeSnapshot(entriesOf(own)));
  });

  it('of an empty tree is small', () => {
    const bytes = encodeSnapshot(entriesOf(directory({})));
    expect(bytes.length).toBeLessThan(96);
    expect([...decodeSnapshot(bytes).entries()].map(normalized)).toEqual(entriesOf(directory({})).map(normalized));
  });

  it('treats names with a meaning in JavaScript as ordinary names', () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const names = ['__proto__', '__proto_', 'constructor', 'hasOwnProperty', 'prototype', 'toString', 'valueOf'];
    const bytes = encodeSnapshot(entriesOf(directory(new Map(names.map((name) => [name, file(name)])))));
    const read = [...decodeSnapshot(bytes).entries()].slice(1);
    expect(read.map((entry) => entry.name)).toEqual([...names].sort());
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  });

  it('keeps a byte order mark at the start of a name and of a target', () => {
    const bytes = encodeSnapshot(entriesOf(directory({ '\ufeffname': symlink('\ufefftarget') })));
    const [, entry] = [...decodeSnapshot(bytes).entries()];
    expect(entry).toMatchObject({ name: '\ufeffname', target: '\ufefftarget' });
  });

  it('keeps fractions of milliseconds, and times before 1970', () => {
    const times = { mtime: 1.000_000_1, ctime: -5.25, atime: 2 ** 60, birthtime: 5e-324 };
    const bytes = encodeSnapshot(entriesOf(directory({ a: file('', times) })));
    expect([...decodeSnapshot(bytes).entries()][1]).toMatchObject({ meta: times });
  });

  it('returns contents as views of its own bytes', () => {
    const bytes = encodeSnapshot(entriesOf(directory({ a: file('content') })));
    const entry = [...decodeSnapshot(bytes).entries()][1];
    if (entry?.kind !== 'file') return expect.unreachable();
    expect(entry.body.buffer).toBe(bytes.buffer);
  });

  it('may start at any offset of a larger buffer', () => {
    const bytes = encodeSnapshot(entriesOf(directory({ a: file('content'), b: symlink('a') })));
    const larger = new Uint8Array(bytes.length + 13);
    larger.set(bytes, 5);
    const entries = [...decodeSnapshot(larger.subarray(5, 5 + bytes.length)).entries()];
    expect(entries.map(normalized)).toEqual([...decodeSnapshot(bytes).entries()].map(normalized));
  });

  it('is written and read in steps, so that other work can run', () => {
    const children = new Map<string, SampleNode>();
    for (let i = 0; i < 10_000; i++) children.set(`file-${i}`, file(`${i}`));
    children.set('large', file(new Uint8Array(20 * 2 ** 20).fill(7)));
    const encoder = new SnapshotEncoder();
    for (const entry of entriesOf(directory(children))) encoder.add(entry);
    const [writing, bytes] = drain(encoder.finish());
    const [reading, snapshot] = drain(decodeSteps(bytes));
    expect(writing).toBeGreaterThanOrEqual(5);
    expect(reading).toBeGreaterThanOrEqual(7);
    expect(snapshot.count).toBe(10_002);
    expect(xxh32(bytes)).toBe(xxh32(encodeSnapshot(entriesOf(directory(children)))));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses the time %d', (time) => {
    const encoder = new SnapshotEncoder();
    const meta = { ...META, ctime: time };
    const root = { kind: 'directory', depth: 0, name: '', meta, size: 0, body: undefined } as const;
    expect(() => encoder.add(root)).toThrow(RangeError);
  });

  it('refuses a path that could not be restored', () => {
    let deep = directory({});
    for (let i = 0; i < 1000; i++) deep = directory({ a: deep });
    expect(decodeSnapshot(encodeSnapshot(entriesOf(deep))).count).toBe(1001);
    expect(() => encodeSnapshot(entriesOf(directory({ a: deep })))).toThrowError(
      expect.objectContaining({ code: 'ENAMETOOLONG', limit: 'depth', allowed: 1000 }),
    );
    let long = directory({});
    for (let i = 0; i < 17; i++) long = directory({ ['x'.repeat(255)]: long });
    expect(() => encodeSnapshot(entriesOf(long))).toThrowError(
      expect.objectContaining({ code: 'ENAMETOOLONG', limit: 'path', allowed: 4096 }),
    );
  });

  it('that does not fit into an array is refused with the size it would have', () => {
    const encoder = new SnapshotEncoder();
    encoder.add({ kind: 'directory', depth: 0, name: '', meta: META, size: 0, body: undefined });
    encoder.add({ kind: 'file', depth: 1, name: 'huge', meta: META, size: 2 ** 50, body: () => expect.unreachable() });
    expect(() => drain(encoder.finish())).toThrowError(expect.objectContaining({ code: 'EFBIG' }));
  });
});

function drain<T>(steps: Generator<void, T>): [number, T] {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return [count, step.value];
  }
}
