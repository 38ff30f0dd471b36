import { expect, test } from 'vitest';
import { isBinary } from './is-binary.js';

test('a content with a NUL among its first 8,000 bytes is not text, as in git', () => {
  const content = new Uint8Array(9_000).fill(0x61);
  expect(isBinary(content)).toBe(false);
  content[8_000] = 0;
  expect(isBinary(content)).toBe(false);
  content[7_999] = 0;
  expect(isBinary(content)).toBe(true);
  expect(isBinary(new Uint8Array())).toBe(false);
});
