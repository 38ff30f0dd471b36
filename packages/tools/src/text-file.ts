import { type FileSystem, FsError, isFsError, quote, type VersionOptions } from '@scratchfs/core';
import { nextTurn } from '@scratchfs/core/internal';
import { InputError } from './input.js';
import type { Media, ToolCallOptions } from './tool.js';

/** Bytes probed for NUL, as in git. */
const BINARY_PROBE_BYTES = 8_000;

/** Size above which other tasks get a turn after a text was decoded, which takes some 3 ms per million bytes. */
const LONG_TEXT_BYTES = 1_000_000;

/** Maximum number of attempts to change a file that other clients change too. */
const MAX_ATTEMPTS = 5;

/** Kinds of files by their first bytes, written as Latin-1, the offset of those bytes, and the media type of images. */
const SIGNATURES: readonly (readonly [start: string, kind: string, offset?: number, mediaType?: Media['type']])[] = [
  ['\x89PNG', 'a PNG image', 0, 'image/png'],
  ['\xff\xd8\xff', 'a JPEG image', 0, 'image/jpeg'],
  ['GIF8', 'a GIF image', 0, 'image/gif'],
  ['WEBP', 'a WebP image', 8, 'image/webp'],
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

/** Bytes of a file's start that {@link contentKind} needs. */
export const PROBE_BYTES = BINARY_PROBE_BYTES;

/** Kind of a file's content, in words. */
export interface ContentKind {
  readonly kind: string;
  /** Media type of an image that models can see. */
  readonly mediaType?: Media['type'] | undefined;
}

/** Thrown for a file that is not text in UTF-8. */
export class NotTextError extends InputError {
  constructor(
    message: string,
    readonly mediaType: Media['type'] | undefined,
  ) {
    super(message);
  }
}

/** Returns the kind of a file by its first bytes; undefined if they have no known signature. */
export function signatureOf(bytes: Uint8Array): ContentKind | undefined {
  const first = String.fromCharCode(...bytes.subarray(0, 16));
  const known = SIGNATURES.find(([start, , offset = 0]) => first.startsWith(start, offset));
  return known && { kind: known[1], mediaType: known[3] };
}

/** Returns what a file holds, judged by its first {@link PROBE_BYTES} bytes. */
export function contentKind(bytes: Uint8Array): ContentKind {
  const start = bytes.subarray(0, BINARY_PROBE_BYTES);
  if (bytes.length === 0) return { kind: 'empty' };
  if (start.includes(0)) return signatureOf(bytes) ?? { kind: BINARY };
  try {
    // The start may end within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return { kind: 'text' };
  } catch {
    return signatureOf(bytes) ?? { kind: OTHER_ENCODING };
  }
}

const BINARY = 'a binary file';
const OTHER_ENCODING = 'a binary file, or text in another encoding';

/**
 * Reads a file as text.
 * @param given the path as the model wrote it, for messages
 * @throws NotTextError with the kind and the size of the file if it has NUL in its first 8,000 bytes or is not UTF-8;
 *   FsError
 */
export async function readTextFile(
  fileSystem: FileSystem,
  place: string,
  given: string,
  call: ToolCallOptions,
): Promise<string> {
  const bytes = await fileSystem.readFile(place, call);
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) throw notText(given, bytes, BINARY);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    // Other tasks get a turn before the caller works on the text, which may take as long as its decoding.
    if (bytes.length > LONG_TEXT_BYTES) await nextTurn();
    return text;
  } catch {
    throw notText(given, bytes, OTHER_ENCODING);
  }
}

/**
 * Changes the text of a file and writes it, unless it stays the same. Without `ifVersion`, if another client changes
 * the file in between, `change` is called again with the new text, up to 5 times in all.
 * @throws NotTextError; FsError, such as ECHANGED if a file that is to be written does not have the version
 *   `ifVersion`; what `change` throws
 */
export async function changeTextFile<R extends { readonly text: string }>(
  fileSystem: FileSystem,
  place: string,
  given: string,
  change: (before: string) => R,
  options: ToolCallOptions & VersionOptions,
): Promise<R> {
  const { ifVersion, ...call } = options;
  for (let attempt = 1; ; attempt++) {
    const before = await readTextFile(fileSystem, place, given, call);
    const changed = change(before);
    if (changed.text === before) return changed;
    try {
      // `editFile` cannot search for an empty text.
      if (before === '') await fillEmptyFile(fileSystem, place, changed.text, options);
      else await fileSystem.editFile(place, before, changed.text, options);
      return changed;
    } catch (error) {
      const isRefused = isFsError(error, 'EINVAL') || (ifVersion === undefined && isFsError(error, 'ECHANGED'));
      const isChanged = isRefused && (await readTextFile(fileSystem, place, given, call)) !== before;
      if (!isChanged || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Writes a file that must be empty. @throws FsError ECHANGED if it is not */
async function fillEmptyFile(
  fileSystem: FileSystem,
  place: string,
  text: string,
  { ifVersion, ...call }: ToolCallOptions & VersionOptions,
): Promise<void> {
  const { size, version } = await fileSystem.stat(place, call);
  if (size > 0) throw new FsError('ECHANGED', { syscall: 'open', path: place });
  await fileSystem.writeFile(place, text, { ifVersion: ifVersion ?? version, ...call });
}

function notText(given: string, bytes: Uint8Array, otherwise: string): NotTextError {
  const known = signatureOf(bytes);
  return new NotTextError(
    `${quote(given)} is not text in UTF-8: it is ${known?.kind ?? otherwise} (${bytes.length} bytes).`,
    known?.mediaType,
  );
}
