import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { CallOptions, FileSystem } from '@scratchfs/core';
import { compileGlob } from '@scratchfs/core/search';
import { InputError, type PropertySchema } from '@scratchfs/tools';
import { nameOf, printable } from '../tools/format.js';
import { editLines, fencedDiff, type LineEdit, withLineEnds, withoutReturns } from './line-edits.js';

/** A path of a call, with links followed. */
export interface Located {
  readonly fs: FileSystem;
  /** Path in the attempt. */
  readonly path: string;
  /** Path on the disk. */
  readonly absolute: string;
  /** Real path of the served directory. */
  readonly directory: string;
  /** Makes changes as one operation. */
  change<T>(work: (fs: FileSystem) => Promise<T>): Promise<T>;
}

/** Context of a call of a tool. */
export interface ReferenceCall {
  readonly allowed: readonly string[];
  readonly options: CallOptions;
  /** @throws InputError for a path outside of the allowed directories */
  locate(path: string): Promise<Located>;
  /**
   * Returns the message for an error, with paths of the disk. @param path the path given to `locate` that the error is
   * about
   */
  messageOf(error: unknown, path: string): string;
}

/** A tool with the name, the parameters and the results that the reference filesystem server has. */
export interface ReferenceTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
  /** The `content` of the structured result: a text, or content blocks. */
  readonly output: 'text' | 'blocks';
  readonly annotations: ToolAnnotations;
  run(input: never, call: ReferenceCall): Promise<string | CallToolResult['content']>;
}

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const writes = (idempotentHint: boolean, destructiveHint: boolean): ToolAnnotations => ({
  readOnlyHint: false,
  idempotentHint,
  destructiveHint,
  openWorldHint: false,
});

const path = { path: { type: 'string', description: 'Absolute, or in the first allowed directory.' } } as const;
const count = (description: string): PropertySchema => ({ type: 'integer', description, minimum: 0 });
const excludePatterns: PropertySchema = {
  type: 'array',
  description: 'Glob patterns of what to leave out.',
  minItems: 0,
  items: { type: 'string' },
};

interface ReadInput {
  readonly path: string;
  readonly head?: number;
  readonly tail?: number;
}

const readText = {
  properties: {
    ...path,
    tail: count('Returns only the last N lines.'),
    head: count('Returns only the first N lines.'),
  },
  required: ['path'],
  output: 'text',
  annotations: READS,
  run: async ({ path, head, tail }: ReadInput, call: ReferenceCall): Promise<string> => {
    const place = await call.locate(path);
    if (head && tail) throw new InputError('Cannot specify both head and tail parameters simultaneously');
    const text = await textOf(place, call);
    if (tail) return withoutReturns(text).split('\n').slice(-tail).join('\n');
    if (!head) return text;
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines.slice(0, head).join('\n');
  },
} as const;

