import { describe, expect, it } from 'vitest';
import { sameBytes } from '../../tree/same-bytes.js';
import { splitLines } from '../operations/read.js';
import { decoded, decodedLines, encoded, PIECE } from './long-text.js';
import { runSteps } from './time-slice.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Texts with characters, line ends and lone surrogates, some of them around the end of a piece. */
const TEXTS: readonly string[] = [
  '',
  '\n',
  '\ufeffmark',
  'a'.repeat(PIECE),
  `${'a'.repeat(PIECE - 1)}\u{1f600}${'b'.repeat(PIECE)}`,
  `${'a'.repeat(PIECE - 1)}\r\nb\r`,
  `${'a'.repeat(PIECE - 1)}\ud800`,
  `${'a'.repeat(PIECE - 1)}\ud800b`,
  `${'a'.repeat(PIECE)}\udc00b`,
  `${'a'.repeat(PIECE - 1)}\ud800\ud800\udc00`,
  // Seven does not divide a piece, so pieces end at other places in the line, the second one inside `\r\n`.
  'lines\r\n'.repeat(60_000),
  `${'\n'.repeat(PIECE + 1)}end`,
  'é☃\u{1f600}\n'.repeat(50_000),
];

describe('long text in pieces', () => {
  it.each(TEXTS.map((text, i) => [i, text] as const))('is encoded and decoded as in one call: text %i', (_, text) => {
    const bytes = encoder.encode(text);
    expect(sameBytes(runSteps(encoded(text)), bytes, bytes.length)).toBe(true);
    expect(runSteps(decoded(bytes)) === decoder.decode(bytes)).toBe(true);
    expect(runSteps(decodedLines(bytes))).toEqual(splitLines(decoder.decode(bytes)));
  });

  it('has U+FFFD for malformed bytes, wherever pieces end', () => {
    for (const at of [PIECE - 2, PIECE - 1, PIECE, PIECE + 1]) {
      const bytes = new Uint8Array(2 * PIECE).fill(97);
      bytes.set([0xe2, 0x98], at);
      expect(runSteps(decoded(bytes)) === decoder.decode(bytes)).toBe(true);
    }
    const cut = encoder.encode(`${'a'.repeat(PIECE - 1)}☃`).subarray(0, PIECE + 1);
    expect(runSteps(decoded(cut)) === decoder.decode(cut)).toBe(true);
  });
});
