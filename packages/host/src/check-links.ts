import { readlinkSync } from 'node:fs';
import { FsError } from '@scratchfs/core';
import { climbs, levelOf } from './confined-root.js';
import { isTurnDue, nextTurn } from './event-loop.js';
import { PathHandle } from './path-handle.js';

/**
 * Refuses a move, copy or hard link towards the root that would make a relative link lead out of it. A link moved to a
 * shallower directory keeps its text, so its `..` leads further up, and other programs would follow it out.
 * @param place path of the source on the host
 * @throws FsError EACCES, and what the host throws
 */
export async function checkLinks(place: string, from: string, to: string): Promise<void> {
  const [before, after] = [levelOf(from), levelOf(to)];
  if (after >= before) return;
  using top = PathHandle.at(place);
  if (await staysInside(top, place, before, after)) return;
  const hint = 'A link in it would lead out of the directory from the new path';
  throw new FsError('EACCES', { syscall: 'rename', path: from, dest: to, hint });
}

/**
 * @param before number of directories around the entry now
 * @param after number of directories around it after the move
 */
async function staysInside(pathHandle: PathHandle, place: string, before: number, after: number): Promise<boolean> {
  if (pathHandle.kind === 'symlink') {
    const target = readlinkSync(place);
    return target.startsWith('/') || climbs(target, before) || !climbs(target, after);
  }
  if (pathHandle.kind !== 'directory') return true;
  for (const name of await pathHandle.names()) {
    if (isTurnDue()) await nextTurn();
    using child = pathHandle.enter(name);
    if (child !== undefined && !(await staysInside(child, pathHandle.child(name), before + 1, after + 1))) return false;
  }
  return true;
}
