import { FsError } from '../../errors.js';
import type { Content, WriteArgument, WriteFileOptions } from '../../file-system.js';
import { utf8Length } from '../../paths.js';
import type { ContentNode } from '../../tree/content.js';
import { DIRECTORY, FileNode, type Node, Unloaded } from '../../tree/node.js';
import { type Location, touched } from '../../tree/tree.js';
import { checkMode, checkOneOf, checkOptions, checkSize, checkVersion, contentBytes, copyBytes } from '../arguments.js';
import { codecOf } from '../text-encodings.js';
import { loadedFile } from '../view/contents.js';
import { checkFileSize, reserve } from '../view/limits.js';
import type { View } from '../view.js';
import { expectVersion, present } from './read.js';
import { settled } from './settle.js';

export const FILE_MODE = 0o644;
const FLAGS = ['w', 'wx', 'r+', 'a', 'ax', 'w+', 'wx+', 'a+', 'ax+'] as const;
const WRITE_OPTIONS = ['encoding', 'mode', 'flag', 'flush', 'ifVersion'];

export function writeFile(view: View, path: string, data: Content, options?: WriteArgument): void {
  if (options === undefined) put(view, path, data, 'w', FILE_MODE);
  else writeWith(view, path, data, options, 'writeFile', 'w');
}

function writeWith(
  view: View,
  path: string,
  data: Content,
  options: WriteArgument | undefined,
  method: string,
  fallback: 'w' | 'a',
): void {
  const given = checkOptions<WriteFileOptions>(options, WRITE_OPTIONS, method);
  const flag = given.flag === undefined ? fallback : checkOneOf(given.flag, FLAGS, 'flag');
  const mode = checkMode(given.mode, FILE_MODE);
  const { ifVersion } = given;
  checkVersion(ifVersion);
  const content = encodedContent(data, given.encoding);
  const exclusive = flag.includes('x');
  if (ifVersion !== undefined) expectFile(view, path, exclusive, ifVersion);
  if (flag[0] === 'a') append(view, path, content, exclusive, mode);
  else put(view, path, content, flag === 'r+' ? flag : exclusive ? 'wx' : 'w', mode);
}

export function appendFile(view: View, path: string, data: Content, options?: WriteArgument): void {
  if (options === undefined) append(view, path, data, false, FILE_MODE);
  else writeWith(view, path, data, options, 'appendFile', 'a');
}

/** Returns the content, with text in an encoding other than UTF-8 converted to bytes. */
export function encodedContent(data: Content, encoding: string | null | undefined): Content {
  if (encoding === undefined || encoding === null) return data;
  const codec = codecOf(encoding);
  return typeof data === 'string' && codec !== undefined ? codec.encode(data) : data;
}

/**
 * Checks that a file exists and has the given version. Checking the version in `put` would save this lookup, but with
 * that parameter `writeFileSync` without options took 16 % longer.
 */
function expectFile(view: View, path: string, exclusive: boolean, ifVersion: string): void {
  const node = present(view.find(path, !exclusive, 'write', 'open', 'file'), 'open', path);
  expectVersion(view, writable(node, exclusive, path), ifVersion, 'open', path);
}

function put(view: View, path: string, data: Content, flag: 'w' | 'wx' | 'r+', mode: number): void {
  const node = view.find(path, flag !== 'wx', 'write', 'open', 'file');
  const { parent, name } = view.at;
  if (node === undefined) {
    if (flag === 'r+') throw new FsError('ENOENT', { syscall: 'open', path });
    createFile(view, parent, name, data, mode, path);
    return;
  }
  const file = writable(node, flag === 'wx', path);
  if (flag === 'r+') {
    patch(view, parent, name, settled(view, parent, name, file, path), toBytes(data), 0, path);
    return;
  }
  const next = new FileNode(file.id, touched(file.meta, view.now()));
  fill(view, next, data);
  const { size } = next;
  if (size !== file.size) {
    checkFileSize(view, size, file.size, 'write', path);
    reserve(view, size - file.size, 0, 'write', path);
  }
  replaceContent(view, parent, name, file, next);
}

/** Writes content into a node that is not in the tree yet. */
export function fill(view: View, node: FileNode, data: Content): void {
  const { shared, owner } = view.tree;
  if (typeof data === 'string') shared.contents.fromText(node as ContentNode, data, owner);
  // Content for a remote storage was copied at the call.
  else if (view.recorder !== undefined) shared.contents.adopt(node as ContentNode, contentBytes(data), owner);
  else shared.contents.fromBytes(node as ContentNode, contentBytes(data), owner);
}

