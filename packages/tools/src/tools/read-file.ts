import { pieceOf, type ReadOptions, type ReadResult } from '@scratchfs/sandbox';
import type { Authorizer } from '../authorizer.js';
import { InputError } from '../input.js';
import { pageOfLines } from '../line-page.js';
import type { ToolOutput } from '../run-tool.js';
import { NotTextError, readTextFile } from '../text-file.js';
import type { ToolCallOptions } from '../tool.js';
import type { ReadFileData } from '../tool-data.js';
import { hasFileSystem } from '../tool-sandbox.js';
import { type Definition, inWordsOf, path, quote } from './define.js';

interface Input {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly char_offset?: number;
  readonly max_chars: number;
}

const MAX_LINES = 2_000;

export const readFile: Definition<'read_file'> = {
  name: 'read_file',
  isPlain: true,
  rule: 'sandbox.read',
  description:
    'Reads a text file in UTF-8, with line numbers that are no part of it. A long file comes in pieces: the last line says how to continue.',
  properties: {
    path: path('The file to read.'),
    offset: { type: 'integer', description: 'Line to begin with, from 1 on. Default 1.', minimum: 0 },
    limit: { type: 'integer', description: `Maximum number of lines. Default ${MAX_LINES}.`, minimum: 1 },
    char_offset: {
      type: 'integer',
      description: 'Instead of offset: number of characters to skip. The text then comes without line numbers.',
      minimum: 0,
    },
    max_chars: {
      type: 'integer',
      description: 'Maximum number of characters to return. Default 20000.',
      minimum: 1,
      maximum: 60_000,
      default: 20_000,
    },
  },
  required: ['path'],
  async run(authorizer, input: Input, call) {
    const { path: file, offset, limit, char_offset: charOffset } = input;
    if (charOffset !== undefined && (offset !== undefined || limit !== undefined))
      throw new InputError('offset and limit count lines, char_offset counts characters: give one or the other.');
    await authorizer.permit(
      {
        tool: 'read_file',
        rule: 'sandbox.read',
        uses: [{ path: file, access: 'read' }],
        summary: `Read ${quote(file)}`,
      },
      call,
    );
    const isRest = (charOffset ?? 0) > 0 || (offset ?? 1) > 1;
    const read = (): Promise<ToolOutput<ReadFileData>> =>
      charOffset === undefined
        ? readLines(authorizer, input, call)
        : readCharacters(authorizer, file, { offset: charOffset, maxChars: input.max_chars }, call);
    try {
      return await authorizer.versions.reading(file, call, read, isRest);
    } catch (error) {
      if (error instanceof NotTextError) throw new InputError(`${error.message}${adviceFor(error, authorizer)}`);
      throw error;
    }
  },
};

async function readLines(
  authorizer: Authorizer,
  { path: file, offset, limit = MAX_LINES, max_chars: maxLength }: Input,
  call: ToolCallOptions,
): Promise<ToolOutput<ReadFileData>> {
  const text = await inWordsOf(authorizer, () => readWhole(authorizer.plain, file, call), file);
  const first = Math.max(1, offset ?? 1);
  const page = pageOfLines(text, { first, limit, maxLength });
  const { last, total: totalLines } = page;
  const base = { path: file, totalLines };
  if (last < first) {
    const note =
      text === '' ? '[The file is empty.]' : `[The file has ${totalLines} lines: line ${first} is past its end.]`;
    return { text: note, structured: base, links: [file] };
  }
  const hasMore = last < totalLines;
  const notes = [page.text];
  if (page.hasCarriageReturns) notes.push('[Lines end with \\r\\n.]');
  if (hasMore)
    notes.push(`[Lines ${first} to ${last} of ${totalLines}. To go on, call read_file with offset ${last + 1}.]`);
  const structured = { ...base, firstLine: first, lastLine: last, ...(hasMore && { nextOffset: last + 1 }) };
  return { text: notes.join('\n'), structured, links: [file] };
}

async function readCharacters(
  authorizer: Authorizer,
  file: string,
  given: Required<ReadOptions>,
  call: ToolCallOptions,
): Promise<ToolOutput<ReadFileData>> {
  const piece = await inWordsOf(authorizer, () => readPiece(authorizer.plain, file, given, call), file);
  const { offset: start, charsRead, totalChars, truncated } = piece;
  const end = start + charsRead;
  const structured = { path: file, totalChars, ...(truncated && { nextCharOffset: end }) };
  const links = [file];
  if (totalChars === 0) return { text: '[The file is empty.]', structured, links };
  if (charsRead === 0)
    return {
      text: `[The file has ${totalChars} characters: char_offset ${start} is past its end.]`,
      structured,
      links,
    };
  if (!truncated) return { text: piece.content, structured, links };
  const how = `To go on, call read_file with char_offset ${end}.`;
  return { text: `${piece.content}\n[Characters ${start} to ${end} of ${totalChars}. ${how}]`, structured, links };
}

type AnySandbox = Authorizer['plain'];

async function readWhole(sandbox: AnySandbox, file: string, call: ToolCallOptions): Promise<string> {
  if (hasFileSystem(sandbox)) return readTextFile(sandbox.fileSystem, sandbox.locate(file), file, call);
  let text = '';
  let offset = 0;
  for (;;) {
    const piece = await readPiece(sandbox, file, { offset, maxChars: Number.MAX_SAFE_INTEGER }, call);
    text += piece.content;
    offset += piece.charsRead;
    if (!piece.truncated || piece.charsRead === 0) return text;
  }
}

async function readPiece(
  sandbox: AnySandbox,
  file: string,
  piece: ReadOptions,
  call: ToolCallOptions,
): Promise<ReadResult> {
  if (hasFileSystem(sandbox))
    return pieceOf(await readTextFile(sandbox.fileSystem, sandbox.locate(file), file, call), piece);
  const read = await sandbox.read(file, { ...piece, ...call });
  if (read.content.includes('\0')) throw new InputError(`${quote(file)} is a binary file.`);
  if (isBadlyDecoded(read.content))
    throw new InputError(`${quote(file)} is not text in UTF-8: it is a binary file, or text in another encoding.`);
  return read;
}

/** Returns a sentence that names a tool for a file that is not text; empty if the model has no such tool. */
function adviceFor({ mediaType }: NotTextError, { offered }: Authorizer): string {
  if (mediaType !== undefined && offered.has('read_media')) return ' Use read_media to see it.';
  return offered.has('file_info') ? ' file_info says what is known of it.' : '';
}

/**
 * Reports whether a text was probably decoded from other bytes than UTF-8: it has several U+FFFD, more than 1 % of its
 * length. A single one, or a few in a long text, may be in the file itself.
 */
function isBadlyDecoded(text: string): boolean {
  const count = text.split('\ufffd').length - 1;
  return count > 1 && count * 100 > text.length;
}
