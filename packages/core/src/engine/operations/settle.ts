import type { ContentNode } from '../../tree/content.js';
import { FILE, FileNode, type Node } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import { isOfCheckpoint } from '../checkpoint-guard.js';
import { PendingContent } from '../pending-content.js';
import { loadedFile } from '../view/contents.js';
import { checkFileSize, reserve } from '../view/limits.js';
import type { View } from '../view.js';

/**
 * Returns the node at a place. If it is a file whose content a function returns, that is loaded first and stored in the
 * tree, so that its size is known and counts. The file's times do not change.
 * @throws FsError EAGAIN, EIO as {@link PendingContent}; ENOSPC, EFBIG if there is no room
 */
export function settled<N extends Node>(view: View, parent: Location, name: string, node: N, path: string): N {
  const file: Node = node;
  if (file.kind !== FILE || !(file.data instanceof PendingContent)) return node;
  const { data } = file;
  const bytes = data.bytes(path);
  try {
    checkFileSize(view, bytes.length, file.size, 'read', path);
    reserve(view, bytes.length - file.size, 0, 'read', path);
  } catch (error) {
    data.forget();
    throw error;
  }
  // The state of a checkpoint does not change.
  if (isOfCheckpoint(view.context)) return loadedFile(view, file) as unknown as N;
  const next = new FileNode(file.id, file.meta);
  view.tree.shared.contents.fromBytes(next as ContentNode, bytes, view.tree.owner);
  if (next.size === file.size) next.changeId = file.changeId;
  const entry = parent.directory.entries.get(name);
  if (entry !== undefined) view.tree.replace(parent, name, entry, next);
  return next as Node as N;
}

/** {@link settled} for the node that the last lookup found. */
export function settledHere<N extends Node>(view: View, node: N, path: string): N {
  return settled(view, view.at.parent, view.at.name, node, path);
}

/** {@link settledHere}, unless the size of the file is known. */
export function sizedHere<N extends Node>(view: View, node: N, path: string): N {
  return node.kind === FILE && node.size === 0 ? settledHere(view, node, path) : node;
}

/** Makes the content of an empty file one that a function returns. @throws FsError ENOSPC, EFBIG for the given size */
export function setPending(view: View, path: string, load: () => unknown, size: number | undefined): void {
  const file = view.find(path, false, 'write', 'open');
  if (!(file instanceof FileNode)) return;
  const { parent, name } = view.at;
  const next = new FileNode(file.id, file.meta);
  next.data = new PendingContent(path, load, size);
  next.size = size ?? 0;
  checkFileSize(view, next.size, 0, 'open', path);
  reserve(view, next.size, 0, 'open', path);
  view.tree.replace(parent, name, file, next);
}
