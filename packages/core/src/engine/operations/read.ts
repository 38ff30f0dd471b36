import type { TextEncoding } from '../../argument-types.js';
import { Dirent, type EntryInfo, type EntryKind, type FileEntry, Stats, statMode, versionText } from '../../entry.js';
import { FsError } from '../../errors.js';
import type { EntriesOptions, NameArgument, NameOptions, ReaddirOptions, ReadFileOptions } from '../../file-system.js';
import type { FileSystemStats } from '../../limits.js';
import { joinPath } from '../../paths.js';
import type { Entries } from '../../tree/entries.js';
import {
  DIRECTORY,
  FILE,
  type FileNode,
  kindName,
  LINKED,
  type Node,
  SYMLINK,
  type TreeNode,
} from '../../tree/node.js';
import { checkBoolean, checkInteger, checkOneOf, checkOptions } from '../arguments.js';
import { LONG_TEXT } from '../scheduling/long-text.js';
import { checkNameEncoding, codecOf } from '../text-encodings.js';
import { fileBytes, fileText } from '../view/contents.js';
import type { View } from '../view.js';
import { settledHere, sizedHere } from './settle.js';

const NO_BYTES = new Uint8Array(0);

export function exists(view: View, path: string): boolean {
  return view.paths.glance(path, true, 'access') !== undefined;
}

export function isFile(view: View, path: string): boolean {
  return view.paths.glance(path, true, 'stat')?.kind === FILE;
}

export function isDirectory(view: View, path: string): boolean {
  return view.paths.glance(path, true, 'stat')?.kind === DIRECTORY;
}

export function stat(view: View, path: string): Stats {
  return statsOf(view, sizedHere(view, present(view.find(path, true, 'look', 'stat'), 'stat', path), path));
}

export function lstat(view: View, path: string): Stats {
  return statsOf(view, sizedHere(view, present(view.find(path, false, 'look', 'lstat'), 'lstat', path), path));
}

export function access(view: View, path: string, mode = 0): void {
  checkInteger(mode, 'mode', 0, 7);
  const node = present(view.find(path, true, 'look', 'access'), 'access', path);
  if ((mode & 2) !== 0) view.context.guard?.check(view.at.path(), 'write', 'access', path, node);
  if ((mode & 1) !== 0 && node.kind === FILE && (node.meta.mode & 0o111) === 0) {
    throw new FsError('EACCES', { syscall: 'access', path });
  }
}

export function realpath(view: View, path: string, options?: NameArgument): string {
  checkNameOptions(options, 'realpath');
  present(view.find(path, true, 'look', 'realpath'), 'realpath', path);
  return view.at.path();
}

export function readlink(view: View, path: string, options?: NameArgument): string {
  checkNameOptions(options, 'readlink');
  const node = present(view.find(path, false, 'read', 'readlink'), 'readlink', path);
  if (node.kind !== SYMLINK) throw new FsError('EINVAL', { syscall: 'readlink', path });
  return node.target;
}

export function readFile(
  view: View,
  path: string,
  options?: ReadFileOptions | TextEncoding | null,
): Uint8Array<ArrayBuffer> | string {
  const encoding = options === undefined ? undefined : encodingOfRead(options);
  const file = findFile(view, path);
  if (encoding === undefined) return fileBytes(view, file, path);
  const codec = codecOf(encoding);
  return codec === undefined ? fileText(view, file, path) : codec.decode(fileBytes(view, file, path));
}

/** Returns the encoding of the text that a read returns; undefined for bytes. */
export function encodingOfRead(options: ReadFileOptions | TextEncoding | null | undefined): string | undefined {
  const { encoding, flag } = checkOptions<ReadFileOptions>(options, ['encoding', 'flag'], 'readFile');
  if (flag !== undefined) checkOneOf(flag, ['r', 'r+'], 'flag');
  if (encoding === undefined || encoding === null || encoding === 'buffer') return undefined;
  codecOf(encoding);
  return encoding;
}

export function checkNameOptions(options: NameArgument | undefined, method: string): void {
  checkNameEncoding(checkOptions<NameOptions>(options, ['encoding'], method).encoding);
}

export function readBytes(view: View, path: string): Uint8Array<ArrayBuffer> {
  return fileBytes(view, findFile(view, path), path);
}

export function readText(view: View, path: string): string {
  return fileText(view, findFile(view, path), path);
}

/** Returns the text, or the bytes if it is so long that it is decoded in slices. */
export function readTextOrBytes(view: View, path: string): string | Uint8Array<ArrayBuffer> {
  const file = findFile(view, path);
  return file.size < LONG_TEXT ? fileText(view, file, path) : fileBytes(view, file, path);
}

