import type { Node } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import { functionFiles, isPendingFile } from '../function-files.js';
import type { View } from '../view.js';

/**
 * Returns the node under a name. If a function returns the file's content, loads it first, and stores it in the tree
 * unless the view shows a checkpoint, so that its size is known and counts. The file's times do not change.
 * @throws FsError EAGAIN, EIO as `PendingData.bytes`; ENOSPC, EFBIG if there is no room
 */
export function settled<N extends Node>(view: View, parent: Location, name: string, node: N, path: string): N {
  return isPendingFile(node) ? (functionFiles().settle(view, parent, name, node, path) as N) : node;
}

/** {@link settled} for the node that the last lookup found. */
export function settledHere<N extends Node>(view: View, node: N, path: string): N {
  return settled(view, view.at.parent, view.at.name, node, path);
}

/**
 * {@link settledHere}, but leaves a file as it is if its size is not 0, so that stats call a function only if its size
 * was not given, or given as 0.
 */
export function sizedHere<N extends Node>(view: View, node: N, path: string): N {
  return node.size === 0 ? settledHere(view, node, path) : node;
}
