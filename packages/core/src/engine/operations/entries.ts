import type { Metadata } from '../../backend.js';
import type { EntryKind, FileEntry, NewEntry } from '../../entry.js';
import { FsError } from '../../errors.js';
import { compareNames, normalizePath, parentPath, pathSegments } from '../../paths.js';
import { DIRECTORY, DirectoryNode, FILE, FileNode, type Node, SYMLINK, type TreeNode } from '../../tree/node.js';
import { type Location, symlinkNode } from '../../tree/tree.js';
import { checkInteger, checkMode, checkOneOf, contentBytes, isTime } from '../arguments.js';
import type { Cursor } from '../cursor.js';
import { fileBytes } from '../view/contents.js';
import { checkFileSize, reserve } from '../view/limits.js';
import type { View } from '../view.js';
import { mapped, TreeWalk } from '../walk.js';
import { checkTarget, DIRECTORY_MODE } from './names.js';
import { getEntry, infoOf } from './read.js';
import { FILE_MODE, fill, replaceContent } from './write.js';

/** The operations of `Storage`: entries by path; links are not followed. */

export function get(view: View, path: string): FileEntry | undefined {
  return plainNode(view, path) === undefined ? undefined : getEntry(view, path);
}

/** Returns entries from one point in time; undefined for a path that does not exist. */
export function getMany(view: View, paths: readonly string[]): (FileEntry | undefined)[] {
  return view.all(paths, (path) => get(view, path));
}

export function has(view: View, path: string): boolean {
  return plainNode(view, path) !== undefined;
}

export function children(view: View, path: string): string[] {
  const node = plainNode(view, path);
  if (node === undefined) throw new FsError('ENOENT', { syscall: 'scandir', path });
  if (node.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: 'scandir', path });
  return view.list(view.at.location(node)).names();
}

export function deleteEntry(view: View, path: string): boolean {
  const node = plainNode(view, path);
  if (node === undefined) return false;
  if (view.at.name === '') throw new FsError('EBUSY', { syscall: 'delete', path, hint: 'The root cannot be deleted' });
  const { parent, name } = view.at;
  if (node.kind === DIRECTORY && !view.isEmpty(view.at.location(node)))
    throw new FsError('ENOTEMPTY', { syscall: 'delete', path });
  view.remove(parent, name);
  return true;
}

export function clear(view: View): void {
  const { root } = view.tree;
  view.relyOnMeta(root);
  view.replaceAll(root.meta, () => {});
}

export function setEntry(view: View, entry: NewEntry): void {
  setMany(view, [entry]);
}

/** Stores all entries or none, parents before children whatever their order. A path that is given twice is EINVAL. */
export function setMany(view: View, entries: readonly NewEntry[]): void {
  const checked = entries.map(checkEntry).sort((a, b) => compareNames(a.path, b.path));
  for (let i = 1; i < checked.length; i++) {
    const { path } = checked[i] as CheckedEntry;
    if (path === checked[i - 1]?.path)
      throw new FsError('EINVAL', {
        syscall: 'set',
        path,
        hint: 'The batch names this path twice; each path may occur once',
      });
  }
  checked.sort((a, b) => a.depth - b.depth);
  // Everything unknown is requested together.
  view.all(checked, (entry) => plainNode(view, entry.path));
  view.atomic(() => {
    for (const entry of checked) put(view, entry);
  });
}

/**
 * Like {@link setMany}, unless one of the paths `absent` exists: then nothing is stored and that path is returned. An
 * entry that exists and was modified at `since` or later is left as it is.
 */
export function setManyUnless(
  view: View,
  entries: readonly NewEntry[],
  absent: readonly string[],
  since: number,
): string | undefined {
  // These lookups are confirmed with the commit, so cached nodes are enough.
  view.seeksToWrite = true;
  view.all([...absent, ...entries.map(({ path }) => path)], (path) => plainNode(view, path));
  const present = absent.find((path) => plainNode(view, path) !== undefined);
  if (present !== undefined) return present;
  const isOld = ({ path }: NewEntry): boolean =>
    (plainNode(view, path)?.meta.mtime ?? Number.NEGATIVE_INFINITY) < since;
  setMany(view, entries.filter(isOld));
  return undefined;
}

/** Returns a cursor over the paths at or under a directory or file, except the root. */
export function pathsUnder(view: View, prefix = '/'): Cursor<string> {
  return new EntriesUnder(view, prefix, (path) => path);
}

export function entriesUnder(view: View, prefix = '/'): Cursor<FileEntry> {
  return new EntriesUnder(view, prefix, (path, name, entry) => {
    const node = view.tree.resolve(entry) as Node;
    const content = node.kind === FILE ? fileBytes(view, node, path) : new Uint8Array(0);
    return { ...infoOf(view, path, name, entry), content };
  });
}

class EntriesUnder<T> implements Cursor<T> {
  #source: Cursor<T> | undefined;
  #self: T | undefined;
  constructor(
    readonly view: View,
    readonly prefix: string,
    readonly map: (path: string, name: string, entry: TreeNode) => T,
  ) {}

  next(): T | undefined {
    this.#source ??= this.#start();
    const self = this.#self;
    this.#self = undefined;
    return self ?? this.#source.next();
  }

