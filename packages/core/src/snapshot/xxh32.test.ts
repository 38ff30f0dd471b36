import { describe, expect, it } from 'vitest';
import { STRIPE_BYTES, Xxh32, xxh32 } from './xxh32.js';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('XXH32', () => {
  it.each([
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['I want an unsigned 32-bit seed!', 0xf7a35af8],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
    ['The quick brown fox jumps over the lazy dog', 0xe85ea4de],
  ])('of %j has the published value', (text, hash) => {
    expect(xxh32(bytes(text))).toBe(hash);
  });

  it('is the same in one piece and in pieces of whole stripes', () => {
    const data = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7919) & 255);
    for (let length = 0; length < 200; length++) {
      const inPieces = new Xxh32();
      for (let at = 0; at < length; at += STRIPE_BYTES * 3)
        inPieces.update(data, at, Math.min(at + STRIPE_BYTES * 3, length));
      expect(inPieces.digest()).toBe(xxh32(data, 0, length));
    }
  });

  it('does not depend on the offset of the data in its buffer', () => {
    const data = bytes('x'.repeat(100));
    for (let offset = 0; offset < 8; offset++) {
      const shifted = new Uint8Array(200);
      shifted.set(data, offset);
      expect(xxh32(shifted.subarray(offset, offset + 100))).toBe(xxh32(data));
      expect(xxh32(shifted, offset, offset + 100)).toBe(xxh32(data));
    }
  });

  it('refuses to continue after a part of odd length', () => {
    const hash = new Xxh32().update(bytes('abc'));
    expect(() => hash.update(bytes('d'))).toThrow(RangeError);
  });
});
