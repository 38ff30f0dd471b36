import type { SyncFileSystem } from './file-system.js';

/** What stands for an entry in a record of files: text, bytes, a link, or null for an empty directory. */
export type FileRecord = string | { readonly base64: string } | { readonly symlink: string } | null;

/** Every file, link and empty directory by path. The record has no prototype, so that `__proto__` is a name like any other. */
export function toRecord(
  fileSystem: SyncFileSystem,
): Record<string, string | { base64: string } | { symlink: string } | null> {
  const record: Record<string, string | { base64: string } | { symlink: string } | null> = Object.create(null);
  for (const entry of fileSystem.walkSync('/')) {
    if (entry.kind === 'symlink') record[entry.path] = { symlink: entry.target ?? '' };
    else if (entry.kind === 'file') record[entry.path] = textOrBase64(fileSystem.readFileSync(entry.path));
    else if (fileSystem.readdirSync(entry.path).length === 0) record[entry.path] = null;
  }
  return record;
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

/** The bytes that `{ base64 }` stands for. @throws TypeError where it is not base64 */
export function fromBase64(base64: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(base64);
  } catch (cause) {
    throw new TypeError('base64 has characters that are not base64', { cause });
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