export function readLines(view: View, path: string): string[] {
  return splitLines(readText(view, path));
}

/** Returns the lines of a text without `\n` and `\r\n`. A final newline adds no line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() as string;
  const ended = lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  // Text after the last newline is a line of its own, in which a `\r` is content.
  return last === '' ? ended : [...ended, last];
}

export function readdir(view: View, path: string, withFileTypes = false): string[] | Dirent[] {
  const listing = listingAt(view, path);
  if (!withFileTypes) return visibleNames(view, listing.path, listing.entries);
  return eachEntry(view, listing, (name, entry) => {
    return new Dirent(name, path, kindName(view.tree.resolve(entry) as Node));
  });
}

interface ListingOptions {
  readonly isTyped: boolean;
  readonly isRecursive: boolean;
  /** The options as given. */
  readonly call: ReaddirOptions | undefined;
}

const NAMES_ONLY: ListingOptions = { isTyped: false, isRecursive: false, call: undefined };

/** Checks the options of `readdir`. */
export function checkListing(options: ReaddirOptions | string | null | undefined): ListingOptions {
  if (options === undefined) return NAMES_ONLY;
  const given = checkOptions<ReaddirOptions>(options, ['encoding', 'withFileTypes', 'recursive'], 'readdir');
  checkNameEncoding(given.encoding);
  return {
    isTyped: checkBoolean(given.withFileTypes, 'withFileTypes'),
    isRecursive: checkBoolean(given.recursive, 'recursive'),
    call: given,
  };
}

/** Converts the entries that a walk of a directory found to the result of `readdir` with `recursive`. */
export function listedAll(path: string, infos: readonly EntryInfo[], isTyped: boolean): string[] | Dirent[] {
  // The first entry is directly in the directory.
  const [first] = infos;
  const start = first === undefined ? 0 : first.path.length - first.name.length;
  return infos.map(({ path: at, name, kind }) => listed(path, at.slice(start), name, kind, isTyped)) as string[];
}

/** Returns an entry found under a listed directory as `readdir` does. `beneath`: its path relative to the directory. */
export function listed(
  path: string,
  beneath: string,
  name: string,
  kind: EntryKind,
  isTyped: boolean,
): string | Dirent {
  if (!isTyped) return beneath;
  return new Dirent(
    name,
    beneath === name ? path : `${path.replace(/\/+$/, '')}/${beneath}`.slice(0, -name.length - 1),
    kind,
  );
}

/** Returns everything about each visible entry of a directory, and with `content` also the contents. */
export function entries(view: View, path: string, options?: EntriesOptions): EntryInfo[] | FileEntry[] {
  const listing = listingAt(view, path);
  const withContent = checkBoolean(checkOptions(options, ['content'], 'entries').content, 'content');
  return eachEntry(view, listing, (name, entry): EntryInfo | FileEntry => {
    const info = infoOf(view, joinPath(listing.path, name), name, entry);
    if (!withContent) return info;
    const child = view.tree.resolve(entry) as Node;
    if (child.kind === FILE) view.context.guard?.check(info.path, 'read', 'open', path, child);
    return withContentOf(view, info, child);
  });
}

interface Listing {
  /** The path without links. */
  readonly path: string;
  readonly entries: Entries<TreeNode>;
}

/** Returns the listing of the directory at a path. @throws FsError ENOENT, ENOTDIR; the errors of `View.find` */
function listingAt(view: View, path: string): Listing {
  const node = present(view.find(path, true, 'read', 'scandir'), 'scandir', path);
  if (node.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: 'scandir', path });
  const location = view.at.location(node);
  return { path: location.path, entries: view.list(location) };
}

/** Maps the visible entries of a directory. */
function eachEntry<T>(view: View, { path, entries }: Listing, map: (name: string, entry: TreeNode) => T): T[] {
  const names = visibleNames(view, path, entries);
  // If nothing is hidden, names and values have the same order.
  const values = names.length === entries.size ? entries.values() : undefined;
  return view.all(names, (name, index) => {
    return map(name, (values === undefined ? entries.get(name) : values[index]) as TreeNode);
  });
}

export function visibleNames(view: View, path: string, entries: Entries<TreeNode>): string[] {
  const names = entries.names();
  const { guard } = view.context;
  if (guard?.hides !== true) return names;
  return names.filter((name) => guard.isVisible(joinPath(path, name), view.tree.resolve(entries.get(name))));
}

