import { hash } from 'node:crypto';
import type { Batch, Metadata } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { PathTable } from './request/batch.js';
import { CommitRequestWriter } from './request/commit-request.js';
import { Writer } from './request/writer.js';
import { readBucket } from './stored/bucket.js';
import { readChunk, singleSegmentChunk } from './stored/chunk.js';
import { readDirectory } from './stored/directory.js';
import { META_BYTES, RECORD_BYTES, readMeta, readRecord, writeMeta } from './stored/record.js';
import { compose, copiedId, copiedMeta, storedTransform, transformBytes } from './stored/transform.js';

const META: Metadata = {
  mode: 0o100644,
  uid: 4_294_967_295,
  gid: 7,
  atime: 1.5,
  mtime: -2,
  ctime: 2 ** 45,
  birthtime: 0,
};

function segment(offset: number, text: string): Buffer {
  return singleSegmentChunk(offset, Buffer.from(text)).subarray(2);
}

function chunk(...segments: readonly Buffer[]): Buffer {
  const number = Buffer.alloc(8);
  number.writeDoubleBE(5);
  return Buffer.concat([Buffer.from([0x43, segments.length]), ...segments, number]);
}

function text(bytes: Buffer, length: number): string | false {
  const into = new Uint8Array(length);
  return readChunk(bytes, into) && Buffer.from(into).toString();
}

describe('formats', () => {
  it('metadata round-trips, including fractions and negative times', () => {
    const bytes = Buffer.alloc(META_BYTES + 3);
    expect(writeMeta(META, bytes, 3)).toBe(META_BYTES + 3);
    expect(readMeta(bytes, 3)).toEqual(META);
  });

  it('readRecord() reads fields by offset', () => {
    const bytes = Buffer.alloc(RECORD_BYTES);
    bytes.write('f');
    bytes.writeDoubleBE(9, 1);
    bytes.writeDoubleBE(2 ** 43, 9);
    bytes[69] = 2;
    bytes.write('é', 70);
    expect(readRecord(bytes)).toEqual({ kind: 'f', version: 9, size: 2 ** 43, node: 'é' });
  });

  it('readBucket() returns the names, and undefined if lengths do not match', () => {
    const names = Buffer.from('\0a/\0😀 b/');
    const head = Buffer.alloc(15);
    head.write('L');
    head.writeDoubleBE(3, 1);
    head.writeUInt16BE(2, 9);
    head.writeUInt32BE(names.length, 11);
    const record = (name: string): Buffer => {
      const bytes = Buffer.alloc(RECORD_BYTES, name);
      return Buffer.concat([
        bytes,
        Buffer.from(hash('sha1', Buffer.concat([head.subarray(1, 9), Buffer.from(`${name}/`), bytes])).slice(0, 8)),
      ]);
    };
    const checked = Buffer.concat([head, names, record('a'), record('😀 b')]);
    const bytes = Buffer.concat([checked, Buffer.alloc(8)]);
    expect(readBucket(bytes)).toEqual({ number: 3, names: ['a', '😀 b'], recordsAt: 15 + names.length });
    for (let length = 0; length < bytes.length; length++) expect(readBucket(bytes.subarray(0, length))).toBe(undefined);
    const foreign = Buffer.from(bytes);
    foreign[15] = 0x61;
    expect(readBucket(foreign)).toBe(undefined);
    // Scripts verify the check of the names.
    for (let at = 1; at < checked.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 1;
      expect(readBucket(damaged), `byte ${at}`).toBe(undefined);
    }
  });

  it('readChunk() overwrites earlier segments with later ones, and truncates at an empty one', () => {
    expect(text(chunk(segment(0, 'abcdef'), segment(2, 'XY')), 8)).toBe('abXYef\0\0');
    expect(text(chunk(segment(0, 'abcdef'), segment(3, ''), segment(5, 'z')), 6)).toBe('abc\0\0z');
    expect(text(chunk(segment(0, 'abcdef')), 3)).toBe('abc');
  });

  it('singleSegmentChunk() round-trips', () => {
    const stored = (offset: number): Buffer =>
      Buffer.concat([singleSegmentChunk(offset, Buffer.from('abc')), Buffer.alloc(8)]);
    expect(text(stored(0), 3)).toBe('abc');
    expect(text(stored(2), 6)).toBe('\0\0abc\0');
  });

  it('singleSegmentChunk() round-trips a large content, which has no number', () => {
    const content = Buffer.alloc(8_192, 'x');
    const large = singleSegmentChunk(0, content);
    expect([large[0], large.length]).toEqual([0x42, content.length + 26]);
    const into = new Uint8Array(content.length);
    expect(readChunk(large, into)).toBe(true);
    expect(content.equals(into)).toBe(true);
    expect(readChunk(large.subarray(0, -1), into)).toBe(false);
    expect(singleSegmentChunk(1, content)[0]).toBe(0x43);
    expect(singleSegmentChunk(0, content.subarray(1))[0]).toBe(0x43);
  });

  it('readChunk() rejects a chunk with any changed bit before its number, or cut anywhere', () => {
    const bytes = chunk(segment(0, 'content'), segment(6, ''), segment(4, 'more'));
    expect(text(bytes, 8)).toBe('contmore');
    for (let bit = 0; bit < 8 * (bytes.length - 8); bit++) {
      const damaged = Buffer.from(bytes);
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(text(damaged, 8), `bit ${bit}`).toBe(false);
    }
    for (let length = 0; length < bytes.length; length++) expect(text(bytes.subarray(0, length), 8)).toBe(false);
  });

  it('readDirectory() reads every number from its own field', () => {
    const bytes = Buffer.alloc(186);
    bytes.write('D');
    for (let i = 0; i < 10; i++) bytes.writeDoubleBE(i + 1, 1 + 8 * i);
    bytes[162] = 1;
    bytes.write('x', 163);
    const object = readDirectory(bytes);
    expect([object.number, object.version, object.listing, object.tree, object.count]).toEqual([1, 2, 3, 4, 5]);
    expect(object.totals).toEqual({ size: 6, files: 7, directories: 8, linked: 9 });
    expect([object.transform, object.nodeId]).toEqual([undefined, 'x']);
  });
});

