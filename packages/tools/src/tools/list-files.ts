import { nameInList } from '@scratchfs/core/internal';
import { pageOf } from '../pages.js';
import { shortSize } from '../short-size.js';
import type { ListedEntryData } from '../tool-data.js';
import { hasFileSystem } from '../tool-sandbox.js';
import { type Definition, inWordsOf, limit, offset, path, quote } from './define.js';
import { anywhere, exclude, exclusion } from './exclusion.js';

interface Input {
  readonly path: string;
  readonly pattern: string;
  readonly exclude?: string;
  readonly offset: number;
  readonly limit: number;
}

const paging = (what: string) => ({ offset: offset(what), limit: limit(what, 200, 1000) });

export const listFiles: Definition<'list_files'> = {
  name: 'list_files',
  isPlain: true,
  rule: 'sandbox.read',
  description:
    'Lists files, directories and links with their sizes, sorted. The pattern is matched against the path from the directory on: * stands for any part of a name, ** for any directories, {a,b} for one of several.',
  properties: {
    path: path("The directory. Default '.', the top of all that may be seen."),
    pattern: path("Which entries. Default '**/*': all at any depth; '*' only those in the directory itself."),
    exclude,
    ...paging('entries'),
  },
  required: [],
  async run(authorizer, input: Partial<Input>, call) {
    const { path: directory = '.', pattern = '**/*', offset: start = 0, limit: count = 200 } = input;
    await authorizer.permit(
      { tool: 'list_files', rule: 'sandbox.read', uses: [], summary: `List the files of ${quote(directory)}` },
      call,
    );
    const { plain: sandbox } = authorizer;
    const list = async (): Promise<readonly ListedEntryData[]> => {
      if (hasFileSystem(sandbox)) return sandbox.list(directory, pattern, call);
      return (await sandbox.listFiles(directory, pattern, call)).map((file) => ({ path: file }));
    };
    const wanted = async (): Promise<readonly ListedEntryData[]> => {
      const isLeftOut = exclusion(input.exclude, directory);
      return (await list()).filter((entry) => !isLeftOut(entry.path));
    };
    const entries = await inWordsOf(authorizer, wanted, directory);
    const page = pageOf(linesOf(entries), { offset: start, limit: count }, 'entries', 'list_files');
    const shown = entries.slice(start, start + page.count);
    return { text: page.text, structured: { entries: shown, ...page.data }, links: shown.map((entry) => entry.path) };
  },
};

/** Formats entries, with the size of a file, or the kind of another entry, in a column before the path. */
function linesOf(entries: readonly ListedEntryData[]): string[] {
  const firsts = entries.map(({ kind, size }) => {
    if (kind === 'directory') return 'dir';
    if (kind === 'symlink') return 'link';
    return size === undefined ? '' : shortSize(size);
  });
  const width = Math.max(0, ...new Set(firsts.map((first) => first.length)));
  return entries.map(({ path: shown, kind }, i) => {
    const name = nameInList(kind === 'directory' && !shown.endsWith('/') ? `${shown}/` : shown);
    return width === 0 ? name : `${(firsts[i] as string).padStart(width)}  ${name}`;
  });
}

interface SearchInput {
  readonly pattern: string;
  readonly path?: string;
  readonly exclude?: string;
  readonly offset: number;
  readonly limit: number;
}

export const searchFiles: Definition<'search_files'> = {
  name: 'search_files',
  isPlain: true,
  rule: 'sandbox.read',
  description: 'Finds files by their name, anywhere in a directory: *.ts, test_*.py or src/**/index.ts.',
  seeAlso: { grep: 'To search in what files hold use grep.' },
  properties: {
    pattern: path('What the name has to look like; with a / in it, the end of the path.'),
    path: path("Where to search. Default '.', all that may be seen."),
    exclude,
    ...paging('files'),
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
    const search = async (): Promise<string[]> => {
      const isLeftOut = exclusion(input.exclude, directory);
      const found = await authorizer.plain.listFiles(directory, anywhere(pattern), call);
      return found.filter((file) => !isLeftOut(file));
    };
    const files = await inWordsOf(authorizer, search, directory);
    const page = pageOf(files.map(nameInList), { offset: start, limit: count }, 'files', 'search_files');
    const paths = files.slice(start, start + page.count);
    return { text: page.text, structured: { paths, ...page.data }, links: paths };
  },
};