export const REFERENCE_TOOLS: readonly ReferenceTool[] = [
  {
    name: 'read_file',
    title: 'Read File (Deprecated)',
    description: 'Reads a whole file as text. DEPRECATED: use read_text_file.',
    ...readText,
  },
  {
    name: 'read_text_file',
    title: 'Read Text File',
    description: 'Reads a file as text: all of it, the first N lines (head) or the last N lines (tail).',
    ...readText,
  },
  {
    name: 'read_media_file',
    title: 'Read Media File',
    description: 'Reads a file in base64 with its media type: an image, audio, or an embedded resource.',
    properties: path,
    required: ['path'],
    output: 'blocks',
    annotations: READS,
    run: async ({ path }: { path: string }, call) => {
      const { fs, path: at, absolute } = await call.locate(path);
      const mimeType = MEDIA[extname(absolute).toLowerCase()] ?? 'application/octet-stream';
      const data = Buffer.from(await fs.readFile(at, call.options)).toString('base64');
      if (mimeType.startsWith('image/')) return [{ type: 'image', data, mimeType }];
      if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }];
      return [{ type: 'resource', resource: { uri: pathToFileURL(absolute).href, mimeType, blob: data } }];
    },
  },
  {
    name: 'read_multiple_files',
    title: 'Read Multiple Files',
    description:
      'Reads several files as text, each under its path. A file that cannot be read does not stop the others.',
    properties: { paths: { type: 'array', description: 'The files.', minItems: 1, items: { type: 'string' } } },
    required: ['paths'],
    output: 'text',
    annotations: READS,
    run: async ({ paths }: { paths: readonly string[] }, call) => {
      const read = async (path: string): Promise<string> => {
        try {
          return `${path}:\n${await textOf(await call.locate(path), call)}\n`;
        } catch (error) {
          call.options.signal?.throwIfAborted();
          return `${path}: Error - ${call.messageOf(error, path)}`;
        }
      };
      return (await Promise.all(paths.map(read))).join('\n---\n');
    },
  },
  {
    name: 'write_file',
    title: 'Write File',
    description: 'Creates a file, or replaces all of its content. undo takes it back.',
    properties: { ...path, content: { type: 'string', description: 'All that it will hold.' } },
    required: ['path', 'content'],
    output: 'text',
    annotations: writes(true, true),
    run: async ({ path, content }: { path: string; content: string }, call) => {
      const { path: at, change } = await call.locate(path);
      await change((fs) => fs.writeFile(at, content, call.options));
      return `Successfully wrote to ${path}`;
    },
  },
  {
    name: 'edit_file',
    title: 'Edit File',
    description:
      'Replaces texts in a file, each where it occurs first, or where its lines do without the white space around them. Returns a diff. undo takes it back.',
    properties: {
      ...path,
      edits: {
        type: 'array',
        description: 'Made one after the other.',
        minItems: 0,
        items: {
          type: 'object',
          properties: {
            oldText: { type: 'string', description: 'Text to find.' },
            newText: { type: 'string', description: 'Text to put in its place.' },
          },
          required: ['oldText', 'newText'],
          additionalProperties: false,
        },
      },
      dryRun: { type: 'boolean', description: 'Only returns the diff.', default: false },
    },
    required: ['path', 'edits'],
    output: 'text',
    annotations: writes(false, true),
    run: async (
      { path, edits, dryRun }: { path: string; edits: readonly LineEdit[]; dryRun: boolean },
      call,
    ): Promise<string> => {
      const place = await call.locate(path);
      const edit = async (fs: FileSystem): Promise<string> => {
        const original = decoded(await fs.readFile(place.path, call.options), place.absolute);
        const before = withoutReturns(original);
        const after = editLines(before, edits);
        if (!dryRun) await fs.writeFile(place.path, withLineEnds(after, original), call.options);
        return fencedDiff(place.absolute, before, after);
      };
      return dryRun ? edit(place.fs) : place.change(edit);
    },
  },
  {
    name: 'create_directory',
    title: 'Create Directory',
    description: 'Creates a directory and those that lead to it, unless they exist.',
    properties: path,
    required: ['path'],
    output: 'text',
    annotations: writes(true, false),
    run: async ({ path }: { path: string }, call) => {
      const { path: at, change } = await call.locate(path);
      await change((fs) => fs.mkdir(at, { recursive: true, ...call.options }));
      return `Successfully created directory ${path}`;
    },
  },
  {
    name: 'list_directory',
    title: 'List Directory',
    description: 'Lists a directory, with [FILE] or [DIR] in front of each name.',
    properties: path,
    required: ['path'],
    output: 'text',
    annotations: READS,
    run: async ({ path }: { path: string }, call) => {
      const { fs, path: at } = await call.locate(path);
      const entries = await fs.readdir(at, { withFileTypes: true, ...call.options });
      return entries.map((entry) => `${entry.isDirectory() ? '[DIR]' : '[FILE]'} ${nameOf(entry.name)}`).join('\n');
    },
  },
  {
    name: 'list_directory_with_sizes',
    title: 'List Directory with Sizes',
    description: 'Lists a directory like list_directory, with sizes and their sum.',
    properties: {
      ...path,
      sortBy: { type: 'string', description: 'Default name.', enum: ['name', 'size'] },
    },
    required: ['path'],
    output: 'text',
    annotations: READS,
    run: async ({ path, sortBy }: { path: string; sortBy?: 'name' | 'size' }, call) => {
      const { fs, path: at } = await call.locate(path);
      const entries = await fs.readdir(at, { withFileTypes: true, ...call.options });
      const sizes = entries.map(async (entry) => {
        const size = async (): Promise<number> =>
          (await fs.stat(`${at === '/' ? '' : at}/${entry.name}`, call.options).catch(() => undefined))?.size ?? 0;
        return { name: entry.name, isDirectory: entry.isDirectory(), size: await size() };
      });
      const found = (await Promise.all(sizes)).sort((a, b) =>
        sortBy === 'size' ? b.size - a.size : a.name.localeCompare(b.name),
      );
      const files = found.filter(({ isDirectory }) => !isDirectory);
      const lines = found.map(({ name, size, isDirectory }) =>
        isDirectory
          ? `[DIR] ${nameOf(name).padEnd(30)} `
          : `[FILE] ${nameOf(name).padEnd(30)} ${sizeText(size).padStart(10)}`,
      );
      const sum = files.reduce((total, { size }) => total + size, 0);
      const total = `Total: ${files.length} files, ${found.length - files.length} directories`;
      return [...lines, '', total, `Combined size: ${sizeText(sum)}`].join('\n');
    },
  },
  {
    name: 'directory_tree',
    title: 'Directory Tree',
    description: 'Returns what is in a directory and under it as JSON: name, type (file or directory), children.',
    properties: { ...path, excludePatterns },
    required: ['path'],
    output: 'text',
    annotations: READS,
    run: async ({ path, excludePatterns = [] }: { path: string; excludePatterns?: readonly string[] }, call) => {
      const { fs, path: at } = await call.locate(path);
      const patterns = excludePatterns.flatMap((one) =>
        one.includes('*') ? [one] : [one, `**/${one}`, ['**', one, '**'].join('/')],
      );
      return printable(JSON.stringify(await treeOf(fs, at, patterns, call.options), null, 2));
    },
  },
  {
    name: 'move_file',
    title: 'Move File',
    description:
      'Moves or renames a file or directory in its allowed directory. Fails if the destination exists. undo takes it back.',
    properties: {
      source: { type: 'string', description: 'The path now.' },
      destination: { type: 'string', description: 'The new path.' },
    },
    required: ['source', 'destination'],
    output: 'text',
    annotations: writes(false, true),
    run: async ({ source, destination }: { source: string; destination: string }, call) => {
      const [from, to] = [await call.locate(source), await call.locate(destination)];
      if (from.directory !== to.directory)
        throw new InputError(
          'Source and destination are in different allowed directories, and a move is taken back as a whole: write the file there, then remove it here',
        );
      await from.change(async (fs) => {
        const found = await fs.lstat(to.path, call.options).catch(() => undefined);
        if (found !== undefined) throw new InputError(`Destination already exists: ${to.absolute}`);
        await fs.rename(from.path, to.path, call.options);
      });
      return `Successfully moved ${source} to ${destination}`;
    },
  },
  {
    name: 'search_files',
    title: 'Search Files',
    description:
      'Returns the paths under a directory that match a glob pattern, such as *.ts, or **/*.ts for all depths.',
    properties: {
      ...path,
      pattern: { type: 'string', description: 'For the path under the directory.' },
      excludePatterns,
    },
    required: ['path', 'pattern'],
    output: 'text',
    annotations: READS,
    run: async (
      { path, pattern, excludePatterns = [] }: { path: string; pattern: string; excludePatterns?: readonly string[] },
      call,
    ) => {
      const { fs, path: at, absolute } = await call.locate(path);
      const isWanted = matcher(pattern);
      const found: string[] = [];
      const visit = (nodes: readonly TreeNode[], above: string): void => {
        for (const { name, children } of nodes) {
          const at = above === '' ? name : `${above}/${name}`;
          if (isWanted(at, children !== undefined)) found.push(nameOf(`${absolute === '/' ? '' : absolute}/${at}`));
          if (children !== undefined) visit(children, at);
        }
      };
      visit(await treeOf(fs, at, excludePatterns, call.options), '');
      return found.length === 0 ? 'No matches found' : found.join('\n');
    },
  },
  {
    name: 'get_file_info',
    title: 'Get File Info',
    description: 'Returns size, times, kind and permissions of a file or directory.',
    properties: path,
    required: ['path'],
    output: 'text',
    annotations: READS,
    run: async ({ path }: { path: string }, call) => {
      const { fs, path: at } = await call.locate(path);
      const { size, birthtimeMs, mtimeMs, atimeMs, kind, mode } = await fs.stat(at, call.options);
      return Object.entries({
        size,
        created: new Date(birthtimeMs),
        modified: new Date(mtimeMs),
        accessed: new Date(atimeMs),
        isDirectory: kind === 'directory',
        isFile: kind === 'file',
        permissions: (mode & 0o777).toString(8).padStart(3, '0'),
      })
        .map(([key, value]) => `${key}: ${value}`)
        .join('\n');
    },
  },
  {
    name: 'list_allowed_directories',
    title: 'List Allowed Directories',
    description: 'Returns the directories that this server may use, with all that is in them.',
    properties: {},
    required: [],
    output: 'text',
    annotations: READS,
    run: async (_, { allowed }) => `Allowed directories:\n${allowed.join('\n')}`,
  },
];