describe('transforms', () => {
  const first = transformBytes('1'.repeat(16), 100, false);
  const second = transformBytes('2'.repeat(16), 200, true);

  it('change ids and times of a copy', () => {
    expect(copiedId('n', first)).not.toBe(copiedId('n', second));
    expect(copiedMeta(META, first)).toEqual({
      ...META,
      uid: 0,
      gid: 0,
      atime: 100,
      mtime: 100,
      ctime: 100,
      birthtime: 100,
    });
    expect(copiedMeta(META, second)).toEqual({ ...META, uid: 0, gid: 0, ctime: 200, birthtime: 200 });
  });

  it('compose as if applied one after the other', () => {
    const both = compose(first, second) as Buffer;
    expect(copiedMeta(META, both)).toEqual(copiedMeta(copiedMeta(META, first), second));
    const other = compose(second, first) as Buffer;
    expect(copiedMeta(META, other)).toEqual(copiedMeta(copiedMeta(META, second), first));
    expect(both.equals(other)).toBe(false);
  });

  it('compose with no transform to themselves', () => {
    expect(compose(undefined, first)).toBe(first);
    expect(compose(first, undefined)).toBe(first);
    expect(storedTransform(Buffer.alloc(44))).toBe(undefined);
  });
});

describe('batches', () => {
  it('PathTable encodes each path once, with the index of its parent', () => {
    const paths = new PathTable();
    expect([paths.index('/a/b'), paths.index('/a'), paths.index('/'), paths.index('/a/b')]).toEqual([2, 1, 0, 2]);
    const into = new Writer(1);
    paths.write(into);
    expect([...into.done()]).toEqual([0, 2, 0, 0, 1, 97, 0x86, 0xf7, 0xe4, 0x37, 0, 1, 1, 98, 0xe9, 0xd7, 0x1f, 0x5e]);
  });

  it('a name that exceeds the limit is encoded as a name that cannot exist', () => {
    const into = new Writer();
    into.name('n'.repeat(256));
    expect(into.done().toString()).toBe('\x01/');
  });

  it('an id that does not fit into a record throws TypeError', () => {
    const batch = (id: string): Batch => ({
      operationId: 'o',
      checks: [],
      writes: [{ kind: 'create', path: '/f', id, type: 'file', meta: META }],
      limits: {},
    });
    for (const id of ['', 'a/b', 'a\0', 'x'.repeat(24), 'é'.repeat(12)])
      expect(() => new CommitRequestWriter().add(batch(id), { sequence: 1 })).toThrow(TypeError);
    new CommitRequestWriter().add(batch('x'.repeat(23)), { sequence: 1 });
  });

  it('add() leaves the request unchanged if a batch cannot be encoded', () => {
    const write = (path: string, id: string): Batch => ({
      operationId: 'o',
      checks: [],
      writes: [
        { kind: 'create', path, id: 'a', type: 'file', meta: META, content: Buffer.from('content') },
        { kind: 'create', path: `${path}2`, id, type: 'file', meta: META, content: Buffer.from('more') },
      ],
      limits: {},
    });
    const [one, other] = [new CommitRequestWriter(), new CommitRequestWriter()];
    for (const request of [one, other]) request.add(write('/f', 'b'), { sequence: 1 });
    expect(() => one.add(write('/f', ''), { sequence: 2 })).toThrow(TypeError);
    expect(one.bytes).toBe(other.bytes);
    expect(writtenOf(one)).toEqual(writtenOf(other));
    expect(other.chunks).toEqual([
      singleSegmentChunk(0, Buffer.from('content')),
      singleSegmentChunk(0, Buffer.from('more')),
    ]);
  });

  it('addReadOnly() leaves the request unchanged if a batch cannot be encoded', () => {
    const look = (id: string): Batch => ({
      operationId: 'o',
      checks: [
        { kind: 'entry', path: '/f', id: 'a' },
        { kind: 'entry', path: '/f', id },
      ],
      writes: [],
      limits: {},
    });
    const [one, other] = [new CommitRequestWriter(), new CommitRequestWriter()];
    for (const request of [one, other]) request.addReadOnly(look('b'));
    expect(() => one.addReadOnly(look('x'.repeat(256)))).toThrow(RangeError);
    expect(one.bytes).toBe(other.bytes);
    expect(writtenOf(one)).toEqual(writtenOf(other));
  });

  it('add() rejects a batch with too many paths and keeps the batches before it', () => {
    const look = (count: number): Batch => ({
      operationId: 'o',
      checks: Array.from({ length: count }, (_, i) => ({ kind: 'entry', path: `/f${i}`, id: null })),
      writes: [],
      limits: {},
    });
    const request = new CommitRequestWriter();
    request.addReadOnly(look(10));
    const { bytes } = request;
    const many = { ...look(0), checks: [...look(60_000).checks, ...deep()] };
    expect(() => request.add(many, { sequence: 1 })).toThrow(RangeError);
    expect(request.bytes).toBe(bytes);
    request.addReadOnly(look(11));
    expect(request.pathCount).toBe(65_535);
    expect(writtenOf(request).readUInt16BE(0)).toBe(65_535);
  });
});

function writtenOf(request: CommitRequestWriter): Buffer {
  const into = new Writer();
  request.write(into);
  return into.done();
}

function deep(): Batch['checks'] {
  return Array.from({ length: 6 }, (_, i) => ({ kind: 'entry', path: `/d${i}${'/d'.repeat(999)}`, id: null }));
}
