import { nameInList } from '@scratchfs/core/internal';
import { type InputSchema, type PropertySchema, readInput, type ToolResult } from '@scratchfs/tools';
import { asOperation } from './as-operation.js';
import type { ServerTool } from './server-tool.js';

interface Renamed<I> {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
  readonly effect: 'none' | 'attempt';
  readonly path: string;
  /** Name of the file tool that does the work. */
  readonly fileTool: string;
  /** Returns the input of the file tool. */
  readonly translate: (input: I) => object;
  /** Returns the text for the model. Default: that of the file tool. */
  readonly text?: (result: ToolResult, input: I) => string;
}

const text = (description: string): PropertySchema => ({ type: 'string', description });
const yes = (description: string): PropertySchema => ({ type: 'boolean', description });
const count = (description: string): PropertySchema => ({ type: 'integer', description, minimum: 0 });

interface GrepInput {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly output_mode?: 'content' | 'files_with_matches' | 'count';
  readonly '-i'?: boolean;
  readonly '-C'?: number;
  readonly head_limit?: number;
  readonly offset?: number;
}

const TOOLS: readonly Renamed<never>[] = [
  {
    name: 'Read',
    description: 'Reads a text file, with line numbers that are no part of it.',
    properties: {
      file_path: text('The file.'),
      offset: count('Line to begin with, from 1 on.'),
      limit: count('Number of lines. Default 2000.'),
    },
    required: ['file_path'],
    effect: 'none',
    path: 'file_path',
    fileTool: 'read_file',
    translate: ({ file_path: path, ...rest }: { file_path: string }) => ({ path, ...rest }),
  },
  {
    name: 'Write',
    description: 'Writes a whole text file, and the directories that lead to it.',
    properties: { file_path: text('The file.'), content: text('All that it will hold.') },
    required: ['file_path', 'content'],
    effect: 'attempt',
    path: 'file_path',
    fileTool: 'write_file',
    translate: ({ file_path: path, content }: { file_path: string; content: string }) => ({ path, content }),
  },
  {
    name: 'Edit',
    description: 'Replaces a text that occurs exactly once, or with replace_all every occurrence. Returns a diff.',
    properties: {
      file_path: text('The file.'),
      old_string: text('Exactly as in the file.'),
      new_string: text('What replaces it.'),
      replace_all: yes('Every occurrence.'),
    },
    required: ['file_path', 'old_string', 'new_string'],
    effect: 'attempt',
    path: 'file_path',
    fileTool: 'edit_file',
    translate: (input: { file_path: string; old_string: string; new_string: string; replace_all?: boolean }) => ({
      path: input.file_path,
      old_text: input.old_string,
      new_text: input.new_string,
      replace_all: input.replace_all,
    }),
  },
  {
    name: 'Glob',
    description: 'Finds files by a pattern of their path, such as **/*.ts.',
    properties: { pattern: text('The pattern.'), path: text('Directory to search. Default: the project.') },
    required: ['pattern'],
    effect: 'none',
    path: 'path',
    fileTool: 'list_files',
    translate: (input: { pattern: string; path?: string }) => ({ ...input, limit: 1000 }),
    text: (result) => {
      const { entries, nextOffset } = result.structured as {
        readonly entries: readonly { readonly path: string; readonly kind?: string }[];
        readonly nextOffset?: number;
      };
      const files = entries.filter(({ kind }) => kind !== 'directory').map(({ path }) => nameInList(path));
      if (nextOffset !== undefined) files.push('[There are more: use a narrower pattern.]');
      return files.length === 0 ? 'No files found' : files.join('\n');
    },
  },
  {
    name: 'Grep',
    description: 'Finds lines that match a regular expression (RE2 syntax).',
    properties: {
      pattern: text('The expression.'),
      path: text('File or directory. Default: the project.'),
      glob: text('Only files of this name, such as *.ts.'),
      output_mode: {
        type: 'string',
        description: 'Default files_with_matches.',
        enum: ['content', 'files_with_matches', 'count'],
      },
      '-i': yes('Upper and lower case are the same.'),
      '-n': yes('Has no effect: lines always have numbers.'),
      '-C': { type: 'integer', description: 'Lines around each match.', minimum: 0, maximum: 20 },
      head_limit: { type: 'integer', description: 'Maximum number of matches.', minimum: 1, maximum: 500 },
      offset: count('Matches to skip.'),
    },
    required: ['pattern'],
    effect: 'none',
    path: 'path',
    fileTool: 'grep',
    translate: (input: GrepInput) => {
      const { pattern, path, glob, output_mode: mode, '-i': ignore_case, '-C': context, head_limit, offset } = input;
      const limit = head_limit ?? (mode === 'content' ? 100 : 500);
      const shown = mode === 'content' ? context : undefined;
      return { pattern, path, glob, ignore_case, limit, offset, context: shown };
    },
    text: (result, { output_mode: mode = 'files_with_matches' }: GrepInput) => {
      if (mode === 'content') return result.text;
      const { matches } = result.structured as { readonly matches: readonly { readonly path: string }[] };
      const counts = new Map<string, number>();
      for (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1);
      const notes = result.text.split('\n').filter(isNote);
      if (counts.size === 0) return notes.length === 0 ? 'No matches found' : result.text;
      const lines = [...counts].map(([path, found]) =>
        mode === 'count' ? `${nameInList(path)}:${found}` : nameInList(path),
      );
      return [...lines, ...notes].join('\n');
    },
  } as Renamed<never>,
];

/** Reports whether a line of a result is a note. Other lines begin with a number, or with a path from / on. */
function isNote(line: string): boolean {
  return line.startsWith('[');
}

/** Names that the model knows, by the names that texts of the file tools use. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['read_file', 'Read'],
  ['write_file', 'Write'],
  ['edit_file', 'Edit'],
  ['list_files', 'Glob'],
  ['grep', 'Grep'],
  ['old_text', 'old_string'],
  ['new_text', 'new_string'],
]);

/**
 * Replaces the names of tools and parameters in a text, but not in what it quotes, such as a path: from the first quote
 * of a line to the last one, because quoted text may contain quotes.
 */
function inWordsOfModel(text: string): string {
  return text.replace(/(?<!\w)'.*'(?!\w)|\b[a-z]+(_[a-z]+)?\b/g, (word) => WORDS.get(word) ?? word);
}

/** Returns the file tools under the names and with the parameters that models of Claude Code know. */
export function claudeTools(): ServerTool[] {
  return TOOLS.map(claudeTool);
}

function claudeTool({ path, translate, text: present, ...tool }: Renamed<never>): ServerTool {
  const { name, properties, required, effect, fileTool } = tool;
  const schema: InputSchema = { type: 'object', properties, required: [...required], additionalProperties: false };
  return {
    ...tool,
    needsClient: effect === 'attempt',
    paths: [path],
    check: (input) => void readInput(schema, input),
    call: async (given, context) => {
      const input = readInput(schema, given) as never;
      const { files, signal } = context;
      const work = async (): Promise<ToolResult> => {
        // Models of Claude Code expect text alone.
        const { links: _, ...result } = await files.call(fileTool, translate(input), { signal });
        if (result.isError) return { ...result, text: inWordsOfModel(result.text) };
        const lines = (present === undefined ? result.text : present(result, input)).split('\n');
        return { ...result, text: lines.map((line) => (isNote(line) ? inWordsOfModel(line) : line)).join('\n') };
      };
      return asOperation({ name, effect, paths: [path] }, given, context, work);
    },
  };
}
