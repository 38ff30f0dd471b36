import { FsError } from '../../errors.js';
import type { ContentNode } from '../../tree/content.js';
import { FileNode, type Node, Unloaded } from '../../tree/node.js';
import { isPending, isPendingFile } from '../function-files.js';
import type { Loader, ViewState } from './view-state.js';

/** Maximum bytes of a content that is held in one array. */
export const MAX_ARRAY_BYTES = 2 ** 31 - 1;

/** Loads the content and returns the node; if a function returns the content, a new node that has it. */
export function loadedFile(view: ViewState, node: FileNode): ContentNode {
  view.relyOnNode(node);
  if (isPending(node.data)) {
    const loaded = new FileNode(node.id, node.meta);
    view.tree.shared.contents.fromBytes(loaded as ContentNode, node.data.bytes());
    return loaded as ContentNode;
  }
  if (node.data instanceof Unloaded) {
    const bytes = new Uint8Array(node.size);
    loaderOf(view).read(node.data, bytes, 0);
    view.tree.shared.contents.fromBytes(node as ContentNode, bytes);
  }
  return node as ContentNode;
}

/** Returns the node, or for a file whose content a function returns, another node that has the content and its size. */
export function loadedIfPending<N extends Node>(view: ViewState, node: N): N {
  return isPendingFile(node) ? (loadedFile(view, node) as Node as N) : node;
}

/** Returns the loader of a view. It has one if it contains content that is not loaded. */
function loaderOf({ loader }: ViewState): Loader {
  return loader as Loader;
}

/** Returns the content without keeping loaded parts in the tree. The bytes must not be changed. */
export function passingBytes(view: ViewState, node: FileNode): Uint8Array {
  const { data } = node;
  if (!(data instanceof Unloaded)) return view.tree.shared.contents.bytes(node as ContentNode);
  if (isPending(data)) return data.bytes();
  if (data.edits.length === 0) return loaderOf(view).range(data, 0, data.size);
  const bytes = new Uint8Array(node.size);
  loaderOf(view).read(data, bytes, 0);
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
    if (length > 0) loaderOf(view).read(node.data, into.subarray(0, length), position);
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
