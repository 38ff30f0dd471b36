import { UNKNOWN_VERSION } from '../../backend.js';
import { type DirectoryNode, type FileNode, Unloaded } from '../../tree/node.js';

/**
 * Reports whether a storage's versions say that two directories and everything under them are equal, and neither was
 * changed here since it was loaded.
 */
export function isSameBeneath(a: DirectoryNode, b: DirectoryNode): boolean {
  if (a.origin === undefined || b.origin === undefined || a.version === UNKNOWN_VERSION) return false;
  const isAsLoaded = a.version === a.origin.tree && b.version === b.origin.tree;
  if (a.origin.copied !== undefined || b.origin.copied !== undefined) return false;
  return isAsLoaded && a.version === b.version && a.origin.address.id === b.origin.address.id;
}

/**
 * Reports whether a storage's versions say that two files have the same content. False if either content is loaded or
 * was changed here.
 */
export function isSameContent(a: FileNode, b: FileNode): boolean {
  const [left, right] = [a.data, b.data];
  if (a.size !== b.size || !(left instanceof Unloaded) || !(right instanceof Unloaded)) return false;
  if (left.edits.length > 0 || right.edits.length > 0) return false;
  return left.version === right.version && left.address.id === right.address.id;
}
