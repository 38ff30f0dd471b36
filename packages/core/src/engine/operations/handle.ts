import type { Metadata, NodeId, Part } from '../../backend.js';
import type { Stats } from '../../entry.js';
import { FsError } from '../../errors.js';
import type { Mode, TimeLike } from '../../file-system.js';
import { DIRECTORY, type DirectoryNode, FILE, type FileNode, type Node, SYMLINK } from '../../tree/node.js';
import { checkMode, checkNewMode, checkSize, checkTime, copyBytes } from '../arguments.js';
import type { Access } from '../guard.js';
import type { OpenFile, OpenFiles } from '../open-files.js';
import { mayChange, type OpenMode } from '../open-how.js';
import { checkArraySize, fileBytes, readFileRange } from '../view/contents.js';
import type { View } from '../view.js';
import { checkOwner, ownedBy } from './metadata.js';
import { makeStats } from './read.js';
import { settled } from './settle.js';
import { createFile, FILE_MODE, patched, resized } from './write.js';

export interface Allows {
  readonly read: boolean;
  readonly write: boolean;
  readonly append: boolean;
}

export interface Opened extends Allows {
  readonly id: NodeId;
  /** The path at which the file was opened, without links. */
  readonly path: string;
}

export interface HeldFile {
  readonly file: OpenFile;
  /**
   * The path as the caller opened it. Errors and the guard's `given` use it, because the file's current path may lie
   * where the caller sees nothing.
   */
  readonly path: string;
  readonly openFiles: OpenFiles;
}

/** Opens a file, and creates or truncates it if requested. */
export function open(view: View, path: string, how: OpenMode, mode?: Mode): Opened {
  const bits = checkMode(mode, FILE_MODE);
  const { read, write, append, create, exclusive, truncate, directory } = how;
  const changes = mayChange(how);
  const follow = !exclusive && !how.noFollow;
  const node = view.find(path, follow, changes ? 'write' : 'read', 'open', changes ? 'file' : undefined);
  if (read && changes) view.context.guard?.check(view.at.path(), 'read', 'open', path, node, 'file');
  const { parent, name } = view.at;
  const allows = { read, write, append: write && append };
  if (node === undefined) {
    if (!create || directory) throw new FsError('ENOENT', { syscall: 'open', path });
    const file = createFile(view, parent, name, '', bits, path);
    return { id: file.id, path: view.at.path(), ...allows };
  }
  if (exclusive) throw new FsError('EEXIST', { syscall: 'open', path });
  if (directory && node.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: 'open', path });
  if (node.kind === SYMLINK) throw new FsError('ELOOP', { syscall: 'open', path });
  if (node.kind === DIRECTORY) {
    if (changes) throw new FsError('EISDIR', { syscall: 'open', path });
    return { id: node.id, path: view.at.path(), ...allows };
  }
  const opened = { id: node.id, path: view.at.path(), ...allows };
  if (truncate) view.setContent(parent, name, node, resized(view, node, 0, path), []);
  else settled(view, parent, name, node, path);
  return opened;
}

export function readAt(view: View, held: HeldFile, into: Uint8Array, position: number): number {
  const node = fileOf(locate(view, held, 'read'), held, 'read');
  return position >= node.size ? 0 : readFileRange(view, node, into, position);
}

/** Returns everything from a position to the end. */
export function readFrom(view: View, held: HeldFile, position: number): Uint8Array<ArrayBuffer> {
  const node = fileOf(locate(view, held, 'read'), held, 'read');
  if (position === 0) return fileBytes(view, node, held.path);
  checkArraySize(node.size - position, held.path);
  const rest = new Uint8Array(Math.max(0, node.size - position));
  if (rest.byteLength > 0) readFileRange(view, node, rest, position);
  return rest;
}

/** Writes at a position, or at the end. Returns the end of the write. */
export function writeAt(view: View, held: HeldFile, bytes: Uint8Array, position: number | 'end'): number {
  const node = fileOf(locate(view, held, 'write'), held, 'write');
  const at = position === 'end' ? node.size : position;
  if (bytes.byteLength === 0) return at;
  const next = patched(view, node, bytes, at, held.path);
  put(view, held, node, next, view.recorder === undefined ? [] : [{ offset: at, bytes: copyBytes(bytes) }]);
  return at + bytes.byteLength;
}

