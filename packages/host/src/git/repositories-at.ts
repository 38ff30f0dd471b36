import { lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HeldName } from '../held-directory.js';
import { isCode } from '../host-error.js';

/** Whether anything lies at a path, also a link that leads nowhere now: the disk it leads to may not be there today. */
export function isAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Reports whether git takes a directory for one of its own, as `.git`, a bare repository and that of a linked work tree are. */
export function isGitDirectory(path: string): boolean {
  const isDirectory = (name: string): boolean =>
    statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isAt(join(path, 'HEAD'))) return false;
  return (isDirectory('objects') && isDirectory('refs')) || isAt(join(path, 'commondir'));
}

/** Whether a directory is one of git's own or lies in one. */
export function isInGitDirectory(path: string): boolean {
  return isGitDirectory(path) || (dirname(path) !== path && isInGitDirectory(dirname(path)));
}

/** Whether a name, which need not be text, is a directory with a repository in it, or one that cannot be looked into. */
export function holdsRepository(directory: string, name: HeldName): boolean {
  return isHolding(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name as Buffer)]));
}

function isHolding(path: Buffer): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false;
    const names = readdirSync(path, { encoding: 'buffer' });
    const texts = new Set(names.map((name) => name.toString('latin1').toLowerCase()));
    if (texts.has('.git') || ['head', 'objects', 'refs'].every((name) => texts.has(name))) return true;
    return names.some((name) => isHolding(Buffer.concat([path, Buffer.from('/'), name])));
  } catch (error) {
    return !isCode(error, 'ENOENT', 'ENOTDIR');
  }
}
