import { UNKNOWN_VERSION } from '../backend.js';
import { type DirectoryNode, type FileNode, Unloaded } from '../tree/node.js';

/** Whether a storage says that two directories are the same one with the same beneath, and neither was changed since. */
export function isSameBeneath(a: DirectoryNode, b: DirectoryNode): boolean {
  if (a.origin === undefined || b.origin === undefined || a.version === UNKNOWN_VERSION) return false;
  const isAsLoaded = a.version === a.origin.tree && b.version === b.origin.tree;
  if (a.origin.copied !== undefined || b.origin.copied !== undefined) return false;
  return isAsLoaded && a.version === b.version && a.origin.place.id === b.origin.place.id;
}

/** Whether a storage says that two files have the same content, which has not been loaded on either side. */
export function isSameContent(a: FileNode, b: FileNode): boolean {
  const [left, right] = [a.data, b.data];
  if (a.size !== b.size || !(left instanceof Unloaded) || !(right instanceof Unloaded)) return false;
  return left.version === right.version && left.place.id === right.place.id;
}
