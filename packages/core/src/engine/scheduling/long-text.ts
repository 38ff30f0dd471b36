import type { Codec } from '../text-encodings.js';
import type { Steps } from './time-slice.js';

/** Promise methods decode and encode texts of this size, in bytes or UTF-16 units, and larger ones in slices. */
export const LONG_TEXT = 2 ** 20;

/** Bytes decoded, or UTF-16 units encoded, per step: a multiple of six, as codecs need. */
export const PIECE = 3 * 2 ** 15;
const encoder = new TextEncoder();

/** Decodes by a codec; by default UTF-8, malformed bytes as U+FFFD, with a byte order mark kept. */
export function* decoded(bytes: Uint8Array, codec?: Codec): Steps<string> {
  return yield* joined(codec === undefined ? textPieces(bytes) : codecPieces(bytes, codec));
}

function* codecPieces(bytes: Uint8Array, codec: Codec): Generator<string, void> {
  for (let at = 0; at < bytes.length; at += PIECE) yield codec.decode(bytes.subarray(at, at + PIECE));
}

/**
 * Decodes bytes that must be UTF-8.
 *
 * @throws TypeError if they are not
 */
export function* decodedStrictly(bytes: Uint8Array): Steps<string> {
  return yield* joined(textPieces(bytes, true));
}

function* joined(pieces: Iterable<string>): Steps<string> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    yield;
  }
  return text;
}

/** Returns the lines of a UTF-8 text without `\n` and `\r\n`. A final newline adds no line. */
export function* decodedLines(bytes: Uint8Array): Steps<string[]> {
  const lines: string[] = [];
  let rest = '';
  for (const piece of textPieces(bytes)) {
    const parts = piece.split('\n');
    for (let i = 0; i < parts.length - 1; i++) {
      const line = i === 0 ? rest + parts[0] : (parts[i] as string);
      lines.push(line.endsWith('\r') ? line.slice(0, -1) : line);
    }
    const last = parts.at(-1) as string;
    rest = parts.length === 1 ? rest + last : last;
    yield;
  }
  if (rest !== '') lines.push(rest);
  return lines;
}

function* textPieces(bytes: Uint8Array, fatal = false): Generator<string, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal });
  for (let at = 0; at < bytes.length; at += PIECE)
    yield decoder.decode(bytes.subarray(at, at + PIECE), { stream: at + PIECE < bytes.length });
}

/** Encodes text as UTF-8; a lone surrogate becomes U+FFFD. */
export function* encoded(text: string): Steps<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at);
    const piece = encoder.encode(text.slice(at, end));
    pieces.push(piece);
    size += piece.length;
    at = end;
    yield;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Returns the end of a piece, never between the two halves of a character. */
function pieceEnd(text: string, at: number): number {
  const end = at + PIECE;
  if (end >= text.length) return text.length;
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}