export function truncateAt(view: View, held: HeldFile, length: number): void {
  const node = fileOf(locate(view, held, 'ftruncate'), held, 'ftruncate');
  checkSize(length, 'ftruncate', held.path);
  put(view, held, node, resized(view, node, length, held.path), []);
}

export function statAt(view: View, held: HeldFile): Stats {
  const node = locate(view, held, 'fstat');
  const { file } = held;
  return makeStats(view, node, file.detached !== undefined ? 0 : (view.tree.inodes.get(file.id)?.links ?? 1));
}

export function chmodAt(view: View, held: HeldFile, mode: Mode): void {
  const node = locate(view, held, 'fchmod');
  putMeta(view, held, node, { ...node.meta, mode: checkNewMode(mode), ctime: view.now() });
}

export function chownAt(view: View, held: HeldFile, uid: number, gid: number): void {
  checkOwner(uid, gid);
  const node = locate(view, held, 'fchown');
  putMeta(view, held, node, { ...ownedBy(node, uid, gid), ctime: view.now() });
}

export function utimesAt(view: View, held: HeldFile, atime: TimeLike, mtime: TimeLike): void {
  const node = locate(view, held, 'futime');
  const times = { atime: checkTime(atime, 'atime'), mtime: checkTime(mtime, 'mtime') };
  putMeta(view, held, node, { ...node.meta, ...times, ctime: view.now() });
}

const ACCESS: Readonly<Record<string, Access>> = {
  read: 'read',
  write: 'write',
  ftruncate: 'write',
  fstat: 'look',
  fchmod: 'write',
  fchown: 'write',
  futime: 'write',
};

/**
 * Returns the file of a handle. If it was found by its path, the view's cursor is there.
 * @throws FsError EBADF after a rollback or restore, ESTALE if another client has moved or removed it; the errors of
 * the guard
 */
function locate(view: View, { file, path }: HeldFile, syscall: string): FileNode | DirectoryNode {
  const details = { syscall, path };
  if (file.lost) throw new FsError('EBADF', { ...details, hint: 'The file was opened before a rollback or restore' });
  const access = ACCESS[syscall] ?? 'write';
  const node = file.detached === undefined ? view.peek(file.path, false, access, syscall, path) : undefined;
  if (node !== undefined && node.kind !== SYMLINK && node.id === file.id) return node;
  const inode = view.tree.inodes.get(file.id)?.node;
  const nameless = file.detached ?? (inode?.kind === FILE ? inode : undefined);
  // The file was not found by its path, so the guard has not been asked about it.
  view.context.guard?.check(file.path, access, syscall, path, nameless);
  if (nameless !== undefined) return nameless;
  throw new FsError('ESTALE', { ...details, hint: 'Another client has moved or removed the open file' });
}

/** Returns the node under the file's current name, and leaves the view's cursor there. */
function atItsName(view: View, file: OpenFile): Node | undefined {
  const known = view.at.name === '' ? undefined : view.tree.resolve(view.at.parent.directory.entries.get(view.at.name));
  return known?.id === file.id ? known : view.paths.trace(file.path);
}

function fileOf(node: FileNode | DirectoryNode, { path }: HeldFile, syscall: string): FileNode {
  if (node.kind === DIRECTORY) throw new FsError('EISDIR', { syscall, path });
  return node;
}

function put(
  view: View,
  { file, openFiles }: HeldFile,
  before: FileNode,
  next: FileNode,
  parts: readonly Part[],
): void {
  if (file.detached !== undefined) {
    openFiles.change(file, next);
    return;
  }
  const node = atItsName(view, file);
  if (node?.id === file.id) view.setContent(view.at.parent, view.at.name, before, next, parts);
  else view.setInode(file.id, next);
}

function putMeta(view: View, { file, openFiles }: HeldFile, before: FileNode | DirectoryNode, meta: Metadata): void {
  if (file.detached !== undefined) {
    openFiles.change(
      file,
      before.kind === FILE ? view.tree.withMeta(before, meta) : before.clone(before.owner, before.id, meta),
    );
    return;
  }
  const node = atItsName(view, file);
  if (node?.id === file.id) view.setMeta(view.at.parent, view.at.name, node, meta);
  else if (before.kind === FILE) view.setInode(file.id, view.tree.withMeta(before, meta));
}