export function getEntry(view: View, path: string): FileEntry {
  const node = settledHere(view, present(view.find(path, false, 'read', 'open'), 'open', path), path);
  const entry = view.at.name === '' ? node : (view.at.parent.directory.entries.get(view.at.name) as TreeNode);
  return withContentOf(view, infoOf(view, view.at.path(), view.at.name, entry), node);
}

export function stats(view: View): FileSystemStats {
  const { guard } = view.context;
  if (guard?.hides === true) return guard.stats(view);
  view.relyOnTotals();
  const { size, files, directories } = view.tree.totals();
  return { totalSize: size, fileCount: files, directoryCount: directories, nodeCount: files + directories };
}

/** Returns the file at a path. @throws FsError ENOENT, EISDIR; the errors of `View.find` and {@link settled} */
function findFile(view: View, path: string): FileNode {
  const node = present(view.find(path, true, 'read', 'open'), 'open', path);
  if (node.kind === DIRECTORY) throw new FsError('EISDIR', { syscall: 'read', path });
  return settledHere(view, node as FileNode, path);
}

export function present<N>(node: N | undefined, syscall: string, path: string, dest?: string): N {
  if (node === undefined) throw new FsError('ENOENT', { syscall, path, dest });
  return node;
}

/** Returns everything about an entry except its content. */
export function infoOf(view: View, path: string, name: string, entry: TreeNode): EntryInfo {
  const node = view.tree.resolve(entry) as Node;
  if (node.kind === DIRECTORY) view.relyOnMeta(node);
  else view.relyOnNode(node);
  const { meta } = node;
  const info: EntryInfo = {
    name: name === '' ? '/' : name,
    path,
    kind: kindName(node),
    isDirectory: node.kind === DIRECTORY,
    size: node.kind === DIRECTORY ? 0 : node.size,
    mode: meta.mode,
    uid: meta.uid,
    gid: meta.gid,
    createdAt: meta.birthtime,
    modifiedAt: meta.mtime,
    changedAt: meta.ctime,
    accessedAt: meta.atime,
    links: view.tree.linksOf(entry),
  };
  return node.kind === SYMLINK ? { ...info, target: node.target } : info;
}

function withContentOf(view: View, info: EntryInfo, node: Node): FileEntry {
  return { ...info, content: node.kind === FILE ? fileBytes(view, node, info.path) : NO_BYTES.slice() };
}

/** Returns the stats of the node that the last `find` reached. */
function statsOf(view: View, node: Node): Stats {
  if (node.kind === DIRECTORY) return makeStats(view, node, 1);
  const entry = view.at.parent.directory.entries.get(view.at.name);
  return makeStats(view, node, entry?.kind === LINKED ? view.tree.linksOf(entry) : 1);
}

export function makeStats(view: View, node: Node, links: number): Stats {
  if (node.kind === DIRECTORY) view.relyOnVersion(node);
  const { meta } = node;
  const kind = kindName(node);
  const size = node.kind === DIRECTORY ? 0 : node.size;
  const ino = inoOf(node);
  return new Stats(
    kind,
    ino,
    statMode(kind, meta.mode),
    links,
    size,
    meta.uid,
    meta.gid,
    meta.atime,
    meta.mtime,
    meta.ctime,
    meta.birthtime,
    0,
    view.tree.changeIdOf(node),
  );
}

/** Returns the version of a node, as `Stats` reports it. */
export function versionOf(view: View, node: Node): string {
  if (node.kind === DIRECTORY) view.relyOnVersion(node);
  else view.relyOnNode(node);
  return versionText(inoOf(node), view.tree.changeIdOf(node));
}

/**
 * Checks the version of a node that an operation is going to change. The guard is asked about `look` access, as by
 * `stat`. `at`: the node's path without links, if the last lookup was of another path.
 * @throws FsError ECHANGED if the node has another version; the errors of the guard
 */
export function expectVersion(
  view: View,
  node: Node,
  expected: string | undefined,
  syscall: string,
  path: string,
  at?: string,
): void {
  if (expected === undefined) return;
  view.context.guard?.check(at ?? view.at.path(), 'look', syscall, path, node);
  const actual = versionOf(view, node);
  if (actual === expected) return;
  const hint = 'Read it again, then change it with the version of that state';
  throw new FsError('ECHANGED', { syscall, path, hint, expected, actual });
}

function inoOf({ id }: Node): number {
  return typeof id === 'number' ? id : hashId(id);
}

/** Converts a text id to a number of 52 bits: two hashes in the manner of FNV-1a, one of them of the reversed text. */
function hashId(id: string): number {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let i = 0; i < id.length; i++) {
    high = Math.imul(high ^ id.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ id.charCodeAt(id.length - 1 - i), 0x85ebca6b);
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0);
}
