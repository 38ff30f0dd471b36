import { accessSync, constants, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type CallOptions, parentPath, pathSegments } from '@scratchfs/core';
import { keyOf, type Lower } from '../backend/lower.js';
import { type Base, type DeltaNode, type Head, NO_NAMES } from '../delta/delta-node.js';
import { isRacy } from '../refresh/racy.js';

/**
 * Reports whether an accept of a head may meet a conflict, by stats alone. False is certain, except for obstacles that
 * only a write finds. True may be a false alarm.
 */
export async function mayConflict(
  head: Head,
  lower: Lower,
  directory: string,
  options: CallOptions = {},
): Promise<boolean> {
  const bases = basesOf(head);
  if (bases === undefined) return true;
  const records = await lower.paths(
    bases.map(({ path }) => path),
    options,
  );
  for (const [i, base] of bases.entries()) {
    const along = records[i] ?? [];
    const depth = pathSegments(base.path).length;
    const last = along.at(-1);
    // A directory above may have been replaced by a file or a link.
    if (last && last.kind !== 'directory' && along.length <= depth) return true;
    const record = along.length === depth + 1 ? last : undefined;
    if (base.key !== (record ? keyOf(record) : undefined)) return true;
    // The records show no entry for a pipe or a socket.
    if (!record && lstatSync(join(directory, base.path), { throwIfNoEntry: false }) !== undefined) return true;
    if (record && isRacy(base, record)) return true;
  }
  const device = lstatSync(directory).dev;
  const parents = new Set(bases.map(({ path }) => join(directory, parentPath(path))));
  return [...parents].some((parent) => !canWrite(parent, device));
}

/** Returns the bases of the changes of a head. Undefined if stats do not suffice to compare one of them. */
function basesOf(head: Head): Base[] | undefined {
  if (head.inodes.size > 0) return undefined;
  const bases: Base[] = [];
  const visit = ({ names = NO_NAMES }: DeltaNode): boolean => {
    for (const { node, base, earlier, isMoved, conflict } of names.values()) {
      if (conflict !== undefined || earlier !== undefined || isMoved === true) return false;
      const isDirectory = node?.kind === 'directory';
      const isPassage = isDirectory && node.meta === undefined && node.from !== undefined;
      if (isDirectory && (node.from?.isMoved === true || !visit(node))) return false;
      // An accept refuses a link that leads out of the directory.
      if (node?.kind === 'symlink') return false;
      if (isPassage || base === undefined) continue;
      // The key of a directory says nothing about what is in it.
      if (base.state?.kind === 'directory') return false;
      bases.push(base);
    }
    return true;
  };
  return visit(head.root) ? bases : undefined;
}

/** Reports whether entries of a directory can be replaced. A directory that does not exist would be created. */
function canWrite(path: string, device: number): boolean {
  try {
    const stats = lstatSync(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    return stats.isDirectory() && stats.dev === device;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
