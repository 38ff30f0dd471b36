import { readlinkSync } from 'node:fs';
import { chmod, constants, copyFile, mkdir, symlink, utimes } from 'node:fs/promises';
import { PathHandle } from './path-handle.js';

/**
 * Copies the tree at a path handle to an unused path. Directories are held open on both sides, so that a concurrent
 * swap of names does not redirect the copy. Pipes, sockets, devices and names that are not UTF-8 are left out.
 * @param name path at which the handle was found, for reading a link's target
 */
export async function copyTree(source: PathHandle, name: string, place: string, keepTimes: boolean): Promise<void> {
  if (source.kind === 'special') return;
  if (source.kind === 'symlink') return symlink(readlinkSync(name), place);
  if (source.kind === 'file') await copyFile(source.path, place, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  else await mkdir(place, { mode: 0o700 });
  using copy = PathHandle.at(place);
  if (copy.kind !== source.kind) throw Object.assign(new Error('The copy was swapped'), { code: 'EBUSY' });
  if (source.kind === 'directory') {
    for (const child of await source.names()) {
      using pathHandle = source.enter(child);
      if (pathHandle !== undefined) await copyTree(pathHandle, source.child(child), copy.child(child), keepTimes);
    }
  }
  if (copy.stat.mode !== source.stat.mode) await chmod(copy.path, Number(source.stat.mode) & 0o7777);
  if (keepTimes) await utimes(copy.path, Number(source.stat.atimeMs) / 1_000, Number(source.stat.mtimeMs) / 1_000);
}
