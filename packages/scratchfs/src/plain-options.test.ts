import { openFileSystem } from '@scratchfs/core';
import { expect, it } from 'vitest';
import { createFileSystem, MemoryStorage } from './index.js';

class Quota {
  readonly maxTotalSize = 1;
}

it.each([[[]], [new Map()], [new Quota()]])(
  'options and limits that are not a plain object are refused: %o',
  (value) => {
    expect(() => createFileSystem(value as never)).toThrow(TypeError);
    expect(() => openFileSystem(new MemoryStorage(), value as never)).toThrow(TypeError);
    expect(() => createFileSystem({ limits: value as never })).toThrow(TypeError);
  },
);

it('options and limits may have no prototype', () => {
  const limits = Object.assign(Object.create(null) as object, { maxTotalSize: 1 });
  const fs = createFileSystem(Object.assign(Object.create(null) as object, { limits }));
  expect(() => fs.writeFileSync('/a', 'xx')).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
});

it('initial files accept the kinds of bytes that writeFile accepts, and read them at the call', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const files = { '/a': bytes.buffer, '/b': new DataView(bytes.buffer, 1), '/c': new Uint16Array([1]) };
  const fs = createFileSystem({ files });
  bytes.fill(0);
  expect(['/a', '/b', '/c'].map((path) => [...fs.readFileSync(path)])).toEqual([
    [1, 2, 3],
    [2, 3],
    [1, 0],
  ]);
});