  #start(): Cursor<T> {
    const node = plainNode(this.view, this.prefix);
    if (node === undefined) return { next: () => undefined };
    const { parent, name } = this.view.at;
    const path = this.view.at.path();
    if (name !== '') this.#self = this.map(path, name, parent.directory.entries.get(name) as TreeNode);
    if (node.kind !== DIRECTORY) return { next: () => undefined };
    const location = name === '' ? this.view.tree.rootLocation : this.view.tree.childLocation(parent, name, node);
    return mapped(new TreeWalk(this.view, location), (step) => this.map(step.path, step.name, step.entry));
  }
}

/** Returns the node at a path. Links are not followed: one on the way counts as a file. */
function plainNode(view: View, path: string): Node | undefined {
  const normal = normalizePath(path);
  let location = view.tree.rootLocation;
  let node: Node | undefined = location.directory;
  view.at.moveTo(location, '');
  const segments = pathSegments(normal);
  for (let i = 0; i < segments.length; i++) {
    if (node?.kind !== DIRECTORY) return undefined;
    if (i > 0) location = view.at.location(node);
    const name = segments[i] as string;
    node = view.tree.resolve(view.lookup(location, name, segments.slice(i + 1).reverse()));
    view.at.moveTo(location, name);
  }
  return node;
}

interface CheckedEntry {
  readonly path: string;
  readonly depth: number;
  readonly kind: EntryKind;
  readonly content: Uint8Array | string;
  readonly target: string;
  readonly meta: (now: number, before: Metadata | undefined) => Metadata;
}

const KINDS: readonly EntryKind[] = ['file', 'directory', 'symlink'];
const DEFAULT_MODE = { file: FILE_MODE, directory: DIRECTORY_MODE, symlink: 0o777 } as const;
const TIMES = ['createdAt', 'modifiedAt', 'changedAt', 'accessedAt'] as const;

function checkEntry(entry: NewEntry): CheckedEntry {
  if (typeof entry !== 'object' || entry === null) throw new TypeError('An entry must be an object with a path');
  const path = normalizePath(entry.path, 'set');
  const kind = entry.kind ?? (entry.isDirectory ? 'directory' : entry.target !== undefined ? 'symlink' : 'file');
  checkOneOf(kind, KINDS, 'kind');
  if (entry.isDirectory !== undefined && entry.isDirectory !== (kind === 'directory'))
    throw new TypeError(`isDirectory does not fit the kind ${kind}`);
  const content = entry.content ?? '';
  const bytes = typeof content === 'string' ? content : contentBytes(content);
  if (kind !== 'file' && bytes.length > 0) throw new TypeError(`A ${kind} has no content`);
  if (kind === 'symlink') checkTarget(entry.target as string, path);
  for (const key of TIMES) {
    const time = entry[key];
    if (time !== undefined && !isTime(time))
      throw new RangeError(`${key} must be a number of milliseconds from -8.64e15 to 8.64e15, as a Date holds`);
  }
  const mode = checkMode(entry.mode, DEFAULT_MODE[kind]);
  const uid = checkInteger(entry.uid ?? 0, 'uid', 0, 2 ** 32 - 1);
  const gid = checkInteger(entry.gid ?? 0, 'gid', 0, 2 ** 32 - 1);
  return {
    path,
    depth: pathSegments(path).length,
    kind,
    content: bytes,
    target: entry.target ?? '',
    meta: (now, before) => ({
      mode,
      uid,
      gid,
      atime: entry.accessedAt ?? now,
      mtime: entry.modifiedAt ?? now,
      ctime: entry.changedAt ?? now,
      birthtime: entry.createdAt ?? before?.birthtime ?? now,
    }),
  };
}

function put(view: View, entry: CheckedEntry): void {
  const { path, kind } = entry;
  const there = plainNode(view, path);
  const { parent, name } = view.at;
  const meta = entry.meta(view.now(), there?.meta);
  if (there === undefined) {
    const holder = plainNode(view, parentPath(path));
    if (holder === undefined) throw new FsError('ENOENT', { syscall: 'set', path, hint: 'The parent does not exist' });
    if (holder.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: 'set', path });
    const location = view.at.location(holder);
    const fileName = path.slice(path.lastIndexOf('/') + 1);
    insert(view, location, fileName, makeNode(view, entry, meta), path);
    return;
  }
  if ((there.kind === DIRECTORY) !== (kind === 'directory') || (there.kind === SYMLINK) !== (kind === 'symlink')) {
    throw new FsError('EEXIST', { syscall: 'set', path, hint: 'An entry does not change its kind: delete it first' });
  }
  if (there.kind === DIRECTORY) view.setMeta(parent, name, there, meta);
  else if (there.kind === SYMLINK) {
    view.remove(parent, name);
    insert(view, parent, name, makeNode(view, entry, meta), path);
  } else {
    const next = new FileNode(there.id, meta);
    fill(view, next, entry.content);
    checkFileSize(view, next.size, there.size, 'set', path);
    reserve(view, next.size - there.size, 0, 'set', path);
    replaceContent(view, parent, name, there, next);
  }
}

function insert(view: View, location: Location, name: string, node: Node, path: string): void {
  const size = node.kind === DIRECTORY ? 0 : node.size;
  checkFileSize(view, size, 0, 'set', path);
  reserve(view, size, 1, 'set', path);
  // The times of the parent do not change: entries are stored as given.
  view.create(location, name, node, true);
}

function makeNode(view: View, entry: CheckedEntry, meta: Metadata): Node {
  const id = view.context.newId();
  if (entry.kind === 'directory') return DirectoryNode.empty(view.tree.owner, id, meta);
  if (entry.kind === 'symlink') return symlinkNode(id, meta, entry.target);
  const file = new FileNode(id, meta);
  fill(view, file, entry.content);
  return file;
}
