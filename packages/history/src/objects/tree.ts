import { compareNames } from '@scratchfs/core';
import { HistoryError } from '../errors.js';
import { hexOf, ID_BYTES, type ObjectFormat, type ObjectId, putId } from '../object-id.js';
import { checkEntryName, isDotGitmodules } from './entry-name.js';

/** The modes that git stores: directory, file, executable file, symbolic link, submodule. */
export type TreeMode = '40000' | '100644' | '100755' | '120000' | '160000';

export interface TreeEntry {
  readonly mode: TreeMode;
  readonly name: string;
  readonly id: ObjectId;
}

type NamedMode = Pick<TreeEntry, 'mode' | 'name'>;

const MODES: ReadonlySet<string> = new Set<TreeMode>(['40000', '100644', '100755', '120000', '160000']);
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const bytewise = new TextDecoder('latin1');
const SPACE = 0x20;

/** Compares entries in git's order: by bytes, a directory as if its name ended in `/`. */
export function compareEntries(a: NamedMode, b: NamedMode): number {
  if (a.name === b.name) return Number(a.mode === '40000') - Number(b.mode === '40000');
  // The kind matters only if one name is a prefix of the other.
  const isBeginning =
    a.name.length !== b.name.length &&
    (a.name.length < b.name.length ? b.name.startsWith(a.name) : a.name.startsWith(b.name));
  return isBeginning ? compareNames(sortKey(a), sortKey(b)) : compareNames(a.name, b.name);
}

function sortKey({ mode, name }: NamedMode): string {
  return mode === '40000' ? `${name}/` : name;
}

/** Encodes a tree object. Entries may be in any order; names must be unique. */
export function encodeTree(entries: readonly TreeEntry[], format: ObjectFormat): Uint8Array<ArrayBuffer> {
  return encodeSorted(isSorted(entries) ? entries : [...entries].sort(compareEntries), format);
}

function encodeSorted(sorted: readonly TreeEntry[], format: ObjectFormat): Uint8Array<ArrayBuffer> {
  let room = 0;
  for (const entry of sorted) room += roomForEntry(entry, format);
  const bytes = new Uint8Array(room);
  let end = 0;
  for (const entry of sorted) end = putEntry(bytes, end, entry);
  return end === room ? bytes : bytes.slice(0, end);
}

/** Returns the maximum number of bytes of an entry. */
export function roomForEntry({ mode, name }: TreeEntry, format: ObjectFormat): number {
  return mode.length + 1 + roomFor(name) + 1 + ID_BYTES[format];
}

/** Writes an entry into zeroed bytes and returns the offset after it. */
export function putEntry(bytes: Uint8Array, offset: number, { mode, name, id }: TreeEntry): number {
  let at = putText(bytes, offset, mode);
  bytes[at++] = SPACE;
  // The byte after the name is already 0.
  at = putText(bytes, at, name) + 1;
  putId(bytes, at, id);
  return at + id.length / 2;
}

/** Returns the maximum number of UTF-8 bytes of a text, which is exact for ASCII. */
function roomFor(text: string): number {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return 3 * text.length;
  return text.length;
}

/** Writes text as UTF-8 and returns the offset after it. Most names are ASCII, which has a fast path. */
function putText(into: Uint8Array, offset: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 127) return offset + encoder.encodeInto(text, into.subarray(offset)).written;
    into[offset + i] = unit;
  }
  return offset + text.length;
}

function isSorted(entries: readonly TreeEntry[]): boolean {
  for (let i = 1; i < entries.length; i++)
    if (compareEntries(entries[i - 1] as TreeEntry, entries[i] as TreeEntry) >= 0) return false;
  return true;
}

/**
 * Decodes a tree object. Names, order, modes and uniqueness are checked as git writes them, so encoding the result
 * gives the same bytes.
 * @throws HistoryError `corrupt`, `hostile` for names and modes that must not reach a filesystem
 */
export function decodeTree(body: Uint8Array, format: ObjectFormat): TreeEntry[] {
  const entries: TreeEntry[] = [];
  // One character per byte. Modes and names are cut from it, because nearly all are ASCII.
  const text = bytewise.decode(body);
  let before: TreeEntry | undefined;
  let directories = 0;
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(SPACE, at);
    const end = body.indexOf(0, space + 1);
    const next = end + 1 + ID_BYTES[format];
    if (space < 0 || space - at > 6 || end < 0 || next > body.length)
      throw new HistoryError('corrupt', 'A tree object is truncated');
    const mode = text.slice(at, space);
    const name = decodeName(body, text, space + 1, end);
    const entry = { mode: checkMode(mode, name), name, id: hexOf(body, end + 1, next) };
    if (before !== undefined && compareEntries(before, entry) >= 0)
      throw before.name === name
        ? twice(name)
        : new HistoryError('corrupt', `A tree object is not sorted at ${show(name)}`, { path: name });
    if (mode === '40000') directories += 1;
    entries.push(entry);
    before = entry;
    at = next;
  }
  if (directories > 0 && directories < entries.length) checkUnique(entries);
  return entries;
}

/** In git's order, two entries can have the same name without being adjacent only if one is a directory. */
function checkUnique(entries: readonly TreeEntry[]): void {
  const names = new Set<string>();
  for (const { mode, name } of entries) if (mode === '40000') names.add(name);
  for (const { mode, name } of entries) if (mode !== '40000' && names.has(name)) throw twice(name);
}

function twice(name: string): HistoryError {
  return new HistoryError('hostile', `A tree holds the name ${show(name)} twice`, { path: name });
}

function decodeName(body: Uint8Array, text: string, from: number, to: number): string {
  const name = isAscii(body, from, to) ? text.slice(from, to) : utf8Of(body.subarray(from, to));
  checkEntryName(name);
  return name;
}

function isAscii(body: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if ((body[i] as number) > 127) return false;
  return true;
}

function utf8Of(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    const shown = String.fromCharCode(...bytes.subarray(0, 80));
    throw new HistoryError('hostile', `A tree has a name that is not UTF-8: ${show(shown)}`, { path: shown, cause });
  }
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
