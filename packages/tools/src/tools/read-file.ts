import { type Definition, offset, path, quote } from './define.js';

interface Input {
  readonly path: string;
  readonly offset: number;
  readonly max_chars: number;
}

export const readFile: Definition = {
  name: 'read_file',
  rule: 'sandbox.read',
  description:
    'Reads a text file. Long files are returned in pieces: the last line of the result then says how to continue.',
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
    const piece = await authorizer.sandbox.read(file, { maxChars, offset: start, ...call });
    const end = piece.offset + piece.charsRead;
    if (piece.totalChars === 0) return '[The file is empty.]';
    if (piece.charsRead === 0) return `[The file has ${piece.totalChars} characters: offset ${start} is past its end.]`;
    if (!piece.truncated) return piece.content;
    const how = `To go on, call read_file with offset ${end}.`;
    return `${piece.content}\n[Characters ${piece.offset} to ${end} of ${piece.totalChars}. ${how}]`;
  },
};
