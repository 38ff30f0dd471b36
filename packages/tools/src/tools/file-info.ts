import { type FileSystem, isFsError, type Stats } from '@scratchfs/core';
import { isSandboxError } from '@scratchfs/sandbox';
import type { Authorizer } from '../authorizer.js';
import { shortSize } from '../short-size.js';
import { type ContentKind, contentKind, PROBE_BYTES } from '../text-file.js';
import type { ToolCallOptions } from '../tool.js';
import type { FileInfoData } from '../tool-data.js';
import { counted, type Definition, inWordsOf, path, quote } from './define.js';

export const fileInfo: Definition<'file_info'> = {
  name: 'file_info',
  rule: 'sandbox.read',
  description: 'Says what a path is: kind, size, kind of content, time of the last change, permissions.',
  properties: { path: path('A file, a directory or a link.') },
  required: ['path'],
  async run(authorizer, { path: given }: { readonly path: string }, call) {
    await authorizer.permit(
      {
        tool: 'file_info',
        rule: 'sandbox.read',
        uses: [{ path: given, access: 'read', follow: false }],
        summary: `Look at ${quote(given)}`,
      },
      call,
    );
    const info = await inWordsOf(authorizer, () => infoOf(authorizer, given, call), given);
    return {
      text: textOf(info),
      structured: info,
      links: [given, ...(info.target === undefined ? [] : [info.target])],
    };
  },
};

async function infoOf({ sandbox }: Authorizer, given: string, call: ToolCallOptions): Promise<FileInfoData> {
  const { fileSystem } = sandbox;
  const place = sandbox.locate(given);
  const stats = await fileSystem.lstat(place, call);
  const { kind, size } = stats;
  const base = { path: given, kind, modified: timeOf(stats), mode: (stats.mode & 0o7777).toString(8).padStart(3, '0') };
  if (kind === 'directory') {
    const names = await unlessRefused(() => fileSystem.readdir(place, call));
    return { ...base, ...(names && { entries: names.length }) };
  }
  if (kind === 'symlink') {
    // The target as it is stored may be a path outside the sandbox, so only the path that it leads to is shown.
    const end = await unlessRefused(() => fileSystem.realpath(place, call));
    const target = end === undefined ? undefined : sandbox.show(end);
    return { ...base, ...(target !== undefined && { target }) };
  }
  const content = await unlessRefused(() => contentOf(fileSystem, place, call));
  return { ...base, size, ...(content && { content: content.kind, mediaType: content.mediaType }) };
}

function timeOf({ mtime }: Stats): string {
  return mtime.toISOString();
}

async function contentOf(fileSystem: FileSystem, place: string, call: ToolCallOptions): Promise<ContentKind> {
  const handle = await fileSystem.open(place, 'r', call);
  try {
    const bytes = new Uint8Array(PROBE_BYTES);
    return contentKind(bytes.subarray(0, await handle.read(bytes, 0, call)));
  } finally {
    await handle.close();
  }
}

/** Runs work. Returns undefined if the policy or the filesystem refuses it. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isSandboxError(error) || isFsError(error)) return undefined;
    throw error;
  }
}

function textOf({
  path: given,
  kind,
  size,
  content,
  mediaType,
  entries,
  target,
  modified,
  mode,
}: FileInfoData): string {
  const lines: string[] = [];
  if (kind === 'directory')
    lines.push(`directory${entries === undefined ? '' : ` of ${entries === 1 ? '1 entry' : `${entries} entries`}`}`);
  else if (kind === 'symlink')
    lines.push(
      `link to ${target === undefined ? 'a path that does not exist or is not in the sandbox' : quote(target)}`,
    );
  else {
    const isText = content === 'text';
    const what = isText ? 'text in UTF-8' : content;
    lines.push(
      `file${what === undefined || what === 'empty' ? '' : `, ${what}`}${mediaType === undefined ? '' : ` (${mediaType})`}`,
    );
    const bytes = counted(size as number, 'byte');
    lines.push(`size: ${bytes}${(size as number) < 1024 ? '' : ` (${shortSize(size as number)})`}`);
  }
  return [`${quote(given)}: ${lines[0]}`, ...lines.slice(1), `changed: ${modified}`, `mode: ${mode}`].join('\n');
}
