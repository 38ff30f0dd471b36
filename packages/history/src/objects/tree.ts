import { compareNames } from '@scratchfs/core';
import { HistoryError } from '../errors.js';
import { hexOf, ID_BYTES, type ObjectFormat, type ObjectId, putId } from '../object-id.js';
import { checkEntryName, isDotGitmodules } from './entry-name.js';

/** The modes that git keeps: directory, file, executable file, symbolic link, commit of another repository. */
export type TreeMode = '40000' | '100644' | '100755' | '120000' | '160000';

export interface TreeEntry {
  readonly mode: TreeMode;
  readonly name: string;
  readonly id: ObjectId;
}

const MODES: ReadonlySet<string> = new Set<TreeMode>(['40000', '100644', '100755', '120000', '160000']);
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** git's order: by bytes, a directory as if its name ended in `/`. */
export function compareEntries(a: TreeEntry, b: TreeEntry): number {
  return compareNames(sortKey(a), sortKey(b));
}

function sortKey({ mode, name }: TreeEntry): string {
  return mode === '40000' ? `${name}/` : name;
}

/** The body of a tree object; entries may come in any order, names must be unique. */
export function encodeTree(entries: readonly TreeEntry[], format: ObjectFormat): Uint8Array<ArrayBuffer> {
  const sorted = isSorted(entries) ? entries : [...entries].sort(compareEntries);
  let room = 0;
  for (const { name } of sorted) room += 7 + 3 * name.length + 1 + ID_BYTES[format];
  const bytes = new Uint8Array(room);
  let at = 0;
  for (const { mode, name, id } of sorted) {
    at = putText(bytes, at, mode);
    bytes[at++] = 0x20;
    at = putText(bytes, at, name);
    bytes[at++] = 0;
    putId(bytes, at, id);
    at += ID_BYTES[format];
  }
  return bytes.slice(0, at);
}

/** Writes text as UTF-8; most names are ASCII. Answers where it ends. */
function putText(into: Uint8Array, offset: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 127) return offset + encoder.encodeInto(text, into.subarray(offset)).written;
    into[offset + i] = unit;
  }
  return offset + text.length;
}

function isSorted(entries: readonly TreeEntry[]): boolean {
  let before = '';
  for (const entry of entries) {
    const key = sortKey(entry);
    // An entry has a name, so the first one comes after nothing.
    if (compareNames(before, key) >= 0) return false;
    before = key;
  }
  return true;
}

/**
 * Reads the body of a tree object: every name is checked, and order, modes and uniqueness are as git writes them, so that
 * encoding again gives the same bytes.
 * @throws HistoryError `corrupt`, `hostile` for names and modes that must not reach a file system
 */
export function decodeTree(body: Uint8Array, format: ObjectFormat): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const end = body.indexOf(0, space + 1);
    const next = end + 1 + ID_BYTES[format];
    if (space < 0 || space - at > 6 || end < 0 || next > body.length)
      throw new HistoryError('corrupt', 'A tree object is cut off');
    const mode = String.fromCharCode(...body.subarray(at, space));
    const name = decodeName(body.subarray(space + 1, end));
    const entry = { mode: checkMode(mode, name), name, id: hexOf(body.subarray(end + 1, next)) };
    const before = entries.at(-1);
    if (names.has(name)) throw new HistoryError('hostile', `A tree holds the name ${show(name)} twice`, { path: name });
    if (before !== undefined && compareEntries(before, entry) >= 0)
      throw new HistoryError('corrupt', `A tree object is not sorted at ${show(name)}`, { path: name });
    names.add(name);
    entries.push(entry);
    at = next;
  }
  return entries;
}

function decodeName(bytes: Uint8Array): string {
  let name: string;
  try {
    name = decoder.decode(bytes);
  } catch (cause) {
    const shown = String.fromCharCode(...bytes.subarray(0, 80));
    throw new HistoryError('hostile', `A tree holds a name that is no UTF-8: ${show(shown)}`, { path: shown, cause });
  }
  checkEntryName(name);
  return name;
}

function checkMode(mode: string, name: string): TreeMode {
  if (!MODES.has(mode))
    throw new HistoryError('hostile', `A tree gives ${show(name)} the mode ${show(mode)}`, { path: name });
  if (mode === '120000' && isDotGitmodules(name))
    throw new HistoryError('hostile', `A tree makes ${show(name)} a symbolic link`, { path: name });
  return mode as TreeMode;
}

function show(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
