import { quote } from '@scratchfs/core';
import type { FileSystemSandbox } from '@scratchfs/sandbox';
import { AUTHORIZER_OPTIONS, Authorizer, type AuthorizerOptions } from './authorizer.js';
import { InputError } from './input.js';
import { ownOptions, readFields, texts, wholeNumber } from './plain-data.js';
import type { ToolCallOptions } from './tool.js';

/** Limits on the files that one worker hands to another. */
export interface AttachmentPolicy {
  /** Maximum number of files per call. Default 4. */
  readonly maxAttachments?: number | undefined;
  /** Maximum total bytes. Default 10,000,000. */
  readonly maxTotalBytes?: number | undefined;
  /** Allowed suffixes such as `.md`, case-sensitive. Default: all that the sandbox allows. */
  readonly allowedSuffixes?: readonly string[] | undefined;
  /** Suffixes that are refused even if the list of allowed suffixes has them. Default: none. */
  readonly deniedSuffixes?: readonly string[] | undefined;
}

/** A file with its content at the time it was attached. */
export interface Attachment {
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

const FIELDS = {
  maxAttachments: wholeNumber,
  maxTotalBytes: wholeNumber,
  allowedSuffixes: texts,
  deniedSuffixes: texts,
};

/**
 * Parses an `attachment_policy` from plain data, with fields in snake_case or camelCase.
 * @throws TypeError that names the field
 */
export function parseAttachmentPolicy(data: unknown): AttachmentPolicy {
  return readFields(data, 'attachment_policy', FIELDS) as AttachmentPolicy;
}

/**
 * Reads the files that a caller attaches. All of them must be in the caller's sandbox and together within the policy
 * before approval is requested and before any byte is read. Approval is requested for each file if the rule
 * `sandbox.read` or the sandbox requires it.
 *
 * @throws InputError, such as for files that the policy refuses, for directories, and for a file that is named twice
 * @throws NotApprovedError, SandboxError, FsError
 */
export async function readAttachments(
  sandbox: FileSystemSandbox,
  given: readonly string[],
  options: AuthorizerOptions & { readonly policy?: AttachmentPolicy | undefined } = {},
  call: ToolCallOptions = {},
): Promise<Attachment[]> {
  const paths = texts(given, 'attachments');
  const { policy = {}, ...rest } = ownOptions(options, [...AUTHORIZER_OPTIONS, 'policy'], 'readAttachments');
  const { maxAttachments = 4, maxTotalBytes = 10_000_000, ...suffixes } = parseAttachmentPolicy(policy);
  const authorizer = new Authorizer(sandbox, rest);
  if (paths.length > maxAttachments) {
    throw new InputError(`There are ${paths.length} attachments, and at most ${maxAttachments} may be handed over.`);
  }
  const places = new Map<string, string>();
  let total = 0;
  for (const path of paths) {
    await sandbox.check(path, 'read', call);
    const place = await sandbox.resolve(path, call);
    const other = places.get(place);
    if (other !== undefined)
      throw new InputError(`The attachments ${quote(other)} and ${quote(path)} are the same file.`);
    places.set(place, path);
    for (const name of [path, place]) checkSuffix(path, name, suffixes);
    total += await sizeOf(sandbox, path, place, call);
    checkTotal(total, maxTotalBytes);
  }
  const attachments: Attachment[] = [];
  total = 0;
  for (const [place, path] of places) {
    const summary = `Hand over the file ${quote(path)}`;
    await authorizer.permit(
      { tool: 'attachments', rule: 'sandbox.read', uses: [{ path, access: 'read' }], summary },
      call,
    );
    if ((await sandbox.resolve(path, call)) !== place) {
      throw new InputError(`${quote(path)} began to lead elsewhere while it was looked at. Try again.`);
    }
    const content = await inWordsOf(sandbox, path, () => sandbox.fileSystem.readFile(place, call));
    // The file may have grown since its size was checked.
    checkTotal((total += content.byteLength), maxTotalBytes);
    attachments.push({ path, content });
  }
  return attachments;
}

async function sizeOf(sandbox: FileSystemSandbox, path: string, place: string, call: ToolCallOptions): Promise<number> {
  const { kind, size } = await inWordsOf(sandbox, path, () => sandbox.fileSystem.stat(place, call));
  if (kind === 'directory') throw new InputError(`${quote(path)} is a directory: attach the files one by one.`);
  return size;
}

function checkTotal(total: number, allowed: number): void {
  if (total > allowed) {
    throw new InputError(`The attachments have more than ${allowed} bytes together: attach fewer or smaller files.`);
  }
}

function checkSuffix(path: string, name: string, { allowedSuffixes, deniedSuffixes = [] }: AttachmentPolicy): void {
  const has = (suffix: string): boolean => name.endsWith(suffix);
  if (!deniedSuffixes.some(has) && (allowedSuffixes === undefined || allowedSuffixes.some(has))) return;
  const allowed = allowedSuffixes === undefined ? '' : ` Allowed suffixes: ${allowedSuffixes.join(', ') || 'none'}.`;
  throw new InputError(`${quote(path)} has a suffix that may not be handed over.${allowed}`);
}

async function inWordsOf<T>(sandbox: FileSystemSandbox, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sandbox.explain(error, path);
  }
}
