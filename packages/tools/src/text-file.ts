import { type FileSystem, quote } from '@scratchfs/core';
import { InputError } from './input.js';
import type { ToolCallOptions } from './tool.js';

/** Bytes probed for NUL, as in git and in diffs of this library. */
const BINARY_PROBE_BYTES = 8_000;

/** Kinds of files by their first bytes, written as Latin-1, and the offset of those bytes. */
const SIGNATURES: readonly (readonly [start: string, kind: string, offset?: number])[] = [
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['WEBP', 'a WebP image', 8],
  ['WAVE', 'a WAV sound', 8],
  ['ID3', 'an MP3 sound'],
  ['ftyp', 'an MP4 video', 4],
  ['%PDF-', 'a PDF document'],
  ['PK\x03\x04', 'a ZIP archive, or a document in one'],
  ['\x1f\x8b', 'a gzip archive'],
  ['\x7fELF', 'a program (ELF)'],
  ['MZ', 'a program (Windows)'],
  ['\0asm', 'a WebAssembly module'],
  ['SQLite format 3\0', 'an SQLite database'],
  ['\xff\xfe', 'text in UTF-16'],
  ['\xfe\xff', 'text in UTF-16'],
];

/**
 * Reads a file as text.
 * @param given the path as the model wrote it, for messages
 * @throws InputError with the kind and the size of the file if it has NUL in its first 8,000 bytes or is not UTF-8
 */
export async function readTextFile(
  fileSystem: FileSystem,
  place: string,
  given: string,
  call: ToolCallOptions,
): Promise<string> {
  const bytes = await fileSystem.readFile(place, call);
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) throw notText(given, bytes, 'a binary file');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw notText(given, bytes, 'a binary file, or text in another encoding');
  }
}

function notText(given: string, bytes: Uint8Array, otherwise: string): InputError {
  const first = String.fromCharCode(...bytes.subarray(0, 16));
  const known = SIGNATURES.find(([start, , offset = 0]) => first.startsWith(start, offset));
  return new InputError(
    `${quote(given)} is not text in UTF-8: it is ${known?.[1] ?? otherwise} of ${bytes.length} bytes.`,
  );
}