/** Creates a file under a free name, which the caller has just looked up. */
export function createFile(
  view: View,
  parent: Location,
  name: string,
  data: Content,
  mode: number,
  path: string,
): FileNode {
  const size = typeof data === 'string' ? utf8Length(data) : contentBytes(data).length;
  checkFileSize(view, size, 0, 'open', path);
  reserve(view, size, 1, 'open', path);
  const file = new FileNode(view.context.newId(), view.newMeta(mode));
  fill(view, file, data);
  view.create(parent, name, file);
  return file;
}

function append(view: View, path: string, data: Content, exclusive: boolean, mode: number): void {
  const node = view.find(path, !exclusive, 'write', 'open', 'file');
  const { parent, name } = view.at;
  if (node === undefined) createFile(view, parent, name, data, mode, path);
  else {
    const file = settled(view, parent, name, writable(node, exclusive, path), path);
    patch(view, parent, name, file, toBytes(data), file.size, path);
  }
}

export function writable(node: Node, exclusive: boolean, path: string): FileNode {
  if (exclusive) throw new FsError('EEXIST', { syscall: 'open', path });
  if (node.kind === DIRECTORY) throw new FsError('EISDIR', { syscall: 'open', path });
  return node as FileNode;
}

/** Writes bytes into a file at a position; a gap is filled with zeros. An empty write changes nothing. */
export function patch(
  view: View,
  parent: Location,
  name: string,
  file: FileNode,
  bytes: Uint8Array,
  position: number,
  path: string,
): void {
  if (bytes.byteLength === 0) return;
  const next = patched(view, file, bytes, position, path);
  view.setContent(
    parent,
    name,
    file,
    next,
    view.recorder === undefined ? NO_PARTS : [{ offset: position, bytes: copyBytes(bytes) }],
  );
}

/** Returns the file with bytes written at a position, limits checked; not in the tree yet. */
export function patched(view: View, file: FileNode, bytes: Uint8Array, position: number, path: string): FileNode {
  const size = Math.max(file.size, position + bytes.byteLength);
  checkSize(size, 'write', path);
  checkFileSize(view, size, file.size, 'write', path);
  reserve(view, size - file.size, 0, 'write', path);
  const next = new FileNode(file.id, touched(file.meta, view.now()));
  if (file.data instanceof Unloaded && view.recorder !== undefined) {
    next.data = file.data.with({ offset: position, bytes: copyBytes(bytes) });
    next.size = size;
  } else view.tree.shared.contents.patch(next as ContentNode, loadedFile(view, file), view.tree.owner, position, bytes);
  return next;
}

export function truncate(view: View, path: string, length = 0): void {
  checkSize(length, 'truncate', path);
  const node = present(view.find(path, true, 'write', 'open'), 'open', path);
  const { parent, name } = view.at;
  const found = writable(node, false, path);
  const file = length === 0 ? found : settled(view, parent, name, found, path);
  const next = resized(view, file, length, path);
  view.setContent(parent, name, file, next, NO_PARTS);
}

/** Returns the file truncated or extended by zeros to a length, limits checked; not in the tree yet. */
export function resized(view: View, file: FileNode, length: number, path: string): FileNode {
  checkFileSize(view, length, file.size, 'ftruncate', path);
  reserve(view, length - file.size, 0, 'ftruncate', path);
  const next = new FileNode(file.id, touched(file.meta, view.now()));
  if (length === 0) return next;
  if (file.data instanceof Unloaded && view.recorder !== undefined) {
    next.data = file.data.with({ cut: length });
    next.size = length;
  } else view.tree.shared.contents.resize(next as ContentNode, loadedFile(view, file), view.tree.owner, length);
  return next;
}

/** Replaces a file by one with completely new content. */
export function replaceContent(view: View, parent: Location, name: string, file: FileNode, next: FileNode): void {
  if (view.recorder === undefined) {
    view.setContent(parent, name, file, next, NO_PARTS);
    return;
  }
  view.setContent(parent, name, file, next, [
    { offset: 0, bytes: view.tree.shared.contents.toSend(next as ContentNode) },
  ]);
}

function toBytes(data: Content): Uint8Array {
  return typeof data === 'string' ? ENCODER.encode(data) : contentBytes(data);
}

const ENCODER = new TextEncoder();
const NO_PARTS = [] as const;

/** Returns the text of lines: each followed by `\n`. */
export function joinLines(lines: Iterable<string>): string {
  if (
    typeof lines === 'string' ||
    typeof (lines as Iterable<string> | null | undefined)?.[Symbol.iterator] !== 'function'
  ) {
    throw new TypeError('lines must be an iterable of strings');
  }
  let text = '';
  for (const line of lines) {
    if (typeof line !== 'string') throw new TypeError('lines must be an iterable of strings');
    text += `${line}\n`;
  }
  return text;
}
