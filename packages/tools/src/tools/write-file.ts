import { counted, type Definition, path, quote, text } from './define.js';

interface Input {
  readonly path: string;
  readonly content: string;
}

export const writeFile: Definition<'write_file'> = {
  name: 'write_file',
  isPlain: true,
  rule: 'sandbox.write',
  description: 'Writes a whole text file: creates it, with the directories that lead to it, or replaces what it holds.',
  seeAlso: { edit_file: 'To change a part of a file use edit_file.' },
  properties: { path: path('The file to write.'), content: text('All that the file will hold.') },
  required: ['path', 'content'],
  async run(authorizer, { path: file, content }: Input, call) {
    const characters = [...content].length;
    const size = counted(characters, 'character');
    await authorizer.permit(
      {
        tool: 'write_file',
        rule: 'sandbox.write',
        uses: [{ path: file, access: 'write' }],
        summary: `Write ${size} to ${quote(file)}`,
        detail: content,
      },
      call,
    );
    await authorizer.plain.write(file, content, call);
    return { text: `Wrote ${size} to ${quote(file)}.`, structured: { path: file, characters }, links: [file] };
  },
};
