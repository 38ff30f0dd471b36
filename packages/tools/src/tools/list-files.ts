import { pageOf } from '../pages.js';
import { type Definition, inWordsOf, limit, offset, path, quote } from './define.js';

interface Input {
  readonly path: string;
  readonly pattern: string;
  readonly offset: number;
  readonly limit: number;
}

const paging = { offset: offset('files'), limit: limit('files', 200, 1000) };

export const listFiles: Definition = {
  name: 'list_files',
  isPlain: true,
  rule: 'sandbox.read',
  description:
    'Lists the files in a directory and its subdirectories, sorted. The pattern is matched against the path from that directory on: * stands for any part of a name, ** for any directories, {a,b} for one of several.',
  properties: {
    path: path("The directory. Default '.', the top of all that may be seen."),
    pattern: path("Which files. Default '**/*': all of them."),
    ...paging,
  },
  required: [],
  async run(authorizer, input: Partial<Input>, call) {
    const { path: directory = '.', pattern = '**/*', offset: start = 0, limit: count = 200 } = input;
    await authorizer.permit(
      { tool: 'list_files', rule: 'sandbox.read', uses: [], summary: `List the files of ${quote(directory)}` },
      call,
    );
    const files = await inWordsOf(authorizer, () => authorizer.plain.listFiles(directory, pattern, call), directory);
    return pageOf(files, { offset: start, limit: count }, 'files', 'list_files');
  },
};

interface SearchInput {
  readonly pattern: string;
  readonly path?: string;
  readonly offset: number;
  readonly limit: number;
}

export const searchFiles: Definition = {
  name: 'search_files',
  isPlain: true,
  rule: 'sandbox.read',
  description: 'Finds files by their name, anywhere in a directory: *.ts, test_*.py or src/**/index.ts.',
  seeAlso: { grep: 'To search in what files hold use grep.' },
  properties: {
    pattern: path('What the name has to look like; with a / in it, the end of the path.'),
    path: path("Where to search. Default '.', all that may be seen."),
    ...paging,
  },
  required: ['pattern'],
  async run(authorizer, input: SearchInput, call) {
    const { pattern, path: directory = '.', offset: start, limit: count } = input;
    await authorizer.permit(
      {
        tool: 'search_files',
        rule: 'sandbox.read',
        uses: [],
        summary: `Search ${quote(directory)} for ${quote(pattern)}`,
      },
      call,
    );
    const search = (): Promise<string[]> => authorizer.plain.listFiles(directory, `**/${pattern}`, call);
    const files = await inWordsOf(authorizer, search, directory);
    return pageOf(files, { offset: start, limit: count }, 'files', 'search_files');
  },
};
