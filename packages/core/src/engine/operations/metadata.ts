import type { Metadata } from '../../backend.js';
import type { Mode, TimeLike } from '../../file-system.js';
import { DIRECTORY, FILE, type Node } from '../../tree/node.js';
import { checkInteger, checkNewMode, checkTime } from '../arguments.js';
import type { View } from '../view.js';
import { present } from './read.js';

export function chmod(view: View, path: string, mode: Mode): void {
  const bits = checkNewMode(mode);
  change(view, path, true, 'chmod', (meta) => ({ ...meta, mode: bits }));
}

export function chown(view: View, path: string, uid: number, gid: number): void {
  setOwner(view, path, uid, gid, true);
}

export function lchown(view: View, path: string, uid: number, gid: number): void {
  setOwner(view, path, uid, gid, false);
}

export function utimes(view: View, path: string, atime: TimeLike, mtime: TimeLike): void {
  setTimes(view, path, atime, mtime, true);
}

export function lutimes(view: View, path: string, atime: TimeLike, mtime: TimeLike): void {
  setTimes(view, path, atime, mtime, false);
}

const MAX_ID = 2 ** 32 - 1;

function setOwner(view: View, path: string, uid: number, gid: number, follow: boolean): void {
  checkOwner(uid, gid);
  change(view, path, follow, follow ? 'chown' : 'lchown', (_, node) => ownedBy(node, uid, gid));
}

/** Checks user and group; -1 and 2^32 - 1 keep the current one, as in chown(2). */
export function checkOwner(uid: number, gid: number): void {
  checkInteger(uid, 'uid', -1, MAX_ID);
  checkInteger(gid, 'gid', -1, MAX_ID);
}

/** Returns the metadata of a node with another owner. */
export function ownedBy({ kind, meta }: Node, uid: number, gid: number): Metadata {
  return {
    ...meta,
    mode: kind === FILE ? withoutSetId(meta.mode) : meta.mode,
    uid: uid === -1 || uid === MAX_ID ? meta.uid : uid,
    gid: gid === -1 || gid === MAX_ID ? meta.gid : gid,
  };
}

/** Removes set-id bits as chown(2) does: a file loses setuid, and setgid if the group may execute it. */
function withoutSetId(mode: number): number {
  const bits = mode & ~0o4000;
  return (bits & 0o010) === 0 ? bits : bits & ~0o2000;
}

function setTimes(view: View, path: string, atime: TimeLike, mtime: TimeLike, follow: boolean): void {
  const times = { atime: checkTime(atime, 'atime'), mtime: checkTime(mtime, 'mtime') };
  change(view, path, follow, follow ? 'utime' : 'lutime', (meta) => ({ ...meta, ...times }));
}

function change(
  view: View,
  path: string,
  follow: boolean,
  syscall: string,
  update: (meta: Metadata, node: Node) => Metadata,
): void {
  const node = present(view.find(path, follow, 'write', syscall), syscall, path);
  if (node.kind === DIRECTORY) view.relyOnMeta(node);
  view.setMeta(view.at.parent, view.at.name, node, { ...update(node.meta, node), ctime: view.now() });
}
