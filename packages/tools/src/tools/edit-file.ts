import { isFsError } from '@scratchfs/core';
import { readTextFile } from '../text-file.js';
import { counted, type Definition, inWordsOf, path, quote, some, text, yes } from './define.js';

interface Input {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all: boolean;
}

export const editFile: Definition = {
  name: 'edit_file',
  rule: 'sandbox.write',
  description:
    'Replaces an exact piece of text in a file, over one line or several. It has to occur exactly once, unless replace_all is true: then every occurrence is replaced.',
  properties: {
    path: path('The file to change.'),
    old_text: some('The text to replace, exactly as it stands in the file, white space and line ends included.'),
    new_text: text('What stands there afterwards.'),
    replace_all: yes('Replace every occurrence. Default false.'),
  },
  required: ['path', 'old_text', 'new_text'],
  async run(authorizer, input: Input, call) {
    const { path: file, old_text: before, new_text: after, replace_all: all } = input;
    await authorizer.permit(
      {
        tool: 'edit_file',
        rule: 'sandbox.write',
        uses: [
          { path: file, access: 'read' },
          { path: file, access: 'write' },
        ],
        summary: `Replace ${quote(before)} by ${quote(after)} in ${quote(file)}`,
        detail: after,
      },
      call,
    );
    const { fileSystem } = authorizer.sandbox;
    const edit = async (): Promise<number> => {
      const place = authorizer.sandbox.locate(file);
      try {
        return await fileSystem.editFile(place, before, after, { all, ...call });
      } catch (error) {
        // The text may be missing because the content is not text. Then the error says so.
        if (isFsError(error, 'EINVAL')) await readTextFile(fileSystem, place, file, call);
        throw error;
      }
    };
    return `Replaced ${counted(await inWordsOf(authorizer, edit, file), 'occurrence')} in ${quote(file)}.`;
  },
};
