import type { Metadata } from '../backend.js';
import type { ContentNode, ContentStore } from '../tree/content.js';
import { FILE, type Node, SYMLINK } from '../tree/node.js';

/** Reports whether two nodes look the same: content, mode, owner, mtime and atime. Ctime and birthtime do not count. */
export function isSameNode(contents: ContentStore, a: Node, b: Node): boolean {
  return isSameValue(contents, a, b) && a.meta.mtime === b.meta.mtime && a.meta.atime === b.meta.atime;
}

/** Like {@link isSameNode}, without any times: for equal results of two sides. */
export function isSameValue(contents: ContentStore, a: Node, b: Node): boolean {
  if (a === b) return true;
  if (!isSameOwner(a.meta, b.meta)) return false;
  if (a.kind === SYMLINK) return b.kind === SYMLINK && a.target === b.target;
  if (a.kind !== FILE) return a.kind === b.kind;
  return b.kind === FILE && contents.equal(a as ContentNode, b as ContentNode);
}

export function isSameOwner(a: Metadata, b: Metadata): boolean {
  return a === b || (a.mode === b.mode && a.uid === b.uid && a.gid === b.gid);
}

export function sameTimes(a: Metadata, b: Metadata): boolean {
  return a.mtime === b.mtime && a.ctime === b.ctime && a.atime === b.atime && a.birthtime === b.birthtime;
}

export function sameMeta(a: Metadata, b: Metadata): boolean {
  return a === b || (isSameOwner(a, b) && sameTimes(a, b));
}
