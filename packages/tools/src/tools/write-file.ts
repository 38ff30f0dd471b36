import type { WriteFileOptions } from '@scratchfs/core';
import type { Authorizer } from '../authorizer.js';
import { counted, type Definition, inWordsOf, path, quote, text } from './define.js';

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
    await authorizer.versions.writing(file, call, async (condition) => {
      if (condition.ifVersion === undefined) await authorizer.plain.write(file, content, call);
      else await inWordsOf(authorizer, () => overwrite(authorizer, file, content, { ...condition, ...call }), file);
      return content;
    });
    return { text: `Wrote ${size} to ${quote(file)}.`, structured: { path: file, characters }, links: [file] };
  },
};

/** Replaces a file that the model has read, without creating missing directories. */
async function overwrite(
  { sandbox }: Authorizer,
  file: string,
  content: string,
  options: WriteFileOptions,
): Promise<void> {
  await sandbox.fileSystem.writeFile(sandbox.locate(file), content, options);
}
