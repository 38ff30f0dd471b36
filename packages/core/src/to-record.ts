import { FsError } from './errors.js';
import type { SyncFileSystem } from './file-system.js';
import { isWithin } from './paths.js';

/** An entry in a record of files: text, bytes, a link, or null for an empty directory. */
export type FileRecord = string | { readonly base64: string } | { readonly symlink: string } | null;

/** Size in bytes up to which the usual engines can represent a file as one string, even in base64. */
const MAX_FILE_BYTES = 2 ** 28;

/**
 * Returns every file, link and empty directory by path. The record has no prototype, so that `__proto__` is an ordinary
 * name. Files and links for which `canRead` returns false are left out; a directory that contains only such entries
 * does not count as empty.
 * @throws FsError EFBIG naming the first file of more than 256 MiB, before any content is read
 */
export function toRecord(
  fileSystem: Pick<SyncFileSystem, 'walkSync' | 'readFileSync'>,
  canRead: (path: string) => boolean = () => true,
): Record<string, string | { base64: string } | { symlink: string } | null> {
  const record: Record<string, string | { base64: string } | { symlink: string } | null> = Object.create(null);
  for (const { path, kind, size } of fileSystem.walkSync('/'))
    if (kind === 'file' && size > MAX_FILE_BYTES && canRead(path)) throw tooLarge(path, size);
  let empty: string | undefined;
  for (const { path, kind, target = '' } of fileSystem.walkSync('/')) {
    // The entries of a directory come right after it.
    if (empty !== undefined && !isWithin(path, empty)) record[empty] = null;
    empty = kind === 'directory' ? path : undefined;
    if (kind !== 'directory' && !canRead(path)) continue;
    if (kind === 'symlink') record[path] = { symlink: target };
    else if (kind === 'file') record[path] = textOrBase64(fileSystem.readFileSync(path));
  }
  if (empty !== undefined) record[empty] = null;
  return record;
}

function tooLarge(path: string, requested: number): FsError {
  const hint = 'A record has every file as one text: take a snapshot, or truncate or remove the file';
  return new FsError('EFBIG', { syscall: 'toJSON', path, requested, allowed: MAX_FILE_BYTES, hint });
}

function textOrBase64(bytes: Uint8Array): string | { base64: string } {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    let binary = '';
    for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return { base64: btoa(binary) };
  }
}

/** Decodes base64. @throws TypeError for a text that `atob` refuses */
export function fromBase64(base64: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(base64);
  } catch (cause) {
    throw new TypeError('base64 has characters that are not base64', { cause });
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
