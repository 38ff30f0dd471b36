import { FsError, isFsError, type VersionOptions } from '@scratchfs/core';
import { replaceExact } from '@scratchfs/core/internal';
import type { Authorizer } from '../authorizer.js';
import { changeDiff } from '../change-diff.js';
import { InputError } from '../input.js';
import { changeTextFile, readTextFile } from '../text-file.js';
import type { PropertySchema, ToolCallOptions } from '../tool.js';
import { checkAccess } from '../tool-sandbox.js';
import { counted, type Definition, inWordsOf, path, quote, some, text, yes } from './define.js';

interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all: boolean;
}

interface Input extends Partial<Edit> {
  readonly path: string;
  readonly edits?: readonly Edit[];
  readonly dry_run: boolean;
}

/** Maximum length of the diff that is returned with an edit, and of a preview, in UTF-16 code units. */
const MAX_DIFF_LENGTH = 6_000;
const MAX_PREVIEW_LENGTH = 30_000;

const EDIT: Readonly<Record<keyof Edit, PropertySchema>> = {
  old_text: some('The text to replace, exactly as it stands in the file, white space and line ends included.'),
  new_text: text('What stands there afterwards.'),
  replace_all: yes('Replace every occurrence. Default false.'),
};

export const editFile: Definition<'edit_file'> = {
  name: 'edit_file',
  rule: 'sandbox.write',
  description:
    'Replaces exact pieces of text in a file, over one line or several. Each has to occur exactly once, unless replace_all is true. Several edits are made in their order, all or none. Returns a diff.',
  properties: {
    path: path('The file to change.'),
    ...EDIT,
    edits: {
      type: 'array',
      description: 'Several edits, instead of old_text and new_text.',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          old_text: { type: 'string', description: 'As above.', minLength: 1 },
          new_text: { type: 'string', description: 'As above.' },
          replace_all: { type: 'boolean', description: 'As above.', default: false },
        },
        required: ['old_text', 'new_text'],
        additionalProperties: false,
      },
    },
    dry_run: yes('Only show the diff, and write nothing. Default false.'),
  },
  required: ['path'],
  async run(authorizer, input: Input, call) {
    const { path: file, dry_run: dryRun } = input;
    const edits = editsOf(input);
    const [first] = edits as [Edit];
    const isOne = edits.length === 1;
    await authorizer.permit(
      {
        tool: 'edit_file',
        rule: dryRun ? 'sandbox.read' : 'sandbox.write',
        uses: [{ path: file, access: 'read' }, ...(dryRun ? [] : [{ path: file, access: 'write' } as const])],
        summary: isOne
          ? `Replace ${quote(first.old_text)} by ${quote(first.new_text)} in ${quote(file)}`
          : `Make ${edits.length} edits in ${quote(file)}`,
        detail: edits.map((edit) => edit.new_text).join('\n'),
      },
      call,
    );
    if (dryRun) await checkAccess(authorizer.plain, file, 'write', call);
    const edit = async (condition: VersionOptions = {}): Promise<Edited> =>
      inWordsOf(authorizer, () => edited(authorizer, input, edits, { ...condition, ...call }), file);
    const { before, after, count } = dryRun ? await edit() : await editedInTurn(authorizer, file, call, edit);
    const diff = changeDiff(file, before, after, dryRun ? MAX_PREVIEW_LENGTH : MAX_DIFF_LENGTH);
    const times = `${counted(count, 'occurrence')} in ${quote(file)}`;
    const done = dryRun ? `Would replace ${times}. Nothing was written.` : `Replaced ${times}.`;
    return {
      text: diff === '' ? done : `${done}\n${diff}`,
      structured: { path: file, replaced: count, dryRun, diff },
      links: [file],
    };
  },
};

/** Returns the edits of an input in either form. @throws InputError unless there is exactly one form */
function editsOf({ old_text, new_text, replace_all = false, edits }: Input): readonly Edit[] {
  const hasOne = old_text !== undefined || new_text !== undefined;
  if (hasOne === (edits !== undefined))
    throw new InputError('Give either old_text and new_text, or edits with an old_text and a new_text each.');
  if (edits !== undefined) {
    if (replace_all) throw new InputError('With edits, replace_all belongs into each edit.');
    return edits;
  }
  if (old_text === undefined) throw new InputError(`The parameter old_text is missing: ${EDIT.old_text.description}`);
  if (new_text === undefined) throw new InputError(`The parameter new_text is missing: ${EDIT.new_text.description}`);
  return [{ old_text, new_text, replace_all }];
}

interface Edited {
  readonly before: string;
  readonly after: string;
  /** Number of replacements. */
  readonly count: number;
}

/** Edits a file under the condition of `ReadVersions.writing`. */
async function editedInTurn(
  { versions }: Authorizer,
  file: string,
  call: ToolCallOptions,
  edit: (condition: VersionOptions) => Promise<Edited>,
): Promise<Edited> {
  let result: Edited | undefined;
  await versions.writing(file, call, async (condition) => {
    result = await edit(condition);
    const isKnown = condition.ifVersion !== undefined && result.after !== result.before;
    return isKnown ? result.after : undefined;
  });
  return result as Edited;
}

/** Applies edits to a file and writes it, unless it is a dry run. */
async function edited(
  { sandbox: { fileSystem, locate }, sandbox }: Authorizer,
  { path: file, dry_run: dryRun }: Input,
  edits: readonly Edit[],
  options: ToolCallOptions & VersionOptions,
): Promise<Edited> {
  const place = locate.call(sandbox, file);
  if (dryRun) return apply(await readTextFile(fileSystem, place, file, options), edits);
  const change = (before: string) => {
    const result = apply(before, edits);
    return { ...result, text: result.after };
  };
  return changeTextFile(fileSystem, place, file, change, options);
}

function apply(before: string, edits: readonly Edit[]): Edited {
  let after = before;
  let count = 0;
  for (const [i, edit] of edits.entries()) {
    try {
      const replaced = replaceExact(after, edit.old_text, edit.new_text, edit.replace_all);
      after = replaced.text;
      count += replaced.count;
    } catch (error) {
      if (!isFsError(error, 'EINVAL')) throw error;
      // The tool's parameter has another name than the option of `replaceExact`.
      const hint = error.hint?.replace(/or replace all$/, 'or set replace_all');
      if (edits.length === 1) throw new FsError('EINVAL', { syscall: error.syscall, hint });
      throw new InputError(`Edit ${i + 1} of ${edits.length} does not fit, so none was made. ${hint ?? ''}.`);
    }
  }
  return { before, after, count };
}
