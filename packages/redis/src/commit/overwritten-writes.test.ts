import type { Metadata, Write } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { dropOverwritten } from './overwritten-writes.js';

const META: Metadata = { mode: 0o100644, uid: 0, gid: 0, atime: 1, mtime: 1, ctime: 1, birthtime: 1 };
const cut = (path: string): Write => ({ kind: 'write', path, size: 0, parts: [], meta: META });
const part = (path: string, size: number, offset: number, length: number): Write => ({
  kind: 'write',
  path,
  size,
  parts: [{ offset, bytes: new Uint8Array(length) }],
  meta: META,
});
const touch = (path: string, time: number): Write => ({ kind: 'touch', path, time });
const made = (path: string): Write => ({ kind: 'create', path, id: path, type: 'file', meta: META });

describe('dropOverwritten()', () => {
  it('drops a truncation before a write of the whole content', () => {
    const whole = part('/a', 9, 0, 9);
    expect(dropOverwritten([cut('/a'), whole])).toEqual([whole]);
  });

  it('keeps a truncation if old bytes would remain, or another file is written', () => {
    for (const next of [part('/a', 9, 1, 8), part('/a', 9, 0, 8), part('/b', 9, 0, 9), touch('/a', 1)])
      expect(dropOverwritten([cut('/a'), next])).toEqual([cut('/a'), next]);
    expect(dropOverwritten([cut('/a')])).toEqual([cut('/a')]);
  });

  it('keeps the last touch of a directory', () => {
    const writes = [touch('/', 1), made('/a'), touch('/', 2), touch('/d', 2), made('/b'), touch('/', 3)];
    expect(dropOverwritten(writes)).toEqual([made('/a'), touch('/d', 2), made('/b'), touch('/', 3)]);
  });

  it('keeps touches before moves and copies', () => {
    const copy: Write = { kind: 'copy', from: '/', to: '/c', id: 'c', meta: META, time: 4, keepTimes: true };
    for (const between of [copy, { kind: 'move', from: '/d', to: '/e', time: 2 }] as const) {
      const writes = [touch('/d', 1), between, touch('/d', 5)];
      expect(dropOverwritten(writes)).toEqual(writes);
    }
  });
});