const MEDIA: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
};

async function textOf({ fs, path }: Pick<Located, 'fs' | 'path'>, { options }: ReferenceCall): Promise<string> {
  return Buffer.from(await fs.readFile(path, options)).toString('utf8');
}

/** @throws InputError for bytes that would not be written back as they are */
function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InputError(
      `${nameOf(path)} is not UTF-8 text, and an edit would change other parts of it too. Nothing was written. write_file replaces it whole.`,
    );
  }
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), UNITS.length - 1);
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(2)} ${UNITS[power]}`;
}

interface TreeNode {
  readonly name: string;
  readonly type: 'file' | 'directory';
  readonly children?: TreeNode[];
}

/** Lists everything under a directory, without what matches a pattern. */
async function treeOf(
  fs: FileSystem,
  top: string,
  exclude: readonly string[],
  options: CallOptions,
): Promise<TreeNode[]> {
  const matchers = exclude.map(matcher);
  const nodes: TreeNode[] = [];
  const listings = new Map<string, TreeNode[]>([[top, nodes]]);
  for (const entry of await fs.readdir(top, { recursive: true, withFileTypes: true, ...options })) {
    const siblings = listings.get(entry.parentPath);
    if (siblings === undefined) continue;
    const at = `${entry.parentPath === '/' ? '' : entry.parentPath}/${entry.name}`;
    const isDirectory = entry.isDirectory();
    const below = at.slice(top === '/' ? 1 : top.length + 1);
    if (matchers.some((matches) => matches(below, isDirectory))) continue;
    const children: TreeNode[] = [];
    if (isDirectory) listings.set(at, children);
    siblings.push({ name: entry.name, type: isDirectory ? 'directory' : 'file', ...(isDirectory && { children }) });
  }
  return nodes;
}

/** Compiles a pattern. `!` in front negates it; an empty one, and one with `#` in front, match nothing. */
function matcher(pattern: string): (path: string, isDirectory: boolean) => boolean {
  if (pattern === '' || pattern.startsWith('#')) return () => false;
  if (pattern.startsWith('!')) {
    const matches = matcher(pattern.slice(1));
    return (...args) => !matches(...args);
  }
  const glob = compileGlob(pattern, { dot: true });
  return (path, isDirectory) => glob.matches(path, isDirectory);
}
