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
  /** Returns the file tool that does the work, and its input. */
  readonly call: (input: I) => readonly [tool: string, input: object];
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
    call: ({ file_path: path, ...rest }: { file_path: string }) => ['read_file', { path, ...rest }],
  },
  {
    name: 'Write',
    description: 'Writes a whole text file, and the directories that lead to it.',
    properties: { file_path: text('The file.'), content: text('All that it will hold.') },
    required: ['file_path', 'content'],
    effect: 'attempt',
    path: 'file_path',
    call: ({ file_path: path, content }: { file_path: string; content: string }) => ['write_file', { path, content }],
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
    call: (input: { file_path: string; old_string: string; new_string: string; replace_all?: boolean }) => [
      'edit_file',
      {
        path: input.file_path,
        old_text: input.old_string,
        new_text: input.new_string,
        replace_all: input.replace_all,
      },
    ],
  },
  {
    name: 'Glob',
    description: 'Finds files by a pattern of their path, such as **/*.ts.',
    properties: { pattern: text('The pattern.'), path: text('Directory to search. Default: the project.') },
    required: ['pattern'],
    effect: 'none',
    path: 'path',
    call: (input: { pattern: string; path?: string }) => ['list_files', { ...input, limit: 1000 }],
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
    },
    required: ['pattern'],
    effect: 'none',
    path: 'path',
    call: ({ pattern, path, glob, output_mode: mode, '-i': ignore_case, '-C': context, head_limit }: GrepInput) => {
      const limit = head_limit ?? (mode === 'content' ? 100 : 500);
      return ['grep', { pattern, path, glob, ignore_case, limit, context: mode === 'content' ? context : undefined }];
    },
    text: (result, { output_mode: mode = 'files_with_matches' }: GrepInput) => {
      if (mode === 'content') return result.text;
      const { matches, nextOffset } = result.structured as {
        readonly matches: readonly { readonly path: string }[];
        readonly nextOffset?: number;
      };
      const counts = new Map<string, number>();
      for (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1);
      const lines = [...counts].map(([path, found]) =>
        mode === 'count' ? `${nameInList(path)}:${found}` : nameInList(path),
      );
      if (nextOffset !== undefined) lines.push('[There are more matches: use a narrower path or glob.]');
      return lines.length === 0 ? 'No matches found' : lines.join('\n');
    },
  } as Renamed<never>,
];

/** Names that the model knows, by the names that error texts of the file tools use. */
const WORDS: Readonly<Record<string, string>> = {
  read_file: 'Read',
  write_file: 'Write',
  edit_file: 'Edit',
  list_files: 'Glob',
  search_files: 'Glob',
  grep: 'Grep',
  old_text: 'old_string',
  new_text: 'new_string',
};

/** Returns the file tools under the names and with the parameters that models of Claude Code know. */
export function claudeTools(): ServerTool[] {
  return TOOLS.map(claudeTool);
}

function claudeTool({ path, call, text: present, ...tool }: Renamed<never>): ServerTool {
  const { name, properties, required, effect } = tool;
  const schema: InputSchema = { type: 'object', properties, required: [...required], additionalProperties: false };
  return {
    ...tool,
    needsClient: effect === 'attempt',
    paths: [path],
    check: (input) => void readInput(schema, input),
    call: async (given, context) => {
      const input = readInput(schema, given) as never;
      const [file, translated] = call(input);
      const { files, signal } = context;
      const work = async (): Promise<ToolResult> => {
        // Models of Claude Code expect text alone.
        const { links: _, ...result } = await files.call(file, translated, { signal });
        if (!result.isError) return present === undefined ? result : { ...result, text: present(result, input) };
        return { ...result, text: result.text.replace(/\b[a-z]+(_[a-z]+)?\b/g, (word) => WORDS[word] ?? word) };
      };
      return asOperation({ name, effect, paths: [path] }, given, context, work);
    },
  };
}
