import { FsError } from '../../errors.js';
import type { ContentNode } from '../../tree/content.js';
import { FileNode, type Node, Unloaded } from '../../tree/node.js';
import { isPending, isPendingFile } from '../function-files.js';
import { NotLoaded, type Source } from '../source.js';
import { MAX_INLINE_BYTES } from './loading.js';
import type { ViewState } from './view-state.js';

/** The maximum content size of one array. */
export const MAX_ARRAY_BYTES = 2 ** 31 - 1;

/** Returns the node with its content loaded. */
export function loadedFile(view: ViewState, node: FileNode): ContentNode {
  view.relyOnNode(node);
  if (isPending(node.data)) {
    const loaded = new FileNode(node.id, node.meta);
    view.tree.shared.contents.fromBytes(loaded as ContentNode, node.data.bytes());
    return loaded as ContentNode;
  }
  if (node.data instanceof Unloaded) {
    const bytes = new Uint8Array(node.size);
    readUnloaded(view, node.data, bytes, 0);
    view.tree.shared.contents.fromBytes(node as ContentNode, bytes);
  }
  return node as ContentNode;
}

/** Returns the node; a file whose content a function returns as a node with its content and its size. */
export function loadedIfPending<N extends Node>(view: ViewState, node: N): N {
  return isPendingFile(node) ? (loadedFile(view, node) as Node as N) : node;
}

/** Copies a range of the content that is not loaded. */
function readUnloaded(view: ViewState, data: Unloaded, range: Uint8Array, start: number): void {
  const length = Math.max(0, Math.min(data.kept - start, range.length));
  if (length > 0) range.set(storedRange(view, data, start, length));
  data.replay(range, start);
}

function storedRange(view: ViewState, data: Unloaded, offset: number, length: number): Uint8Array {
  // Content that is not loaded comes from a source.
  const source = view.source as Source;
  const bytes = source.range(data, offset, length);
  if (bytes !== undefined) return bytes;
  const ahead = Math.min(data.size - offset, Math.max(length, MAX_INLINE_BYTES));
  throw new NotLoaded([{ kind: 'content', at: data.address, offset, length: ahead }], source);
}

/** Returns the content without keeping loaded parts in the tree. It must not be changed. */
export function passingBytes(view: ViewState, node: FileNode): Uint8Array {
  const { data } = node;
  if (!(data instanceof Unloaded)) return view.tree.shared.contents.bytes(node as ContentNode);
  if (isPending(data)) return data.bytes();
  if (data.edits.length === 0) return storedRange(view, data, 0, data.size);
  const bytes = new Uint8Array(node.size);
  readUnloaded(view, data, bytes, 0);
  return bytes;
}

/** Returns a copy of the content. @throws FsError EFBIG past 2 GiB - 1 */
export function fileBytes(view: ViewState, node: FileNode, path: string): Uint8Array<ArrayBuffer> {
  checkArraySize(node.size, path);
  if (!(node.data instanceof Unloaded)) return view.tree.shared.contents.bytes(loadedFile(view, node));
  if (isPending(node.data)) return node.data.bytes().slice();
  const bytes = new Uint8Array(node.size);
  readFileRange(view, node, bytes, 0);
  return bytes;
}

export function fileText(view: ViewState, node: FileNode, path: string): string {
  checkArraySize(node.size, path);
  return view.tree.shared.contents.text(loadedFile(view, node));
}

/** Copies the content from a position on and returns the number of bytes copied. */
export function readFileRange(view: ViewState, node: FileNode, into: Uint8Array, position: number): number {
  if (node.data instanceof Unloaded && !isPending(node.data)) {
    view.relyOnNode(node);
    const length = Math.max(0, Math.min(into.length, node.size - position));
    if (length > 0) readUnloaded(view, node.data, into.subarray(0, length), position);
    return length;
  }
  return view.tree.shared.contents.read(loadedFile(view, node), into, position);
}

/** Checks that one array can hold a file's content. @throws FsError EFBIG if not */
export function checkArraySize(size: number, path: string): void {
  if (size > MAX_ARRAY_BYTES) {
    const hint = 'The file is too large for one array: read ranges of it through a handle or a stream';
    throw new FsError('EFBIG', { syscall: 'read', path, requested: size, allowed: MAX_ARRAY_BYTES, hint });
  }
}
