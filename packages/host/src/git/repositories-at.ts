import { lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCode } from '../host-error.js';
import type { RawName } from '../path-handle.js';

/** Reports whether the path exists. A dangling link counts, because the disk that it leads to may be unmounted. */
export function isAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Reports whether a directory looks like one of git's own: `.git`, a bare repository, or the git directory of a linked
 * work tree.
 */
export function isGitDirectory(path: string): boolean {
  const isDirectory = (name: string): boolean =>
    statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isAt(join(path, 'HEAD'))) return false;
  return (isDirectory('objects') && isDirectory('refs')) || isAt(join(path, 'commondir'));
}

/** Reports whether a directory is one of git's own or lies in one. */
export function isInGitDirectory(path: string): boolean {
  return isGitDirectory(path) || (dirname(path) !== path && isInGitDirectory(dirname(path)));
}

/**
 * Reports whether a name, which may be bytes that are not text, is a directory that is or contains a repository, or
 * that cannot be read.
 */
export function holdsRepository(directory: string, name: RawName): boolean {
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
