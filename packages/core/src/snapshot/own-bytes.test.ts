import { describe, expect, it } from 'vitest';
import { copyBytes } from '../engine/arguments.js';
import { runSteps } from '../engine/scheduling/time-slice.js';
import { decodeSnapshot } from './decode.js';
import { encodeSnapshot } from './encode.js';
import { copySteps } from './own-bytes.js';

const MiB = 2 ** 20;
const meta = { mode: 0o644, uid: 0, gid: 0, atime: 1, mtime: 1, ctime: 1, birthtime: 1 };

function snapshotOf(size: number): Uint8Array<ArrayBuffer> {
  const root = { kind: 'directory', depth: 0, name: '', meta, size: 0, body: undefined } as const;
  const fill = (into: Uint8Array): unknown => into.fill(7);
  const file = { kind: 'file', depth: 1, name: 'f', meta, size, body: (into: Uint8Array) => void fill(into) } as const;
  return encodeSnapshot([root, file]);
}

describe('the copy of a snapshot', () => {
  it.each([0, 1, 16 * MiB - 1, 16 * MiB, 16 * MiB + 1, 20 * MiB + 3])('of %i bytes is complete', (size) => {
    const bytes = new Uint8Array(size);
    for (let i = 0; i < size; i++) bytes[i] = i % 251;
    const copy = runSteps(copySteps(bytes));
    expect(copy.buffer).not.toBe(bytes.buffer);
    expect(Buffer.compare(copy, bytes)).toBe(0);
  });

  it("is a copy of a Buffer too, although Buffer's own slice() does not copy", () => {
    const buffer = Buffer.from('text');
    const copies = [copyBytes(buffer), runSteps(copySteps(buffer))];
    buffer.fill(0);
    for (const copy of copies) expect(new TextDecoder().decode(copy)).toBe('text');
  });

  it('has the first 16 MiB as they were at the call, even if they change later', () => {
    const bytes = snapshotOf(15 * MiB);
    const steps = copySteps(bytes);
    bytes.fill(0);
    expect(decodeSnapshot(runSteps(steps)).largest).toBe(15 * MiB);
  });

  it('of a larger one is corrupt if bytes change before they are copied', () => {
    const bytes = snapshotOf(20 * MiB);
    const steps = copySteps(bytes);
    steps.next();
    bytes[bytes.length - 1] = 8;
    expect(() => decodeSnapshot(runSteps(steps))).toThrow(
      expect.objectContaining({ name: 'StorageError', kind: 'corrupt' }),
    );
  });

  it('of a larger one is corrupt if the buffer is detached', () => {
    const bytes = snapshotOf(20 * MiB);
    const steps = copySteps(bytes);
    steps.next();
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect(() => runSteps(steps)).toThrow(/taken away/);
  });
});
