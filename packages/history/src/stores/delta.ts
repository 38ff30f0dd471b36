import { HistoryError } from '../errors.js';

/**
 * Applies a delta to its base (git, gitformat-pack): copies from the base, and literal bytes.
 * @throws HistoryError `corrupt`, or `too-large` above `limit` bytes
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array, limit: number): Uint8Array {
  let at = 0;
  const byte = (): number => {
    if (at >= delta.length) throw damaged();
    return delta[at++] as number;
  };
  const size = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = byte();
      value += (next & 127) * scale;
      if (next < 128) return value;
      if (scale > 2 ** 42) throw damaged();
    }
  };
  const part = (flags: number, count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++) if ((flags & (1 << i)) !== 0) value += byte() * 2 ** (8 * i);
    return value;
  };
  if (size() !== base.length) throw damaged();
  const length = size();
  if (length > limit) throw new HistoryError('too-large', `An object unpacks to more than ${limit} bytes`);
  const result = new Uint8Array(length);
  let end = 0;
  while (at < delta.length) {
    const instruction = byte();
    let source: Uint8Array;
    if (instruction >= 128) {
      const offset = part(instruction, 4);
      const count = part(instruction >> 4, 3) || 0x10000;
      source = base.subarray(offset, offset + count);
      if (source.length !== count) throw damaged();
    } else {
      source = delta.subarray(at, at + instruction);
      if (instruction === 0 || source.length !== instruction) throw damaged();
      at += instruction;
    }
    if (end + source.length > length) throw damaged();
    result.set(source, end);
    end += source.length;
  }
  if (end !== length) throw damaged();
  return result;
}

function damaged(): HistoryError {
  return new HistoryError('corrupt', 'A packed object is a damaged delta');
}
