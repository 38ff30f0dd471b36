import { pieceOf, type ReadOptions, type ReadResult } from '@scratchfs/sandbox';
import type { Authorizer } from '../authorizer.js';
import { InputError } from '../input.js';
import { readTextFile } from '../text-file.js';
import type { ToolCallOptions } from '../tool.js';
import { hasFileSystem } from '../tool-sandbox.js';
import { type Definition, inWordsOf, offset, path, quote } from './define.js';

interface Input {
  readonly path: string;
  readonly offset: number;
  readonly max_chars: number;
}

export const readFile: Definition = {
  name: 'read_file',
  isPlain: true,
  rule: 'sandbox.read',
  description:
    'Reads a text file in UTF-8. Long files are returned in pieces: the last line of the result then says how to continue.',
  properties: {
    path: path('The file to read.'),
    offset: offset('characters'),
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
    const { path: file, offset: start, max_chars: maxChars } = input;
    await authorizer.permit(
      {
        tool: 'read_file',
        rule: 'sandbox.read',
        uses: [{ path: file, access: 'read' }],
        summary: `Read ${quote(file)}`,
      },
      call,
    );
    const piece = await inWordsOf(
      authorizer,
      () => readPiece(authorizer, file, { maxChars, offset: start }, call),
      file,
    );
    const end = piece.offset + piece.charsRead;
    if (piece.totalChars === 0) return '[The file is empty.]';
    if (piece.charsRead === 0) return `[The file has ${piece.totalChars} characters: offset ${start} is past its end.]`;
    if (!piece.truncated) return piece.content;
    const how = `To go on, call read_file with offset ${end}.`;
    return `${piece.content}\n[Characters ${piece.offset} to ${end} of ${piece.totalChars}. ${how}]`;
  },
};

async function readPiece(
  { plain: sandbox }: Authorizer,
  file: string,
  piece: ReadOptions,
  call: ToolCallOptions,
): Promise<ReadResult> {
  if (hasFileSystem(sandbox)) {
    return pieceOf(await readTextFile(sandbox.fileSystem, sandbox.locate(file), file, call), piece);
  }
  const read = await sandbox.read(file, { ...piece, ...call });
  if (read.content.includes('\0')) throw new InputError(`${quote(file)} is a binary file.`);
  if (isBadlyDecoded(read.content))
    throw new InputError(`${quote(file)} is not text in UTF-8: it is a binary file, or text in another encoding.`);
  return read;
}

/**
 * Reports whether a text was probably decoded from other bytes than UTF-8: more than 1 % of it is U+FFFD. A single one,
 * or a few in a long text, may be in the file itself, for example in a test of a decoder.
 */
function isBadlyDecoded(text: string): boolean {
  const count = text.split('\ufffd').length - 1;
  return count > 1 && count * 100 > text.length;
}
